// SPDX-License-Identifier: Apache-2.0
/* How parts of the walk are compiled, how they read memory, and how references in the heap are encoded. */
#ifndef BRAID_WALK_OOP_H
#define BRAID_WALK_OOP_H

#include <braid/layout.h>

/*
 * The BPF verifier checks a WALK_PART once, on its own and for all arguments: it assumes only that pointers that are
 * not NULL lead to whole structures. It checks a WALK_INLINE at each call, so that is for functions that are small or
 * called once.
 */
#ifdef __bpf__
#define WALK_PART __attribute__((noinline))
#define WALK_INLINE static __attribute__((always_inline)) inline
#else
#define WALK_PART static __attribute__((unused))
#define WALK_INLINE static inline
#endif

struct braid_walk;

/* The including file defines it, see walk.h. */
static long walk_read(struct braid_walk *w, void *to, __u32 size, __u64 address);

/* Decodes a reference in the heap. */
WALK_INLINE __u64 walk_oop_decode(const struct braid_layout *l, __u64 wide)
{
	__u64 colour;

	if (l->objects.oops == BRAID_OOPS_COMPRESSED)
		return wide ? l->objects.oop_base + (wide << (l->objects.oop_shift & 7)) : 0;
	if (l->objects.oops != BRAID_OOPS_COLOURED)
		return wide;
	colour = wide >> 12 & 15;
	return wide >> (colour & 1 ? 13 : colour & 2 ? 14 : colour & 4 ? 15 : 16);
}

#endif
