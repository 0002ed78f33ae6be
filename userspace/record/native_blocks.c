// SPDX-License-Identifier: Apache-2.0
#include "native_blocks.h"

#include "kernel/hits.h"
#include "kernel/kernel_side.h"
#include "process/processes.h"
#include "util/clock.h"

#include <braid/hit.h>

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

bool native_blocks_followed(const struct record_options *o)
{
	return hits_have(o, PROBE_MALLOC);
}

struct blocks {
	struct braid_native_key *keys;
	struct braid_native_block *at;
	uint32_t count;
};

/* All at once, as programs go on allocating and freeing. Without memory there are none. */
static struct blocks blocks_read(const struct session *s)
{
	struct blocks b = {.keys = calloc(BRAID_NATIVE_BLOCKS, sizeof(*b.keys)),
			   .at = calloc(BRAID_NATIVE_BLOCKS, sizeof(*b.at))};
	uint32_t position, count = BRAID_NATIVE_BLOCKS;
	int err = b.keys && b.at ? bpf_map_lookup_batch(kernel_side_native_blocks(s->kernel, false), NULL, &position,
							b.keys, b.at, &count, NULL)
				 : -ENOMEM;

	b.count = !err || err == -ENOENT ? count : 0; /* -ENOENT: these are all */
	return b;
}

static void blocks_free(struct blocks *b)
{
	free(b->keys);
	free(b->at);
}

/* The block's own time says which program of the process it is of, if that has executed another one since. */
static void emit(struct session *s, const struct braid_native_key *key, const struct braid_native_block *b,
		 uint64_t end_ns)
{
	session_add_event(s, &(struct braid_event_jvm_event){.hdr = {.kind = BRAID_EVENT_JVM_EVENT,
								     .size = sizeof(struct braid_event_jvm_event),
								     .time_ns = b->time_ns},
							     .pid = key->pid,
							     .source = BRAID_SOURCE_KERNEL,
							     .event = {.kind = BRAID_JVM_UNFREED,
								       .start_ns = b->time_ns,
								       .end_ns = end_ns,
								       .value = b->bytes,
								       .weight = b->weight,
								       .number = b->number}});
}

static void forget(struct session *s, const struct braid_native_key *key)
{
	(void)bpf_map_delete_elem(kernel_side_native_blocks(s->kernel, false), key);
}

void native_blocks_emit(struct session *s, pid_t pid)
{
	struct blocks b;
	uint64_t now = now_ns();

	if (!native_blocks_followed(s->options))
		return;
	b = blocks_read(s);
	for (uint32_t i = 0; i < b.count; i++)
		if (!pid || (pid_t)b.keys[i].pid == pid)
			emit(s, &b.keys[i], &b.at[i], now);
	blocks_free(&b);
}

static bool forget_count(struct session *s, pid_t pid)
{
	return !bpf_map_delete_elem(kernel_side_native_blocks(s->kernel, true), &pid);
}

static void forget_all(struct session *s, pid_t pid)
{
	struct blocks b = blocks_read(s);

	for (uint32_t i = 0; i < b.count; i++)
		if ((pid_t)b.keys[i].pid == pid)
			forget(s, &b.keys[i]);
	blocks_free(&b);
	(void)forget_count(s, pid);
}

void native_blocks_ended(struct session *s, pid_t pid)
{
	if (native_blocks_followed(s->options) && forget_count(s, pid))
		s->native_ended = true;
}

void native_blocks_tick(struct session *s)
{
	struct blocks b;

	if (!s->native_ended)
		return;
	s->native_ended = false;
	b = blocks_read(s);
	for (uint32_t i = 0; i < b.count; i++) {
		const struct process *p = processes_find(s->processes, (pid_t)b.keys[i].pid, b.at[i].time_ns);

		if (!p || !p->ended_ns)
			continue;
		emit(s, &b.keys[i], &b.at[i], p->ended_ns);
		forget(s, &b.keys[i]);
	}
	blocks_free(&b);
}

bool native_blocks_command(struct session *s, pid_t pid, enum braid_control_verb verb)
{
	bool reset = verb == BRAID_CONTROL_RESET;

	if (!native_blocks_followed(s->options) || (!reset && verb != BRAID_CONTROL_DUMP))
		return false;
	if (reset)
		forget_all(s, pid);
	else
		native_blocks_emit(s, pid);
	return true;
}
