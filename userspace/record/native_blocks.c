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

/* All at once, as programs go on allocating and freeing. Without memory there are none. */
static uint32_t read_table(const struct session *s, enum kernel_map map, void *keys, void *values, uint32_t max)
{
	uint32_t position, count = max;
	int err = keys && values ? bpf_map_lookup_batch(kernel_side_map(s->kernel, map), NULL, &position, keys, values,
							&count, NULL)
				 : -ENOMEM;

	return !err || err == -ENOENT ? count : 0; /* -ENOENT: these are all */
}

struct blocks {
	struct braid_native_key *keys;
	struct braid_native_block *at;
	uint32_t count;
};

static struct blocks blocks_read(const struct session *s)
{
	struct blocks b = {.keys = calloc(BRAID_NATIVE_BLOCKS, sizeof(*b.keys)),
			   .at = calloc(BRAID_NATIVE_BLOCKS, sizeof(*b.at))};

	b.count = read_table(s, KERNEL_MAP_NATIVE_BLOCKS, b.keys, b.at, BRAID_NATIVE_BLOCKS);
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
							     .pid = key->of.pid,
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
	(void)bpf_map_delete_elem(kernel_side_map(s->kernel, KERNEL_MAP_NATIVE_BLOCKS), key);
}

void native_blocks_emit(struct session *s, pid_t pid)
{
	struct blocks b;
	uint64_t now = now_ns();

	if (!native_blocks_followed(s->options))
		return;
	b = blocks_read(s);
	for (uint32_t i = 0; i < b.count; i++)
		if (!pid || (pid_t)b.keys[i].of.pid == pid)
			emit(s, &b.keys[i], &b.at[i], now);
	blocks_free(&b);
}

static const struct process *program_at(struct session *s, const struct braid_native_program *of, uint64_t time_ns)
{
	return processes_find(s->processes, (pid_t)of->pid, time_ns);
}

/* The counts of a process or, for 0, of all programs that have ended. Returns whether there were any. */
static bool forget_counts(struct session *s, pid_t pid)
{
	struct braid_native_program *of = calloc(BRAID_NATIVE_PROGRAMS, sizeof(*of));
	struct braid_native_count *at = calloc(BRAID_NATIVE_PROGRAMS, sizeof(*at));
	uint32_t count = read_table(s, KERNEL_MAP_NATIVE_COUNTS, of, at, BRAID_NATIVE_PROGRAMS);
	bool any = false;

	for (uint32_t i = 0; i < count; i++) {
		const struct process *p = pid ? NULL : program_at(s, &of[i], at[i].since_ns);

		if (pid ? (pid_t)of[i].pid == pid : p && p->ended_ns)
			any = !bpf_map_delete_elem(kernel_side_map(s->kernel, KERNEL_MAP_NATIVE_COUNTS), &of[i]) || any;
	}
	free(of);
	free(at);
	return any;
}

static void forget_all(struct session *s, pid_t pid)
{
	struct blocks b = blocks_read(s);

	for (uint32_t i = 0; i < b.count; i++)
		if ((pid_t)b.keys[i].of.pid == pid)
			forget(s, &b.keys[i]);
	blocks_free(&b);
	(void)forget_counts(s, pid);
}

void native_blocks_ended(struct session *s)
{
	s->native_ended = native_blocks_followed(s->options);
}

void native_blocks_tick(struct session *s)
{
	struct blocks b;

	if (!s->native_ended)
		return;
	s->native_ended = false;
	if (!forget_counts(s, 0))
		return;
	b = blocks_read(s);
	for (uint32_t i = 0; i < b.count; i++) {
		const struct process *p = program_at(s, &b.keys[i].of, b.at[i].time_ns);

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
