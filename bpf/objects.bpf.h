// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Reads Java objects, for virtual threads and park blockers. A collector may be moving them, so callers read a path
 * twice and trust it only when both results agree. */
#ifndef BRAID_OBJECTS_BPF_H
#define BRAID_OBJECTS_BPF_H

#include "java_threads.bpf.h"

#include <braid/walk.h>

/*
 * The object that a reference points to; 0 when it is null or unreadable, or when it is a stale reference of a
 * collector that moves objects while threads run: another object may be there by now.
 */
__noinline __u64 object_at(struct braid_walk *w, const struct braid_layout *l, __u64 at, bool narrow)
{
	__u64 wide = 0, bad;

	if (!w || !l || walk_read(w, &wide, narrow ? 4 : 8, at))
		return 0;
	if (l->objects.oop_bad && (walk_read(w, &bad, 8, l->objects.oop_bad) || (wide & bad)))
		return 0;
	/* References outside the heap have the width of addresses. */
	return narrow || l->objects.oops == BRAID_OOPS_COLOURED ? walk_oop_decode(l, wide) : wide;
}

static __always_inline __u64 object_field(struct braid_walk *w, const struct braid_layout *l, __u64 at)
{
	return object_at(w, l, at, l->objects.oops == BRAID_OOPS_COMPRESSED);
}

/* The object that a JavaThread refers to at `at`. */
static __always_inline __u64 object_of_thread(struct braid_walk *w, const struct braid_layout *l, __u64 at)
{
	__u64 handle;

	if (!(l->objects.flags & BRAID_OBJECTS_HANDLES))
		return object_at(w, l, at, false);
	return walk_read(w, &handle, 8, at) ? 0 : object_at(w, l, handle, false);
}

/* The object's Klass; 0 when it cannot be read. */
__noinline __u64 object_klass(struct braid_walk *w, const struct braid_layout *l, __u64 object)
{
	__u64 word = 0;

	if (!w || !l || !object)
		return 0;
	switch (l->objects.klasses) {
	case BRAID_KLASSES_PLAIN:
		return walk_read(w, &word, 8, object + 8) ? 0 : word;
	case BRAID_KLASSES_COMPRESSED:
		if (walk_read(w, &word, 4, object + 8))
			return 0;
		break;
	default:
		if (walk_read(w, &word, 8, object))
			return 0;
		word >>= 42;
	}
	return word ? l->objects.klass_base + (word << (l->objects.klass_shift & 31)) : 0;
}

/* The OS thread of a JavaThread, by its id in the pid namespace; 0: none. */
__noinline __u32 java_thread_os(struct braid_walk *w, const struct braid_layout *l, __u64 thread)
{
	__u64 os;
	__u32 tid;

	if (!w || !l || !thread || !l->thread_osthread || !l->osthread_tid ||
	    walk_read(w, &os, 8, thread + l->thread_osthread) || walk_read(w, &tid, 4, os + l->osthread_tid))
		return 0;
	return tid;
}

#endif
