// SPDX-License-Identifier: Apache-2.0
/*
 * Reads Java objects, for virtual threads and for what threads wait for. A collector may be moving them, so callers
 * read a path twice and trust it only when both results agree. The kernel side and the collector compile the same
 * source; the including file defines walk_read().
 */
#ifndef BRAID_WALK_OBJECTS_H
#define BRAID_WALK_OBJECTS_H

#include <braid/walk/oop.h>

/*
 * The object that a reference points to; 0 when it is null or unreadable, or when it is a stale reference of a
 * collector that moves objects while threads run: another object may be there by now.
 */
WALK_PART __u64 object_at(struct braid_walk *w, const struct braid_layout *l, __u64 at, bool narrow)
{
	__u64 wide = 0, bad;

	if (!w || !l || walk_read(w, &wide, narrow ? 4 : 8, at))
		return 0;
	if (l->objects.oop_bad && (walk_read(w, &bad, 8, l->objects.oop_bad) || (wide & bad)))
		return 0;
	/* References outside the heap have the width of addresses. */
	return narrow || l->objects.oops == BRAID_OOPS_COLOURED ? walk_oop_decode(l, wide) : wide;
}

WALK_INLINE __u64 object_field(struct braid_walk *w, const struct braid_layout *l, __u64 at)
{
	return object_at(w, l, at, l->objects.oops == BRAID_OOPS_COMPRESSED);
}

/* The object that a JavaThread refers to at `at`. */
WALK_INLINE __u64 object_of_thread(struct braid_walk *w, const struct braid_layout *l, __u64 at)
{
	__u64 handle;

	if (!(l->objects.flags & BRAID_OBJECTS_HANDLES))
		return object_at(w, l, at, false);
	return walk_read(w, &handle, 8, at) ? 0 : object_at(w, l, handle, false);
}

/* The object's Klass; 0 when it cannot be read. */
WALK_PART __u64 object_klass(struct braid_walk *w, const struct braid_layout *l, __u64 object)
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

#define PARKED_SUPERS 16 /* budget of superclasses above a lock's class */

/* True for AbstractOwnableSynchronizer and its subclasses. */
WALK_PART bool parked_is_ownable(struct braid_walk *w, const struct braid_layout *l, __u64 klass)
{
	if (!w || !l)
		return false;
	for (int i = 0; i < PARKED_SUPERS && klass; i++) {
		if (klass == l->objects.ownable_klass)
			return true;
		if (walk_read(w, &klass, 8, klass + l->objects.klass_super))
			return false;
	}
	return false;
}

/* AbstractQueuedSynchronizer.ConditionObject, and that of AbstractQueuedLongSynchronizer: two nodes, and this$0. */
#define PARKED_CONDITION "java/util/concurrent/locks/AbstractQueued"
#define PARKED_CONDITION_FIELDS 3

/* The lock of a condition: of its fields, only this one is an AbstractOwnableSynchronizer. 0: not readable. */
WALK_INLINE __u64 parked_lock_of(struct braid_walk *w, const struct braid_layout *l, __u64 condition)
{
	__u64 lock, size = l->objects.oops == BRAID_OOPS_COMPRESSED ? 4 : 8;
	__u64 at = condition + (braid_array_length_at(l->objects.klasses) + size - 1) / size * size;

	for (int i = 0; i < PARKED_CONDITION_FIELDS; i++, at += size) {
		lock = object_field(w, l, at);
		if (lock && parked_is_ownable(w, l, object_klass(w, l, lock)))
			return lock;
	}
	return 0;
}

/*
 * The Thread of a JavaThread, or the virtual one that it has mounted. While a collector compacts the heap, other
 * objects can be where it was or will be, for as long as the pause lasts: a Thread names its JavaThread. 0: not
 * readable.
 */
WALK_INLINE __u64 parked_thread(struct braid_walk *w, const struct braid_layout *l, __u64 java_thread, bool mounted)
{
	__u64 thread = object_of_thread(w, l, java_thread + (mounted ? l->objects.current : l->objects.carrier)), own;

	if (!thread)
		return 0;
	if (mounted && l->objects.virtual_klass && object_klass(w, l, thread) == l->objects.virtual_klass)
		return thread;
	return walk_read(w, &own, 8, thread + l->objects.thread_eetop) || own != java_thread ? 0 : thread;
}

/*
 * The object that such a thread is parked for; 0: none, or not readable. A thread that names its blocker and has not
 * parked yet may have to enter a monitor before: ConditionObject.await does, where it initialises a class.
 */
WALK_PART __u64 parked_blocker(struct braid_walk *w, const struct braid_layout *l, __u64 java_thread, bool mounted)
{
	__u64 thread, monitor = 0;

	if (!w || !l || (l->thread_pending && walk_read(w, &monitor, 8, java_thread + l->thread_pending)) || monitor)
		return 0;
	thread = parked_thread(w, l, java_thread, mounted);
	return thread ? object_field(w, l, thread + l->objects.thread_blocker) : 0;
}

/*
 * Whether such a thread is parked for nothing, which was read twice: a collector may be moving the thread. False: it is
 * parked for something, or it cannot be read.
 */
WALK_PART bool parked_for_nothing(struct braid_walk *w, const struct braid_layout *l, __u64 java_thread, bool mounted)
{
	__u64 thread, blocker = 0;
	bool narrow;

	if (!w || !l)
		return false;
	narrow = l->objects.oops == BRAID_OOPS_COMPRESSED;
	thread = parked_thread(w, l, java_thread, mounted);
	return thread && !walk_read(w, &blocker, narrow ? 4 : 8, thread + l->objects.thread_blocker) && !blocker &&
	       parked_thread(w, l, java_thread, mounted) == thread;
}

#endif
