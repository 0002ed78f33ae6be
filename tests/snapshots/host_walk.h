// SPDX-License-Identifier: Apache-2.0
/*
 * The stack walker built for the host. Its caller provides memory and look-ups: a live process (tools/capture) or a
 * snapshot (tests/unit/kernel/test_walk.c).
 */
#ifndef BRAID_TESTS_HOST_WALK_H
#define BRAID_TESTS_HOST_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <braid/walk.h>

/* Each returns what its namesake in <braid/walk.h> does. */
struct host_walk_ops {
	long (*read)(void *ctx, void *to, __u32 size, __u64 address);
	bool (*mapping)(void *ctx, __u64 pc, struct braid_mapping *m);
	__u32 (*rule)(void *ctx, const struct braid_mapping *m, __u64 vaddr);
};

struct host_regs {
	__u64 pc;
	__u64 sp;
	__u64 fp;
	__u64 rax;
	__u64 rbx;
	__u64 r10;
	__u64 r13;
};

struct host_walk {
	struct braid_walk w; /* first, so that a pointer to it points to the whole */
	const struct host_walk_ops *ops;
	void *ctx;
	__u32 limit;		       /* frames; 0: BRAID_MAX_DEPTH */
	__u32 depth;		       /* frames found */
	__u64 frame[BRAID_MAX_DEPTH];  /* leaf first */
	__u64 top_sp[BRAID_MAX_DEPTH]; /* the stack pointer in each frame */
};

static inline long walk_read(struct braid_walk *w, void *to, __u32 size, __u64 address)
{
	struct host_walk *h = (struct host_walk *)w;

	return h->ops->read(h->ctx, to, size, address);
}

static inline bool walk_mapping(struct braid_walk *w, __u64 pc, struct braid_mapping *m)
{
	struct host_walk *h = (struct host_walk *)w;
	struct braid_mapping unused;

	return h->ops->mapping(h->ctx, pc, m ? m : &unused);
}

/* The host does not know it. */
static inline __u64 walk_java_thread(struct braid_walk *w)
{
	(void)w;
	return 0;
}

static inline __u32 walk_rule(struct braid_walk *w, const struct braid_mapping *m, __u64 vaddr)
{
	struct host_walk *h = (struct host_walk *)w;

	return h->ops->rule(h->ctx, m, vaddr);
}

static inline void walk_push(struct braid_walk *w, __u64 frame)
{
	struct host_walk *h = (struct host_walk *)w;

	if (h->depth >= BRAID_MAX_DEPTH)
		return;
	h->frame[h->depth] = frame;
	h->top_sp[h->depth++] = w->sp;
}

/* Walks as bpf/stack/sample.bpf.h does, without the cache of earlier walks. Returns the end cause. */
static inline __u32 host_walk_run(struct host_walk *h, const struct host_regs *regs, const struct braid_layout *layout)
{
	__u32 limit = h->limit && h->limit < BRAID_MAX_DEPTH ? h->limit : BRAID_MAX_DEPTH;

	memset(&h->w, 0, sizeof(h->w));
	h->w.pc = regs->pc;
	h->w.sp = regs->sp;
	h->w.fp = regs->fp;
	h->w.rax = regs->rax;
	h->w.rbx = regs->rbx;
	h->w.r10 = regs->r10;
	h->w.r13 = regs->r13;
	h->w.leaf = 1;
	h->w.end = WALK_GOING;
	h->depth = 0;
	for (__u32 i = 0; i < limit; i++)
		if (walk_step(&h->w, layout))
			break;
	if (h->w.end == WALK_GOING)
		h->w.end = BRAID_END_DEPTH;
	return h->w.end;
}

#endif
