// SPDX-License-Identifier: Apache-2.0
#include "native_blocks.h"

#include "config/options.h"
#include "kernel/kernel_side.h"
#include "util/clock.h"
#include "util/vec.h"

#include <braid/hit.h>

#include <bpf/bpf.h>
#include <stdlib.h>

typedef VEC(struct braid_native_key) keys;

bool native_blocks_followed(const struct record_options *o)
{
	for (uint32_t i = 0; i < o->probe_count; i++)
		if (o->probes[i].type == PROBE_MALLOC)
			return true;
	return false;
}

/* All keys at first: programs go on freeing, and the next one of a deleted key is the first one. */
static void read_keys(const struct session *s, pid_t pid, keys *to)
{
	int map = kernel_side_native_blocks(s->kernel, false);
	struct braid_native_key key, *from = NULL;

	for (uint32_t i = 0; i < BRAID_NATIVE_BLOCKS && !bpf_map_get_next_key(map, from, &key); i++) {
		if ((!pid || (pid_t)key.pid == pid) && VEC_PUSH(to, key))
			break;
		from = &key;
	}
}

/* The block's own time says which program of the process it is of, if that has executed another one since. */
static void emit(struct session *s, const struct braid_native_key *key, const struct braid_native_block *b,
		 uint64_t now)
{
	session_add_event(s, &(struct braid_event_jvm_event){.hdr = {.kind = BRAID_EVENT_JVM_EVENT,
								     .size = sizeof(struct braid_event_jvm_event),
								     .time_ns = b->time_ns},
							     .pid = key->pid,
							     .source = BRAID_SOURCE_KERNEL,
							     .event = {.kind = BRAID_JVM_UNFREED,
								       .start_ns = b->time_ns,
								       .end_ns = now,
								       .value = b->bytes,
								       .weight = b->weight,
								       .number = b->number}});
}

void native_blocks_emit(struct session *s, pid_t pid)
{
	int map = kernel_side_native_blocks(s->kernel, false);
	uint64_t now = now_ns();
	struct braid_native_block b;
	keys all = {0};

	if (!native_blocks_followed(s->options))
		return;
	read_keys(s, pid, &all);
	for (size_t i = 0; i < all.count; i++)
		if (!bpf_map_lookup_elem(map, &all.at[i], &b))
			emit(s, &all.at[i], &b, now);
	free(all.at);
}

static void forget(struct session *s, pid_t pid)
{
	keys all = {0};

	read_keys(s, pid, &all);
	for (size_t i = 0; i < all.count; i++)
		(void)bpf_map_delete_elem(kernel_side_native_blocks(s->kernel, false), &all.at[i]);
	free(all.at);
	(void)bpf_map_delete_elem(kernel_side_native_blocks(s->kernel, true), &pid);
}

void native_blocks_ended(struct session *s, pid_t pid)
{
	if (!native_blocks_followed(s->options))
		return;
	native_blocks_emit(s, pid);
	forget(s, pid);
}

bool native_blocks_command(struct session *s, pid_t pid, enum braid_control_verb verb)
{
	bool reset = verb == BRAID_CONTROL_RESET;

	if (!native_blocks_followed(s->options) || (!reset && verb != BRAID_CONTROL_DUMP))
		return false;
	if (reset)
		forget(s, pid);
	else
		native_blocks_emit(s, pid);
	return true;
}
