// SPDX-License-Identifier: Apache-2.0
#include "frozen.h"

#include "deferred.h"
#include "frozen_known.h"
#include "stacks.h"
#include "hotspot/hotspot_memory.h"
#include "process/processes.h"

#include <braid/walk.h>

#include <stdlib.h>
#include <string.h>

/* What the walk reads of code and methods, which stay where they are while a dump is taken. A power of two. */
#define CACHED 4096U

struct frozen_walk {
	struct braid_walk w; /* first, since callbacks of the walk get a pointer to it */
	struct session *session;
	struct process *process;
	const struct braid_layout *layout;
	struct frozen_known *known;
	const struct virtual_thread *thread;
	bool is_noted; /* what the walk reads of its chunk */
	struct deferred_sample sample;
	struct cached {
		uint64_t address;
		uint32_t size; /* 0: free */
		uint8_t bytes[WALK_HEADER_BYTES];
	} cache[CACHED];
};

int frozen_walk_new(struct frozen_walk **out, struct session *s, struct process *process, const struct braid_layout *l)
{
	struct frozen_walk *w = *out = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->session = s;
	w->process = process;
	w->layout = l;
	w->known = frozen_known_new(l->vthreads.chunk_stack);
	return w->known ? 0 : -ENOMEM;
}

void frozen_walk_free(struct frozen_walk *w)
{
	if (w)
		frozen_known_free(w->known);
	free(w);
}

/* ---- what the walk asks for ---- */

static bool take(const uint8_t *from, uint64_t at, uint32_t bytes, void *to, uint32_t size, uint64_t address)
{
	if (address < at || size > bytes || address - at > bytes - size)
		return false;
	memcpy(to, from + (address - at), size);
	return true;
}

/*
 * Of an interpreted frame, a walk reads all words around its frame pointer, and uses these (walk_frozen_interpreted()).
 * Others are of the stack that the frame was frozen from, and differ.
 */
static void note(struct frozen_walk *f, const struct virtual_chunk *c, uint64_t address, uint32_t size)
{
	const struct braid_layout *l = f->layout;
	const int used[] = {l->interp_method, l->interp_bcp, l->interp_sender_sp, WALK_INTERP_LOCALS};
	uint64_t fp = address + 8 * WALK_FP_WORD;

	if (size != 8 * (WALK_FP_WORD + 2)) {
		frozen_known_note(f->known, c, address, size);
		return;
	}
	for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++)
		frozen_known_note(f->known, c, fp + 8 * (uint64_t)(int64_t)used[i], 8);
}

static bool read_copy(struct frozen_walk *f, void *to, uint32_t size, uint64_t address)
{
	for (uint32_t i = 0; i < f->thread->chunk_count; i++) {
		const struct virtual_chunk *c = &f->thread->chunks[i];

		if (take(c->fields, c->chunk, f->layout->vthreads.chunk_stack, to, size, address) ||
		    take(c->frames, c->at, c->bytes, to, size, address)) {
			if (f->is_noted)
				note(f, c, address, size);
			return true;
		}
	}
	return false;
}

static long read_cached(struct frozen_walk *f, void *to, uint32_t size, uint64_t address)
{
	struct cached *c = &f->cache[(address * 0x9e3779b97f4a7c15ULL ^ size) >> 40 & (CACHED - 1)];
	pid_t pid = f->process->pid;

	if (size > sizeof(c->bytes))
		return hotspot_read_process(&pid, address, to, size);
	if (c->address != address || c->size != size) {
		c->size = 0;
		if (hotspot_read_process(&pid, address, c->bytes, size))
			return -1;
		c->address = address;
		c->size = size;
	}
	memcpy(to, c->bytes, size);
	return 0;
}

/* A chunk that was not copied is the end. */
static bool is_cut(const struct frozen_walk *f, uint64_t address)
{
	const struct virtual_chunk *last = &f->thread->chunks[f->thread->chunk_count - 1];

	return f->thread->deep && address == last->chunk + f->layout->vthreads.chunk_parent;
}

static long walk_read(struct braid_walk *w, void *to, __u32 size, __u64 address)
{
	struct frozen_walk *f = (struct frozen_walk *)w;

	if (is_cut(f, address)) {
		memset(to, 0, size);
		return 0;
	}
	return read_copy(f, to, size, address) ? 0 : read_cached(f, to, size, address);
}

static bool walk_mapping(struct braid_walk *w, __u64 pc, struct braid_mapping *to)
{
	(void)w, (void)pc, (void)to;
	return false; /* frozen frames are Java's */
}

static __u32 walk_rule(struct braid_walk *w, const struct braid_mapping *m, __u64 vaddr)
{
	(void)w, (void)m, (void)vaddr;
	return 0;
}

static __u64 walk_java_thread(struct braid_walk *w)
{
	(void)w;
	return 0;
}

static void push(struct frozen_walk *f, uint64_t frame)
{
	if (f->sample.event.frame_count < BRAID_MAX_FRAMES)
		f->sample.frames[f->sample.event.frame_count++] = frame;
}

static void walk_push(struct braid_walk *w, __u64 frame)
{
	push((struct frozen_walk *)w, frame);
}

/* ---- the walk ---- */

/* Returns 0 for a whole stack, or its cause. */
static uint32_t walk_all(struct frozen_walk *f)
{
	uint32_t depth = 0;

	if (walk_chunk(&f->w, f->layout, f->thread->chunks[0].chunk))
		return BRAID_END_FROZEN;
	/* After the last frame the walk continues with the carrier's stack, of which there is none. */
	while (f->w.frozen_end) {
		if (depth++ >= f->session->options->max_depth)
			return BRAID_END_DEPTH;
		if (walk_frozen(&f->w, f->layout))
			return f->w.end;
	}
	return f->thread->deep ? BRAID_END_DEPTH : 0;
}

static uint32_t node_of(struct frozen_walk *f, const struct virtual_thread *t, uint64_t time_ns, bool *whole)
{
	struct braid_event_sample *e = &f->sample.event;
	uint32_t cause, node;
	bool complete;

	f->w = (struct braid_walk){.end = WALK_GOING};
	f->thread = t;
	*e = (struct braid_event_sample){.hdr = {.time_ns = time_ns}, .pid = (uint32_t)f->process->pid};
	cause = walk_all(f);
	*whole = !cause;
	if (cause)
		push(f, (uint64_t)BRAID_FRAME_END << 60 | cause);
	e->stack = deferred_hash(&f->sample, f->process);
	node = stacks_known(f->session->stacks, f->process, e->stack);
	return node ?: stacks_node(f->session->stacks, f->process, e, &complete);
}

uint32_t frozen_node(struct frozen_walk *f, const struct virtual_thread *t, uint64_t time_ns)
{
	uint32_t node;
	bool whole;

	if (!t->chunk_count)
		return 0;
	f->is_noted = t->chunk_count == 1 && !t->deep;
	node = f->is_noted ? frozen_known_node(f->known, &t->chunks[0]) : 0;
	if (node)
		return node;
	node = node_of(f, t, time_ns, &whole);
	if (f->is_noted)
		frozen_known_end(f->known, whole ? node : 0);
	return node;
}
