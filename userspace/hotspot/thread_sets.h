// SPDX-License-Identifier: Apache-2.0
/*
 * Where a JVM's virtual threads are: the JDK keeps them in sets (jdk.internal.vm.ThreadContainers), one for those that
 * were started directly, and one of each executor. The sets are ConcurrentHashMaps, which are read from outside, a
 * slice of a table at a time, while threads come and go. A thread that stays is in its bin whatever else happens; one
 * that is met twice, because a table has grown, is the reader's to recognise. virtual.c uses this.
 */
#ifndef BRAID_HOTSPOT_THREAD_SETS_H
#define BRAID_HOTSPOT_THREAD_SETS_H

#include "java_heap.h"

#include "util/vec.h"

typedef VEC(uint64_t) thread_objects;

struct thread_sets {
	const struct java_heap *heap;
	struct {
		uint64_t registry, root, untracked, per_task, shared, flock;
	} klass;
	/* Offsets of fields, see thread_sets.c. */
	struct {
		uint16_t registry, root, referent, map, table, hash, key, next, first, next_table, per_task, shared,
			flock, flock_threads;
	} at;
	/* The sets as they were listed at a moment. */
	thread_objects sets;
	struct java_moment listed;
	bool is_listed, ended;
	/* The next slice. */
	size_t set;
	uint32_t bin, length, slice;
	uint32_t passes;     /* how often the set's table has changed its length */
	uint32_t nodes_left; /* that may still be read */
	uint64_t damaged;
};

/* 0; -ENOENT: the JVM has no such sets, or none yet. */
int thread_sets_open(struct thread_sets *s, const struct java_heap *h);
void thread_sets_close(struct thread_sets *s);

/*
 * True if the JVM was started so that it does not keep virtual threads that are started directly (jdk.trackAllThreads).
 */
bool thread_sets_untracked(const struct thread_sets *s);

/*
 * Reads the next slice: puts the objects of its threads into *to, which is empty, in order. What it puts there is true
 * if the moment is still the same afterwards; then advance. 1, or 0 when there is no slice any more, or -ENOMEM.
 */
int thread_sets_read(struct thread_sets *s, const struct java_moment *m, thread_objects *to);
/* Whether the last slice has been read. */
bool thread_sets_ended(const struct thread_sets *s);
void thread_sets_advance(struct thread_sets *s);
/* The moment has passed: slices become smaller, so that one is read between two collections. */
void thread_sets_retry(struct thread_sets *s);

#endif
