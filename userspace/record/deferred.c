// SPDX-License-Identifier: Apache-2.0
#include "deferred.h"

#include "hotspot/hotspot_memory.h"
#include "jvm/jvm.h"
#include "kernel/kernel_side.h"
#include "process/processes.h"

#include <braid/walk.h>

#include <string.h>

/* Memory this close to the copy may be part of the stack, which has changed since. */
#define STACK_MAX (8ULL << 20)

struct deferred_walk {
	struct braid_walk w; /* first, since callbacks of the walk get a pointer to it */
	const struct session *session;
	const struct process *process;
	const struct braid_layout *layout; /* NULL: not in a JVM */
	uint64_t time_ns;
	uint64_t low, high; /* the copied part of the stack */
	const uint8_t *stack;
	uint32_t missing; /* missing pages, as in the event */
	struct deferred_sample *out;
	bool ran_out; /* the walk needed more of the stack than was copied */
	bool still;   /* the thread has not run since, so all memory is as it was for the walk */
};

/* Code that is still mapped is unchanged; other memory may have changed since. */
static bool is_code(const struct deferred_walk *l, uint64_t address, uint32_t size)
{
	const struct process_mapping *m = process_mapping_at(l->process, address, l->time_ns);

	return m && !m->until_ns && !l->process->ended_ns && size <= m->fact.end - address;
}

/* A JVM's metadata is elsewhere, and outlives the event as a method outlives its frames. */
static bool is_metadata(const struct deferred_walk *l, uint64_t address)
{
	return l->layout && !l->process->ended_ns &&
	       (address < l->low ? l->low - address : address - l->high) > STACK_MAX;
}

static bool is_copied(const struct deferred_walk *l, uint64_t address, uint32_t size)
{
	uint64_t page = l->low / BRAID_DEFERRED_PAGE, first, last;

	if (address < l->low || address >= l->high || size > l->high - address)
		return false;
	first = address / BRAID_DEFERRED_PAGE - page;
	last = (address + size - 1) / BRAID_DEFERRED_PAGE - page;
	return !((l->missing >> first | l->missing >> last) & 1);
}

static long walk_read(struct braid_walk *w, void *to, __u32 size, __u64 address)
{
	struct deferred_walk *l = (struct deferred_walk *)w;

	if (is_copied(l, address, size)) {
		memcpy(to, l->stack + (address - l->low), size);
		return 0;
	}
	if (l->still || is_code(l, address, size) || is_metadata(l, address)) {
		pid_t pid = l->process->pid;

		return hotspot_read_process(&pid, address, to, size);
	}
	l->ran_out = address >= l->low;
	return -1;
}

static bool walk_mapping(struct braid_walk *w, __u64 pc, struct braid_mapping *to)
{
	const struct deferred_walk *l = (const struct deferred_walk *)w;
	const struct process_mapping *m = process_mapping_at(l->process, pc, l->time_ns);

	if (m && m->module->table == BRAID_NO_TABLE && m->module->wants_table)
		l->out->early = true;
	if (m && to)
		*to = (struct braid_mapping){
			.start = m->fact.start, .end = m->fact.end, .bias = m->bias, .table = m->module->table};
	return m;
}

static __u64 walk_java_thread(struct braid_walk *w)
{
	(void)w;
	return 0;
}

static __u32 walk_rule(struct braid_walk *w, const struct braid_mapping *m, __u64 vaddr)
{
	return kernel_side_rule(((const struct deferred_walk *)w)->session->kernel, m->table, vaddr);
}

static void push(struct deferred_sample *out, uint64_t frame)
{
	if (out->event.frame_count < BRAID_MAX_FRAMES)
		out->frames[out->event.frame_count++] = frame;
}

static void walk_push(struct braid_walk *w, __u64 frame)
{
	push(((struct deferred_walk *)w)->out, frame);
}

static uint32_t walk_all(struct deferred_walk *l)
{
	uint32_t depth = 0;

	while (depth++ < l->session->options->max_depth)
		if (walk_step(&l->w, l->layout))
			return l->w.end;
	return BRAID_END_DEPTH;
}

/* The kernel side computes its hashes in another way; neither is ever 0. */
uint64_t deferred_hash(const struct deferred_sample *out, const struct process *process)
{
	uint64_t hash = (uint64_t)process->layout << 32 | process->id;

	for (uint32_t i = 0; i < out->event.frame_count; i++)
		hash = (hash ^ out->frames[i] ^ hash >> 31) * 0xd6e8feb86659fd93ULL;
	return hash | 1;
}

/* A walk that does not know where enterSpecial is does not notice it either. */
static bool may_be_virtual(const struct deferred_walk *l, uint32_t end)
{
	return l->layout && l->layout->vthreads.thread_entry &&
	       (l->w.entry || end == BRAID_END_FROZEN || (l->w.java && !l->layout->vthreads.enter_start));
}

bool deferred_unwind(const struct session *s, const struct process *process, const struct braid_event_deferred *e,
		     bool still, struct deferred_sample *out)
{
	const uint64_t *kernel = (const uint64_t *)(e + 1);
	struct deferred_walk l = {
		.w = {.pc = e->pc,
		      .sp = e->sp,
		      .fp = e->fp,
		      .rax = e->rax,
		      .rbx = e->rbx,
		      .r10 = e->r10,
		      .r13 = e->r13},
		.session = s,
		.process = process,
		.layout = jvm_layout(process->jvm),
		.time_ns = e->hdr.time_ns,
		.missing = e->missing,
		.low = e->stack_at,
		.high = e->stack_at + e->stack_bytes,
		.stack = (const uint8_t *)(kernel + e->kernel_count),
		.out = out,
		.still = still,
	};
	uint32_t end;

	out->early = false;
	out->event = (struct braid_event_sample){.hdr = {.time_ns = e->hdr.time_ns},
						 .pid = e->pid,
						 .tid = e->tid,
						 .cpu = e->cpu,
						 .generation = e->generation,
						 .event = e->event};
	for (uint32_t i = 0; i < e->kernel_count; i++)
		push(out, kernel[i]);
	l.w.leaf = 1;
	l.w.end = WALK_GOING;
	end = walk_all(&l);
	if (end) /* a copy is never as good as the memory, so the first walk's cause counts */
		push(out, (uint64_t)BRAID_FRAME_END << 60 | (l.ran_out ? e->cause : end));
	out->event.stack = deferred_hash(out, process);
	out->virtual = may_be_virtual(&l, end);
	return !end;
}
