// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* What the current thread is parked for, as it has said itself: LockSupport.park(blocker). */
#ifndef BRAID_PARKED_BPF_H
#define BRAID_PARKED_BPF_H

#include "objects.bpf.h"
#include "slot.bpf.h"

#define PARKED_SUPERS 16 /* classes above a lock's */

struct parked {
	__u32 owner; /* OS thread that owned it when the sleep had ended, in the pid namespace; 0: none, or not known */
	__u32 ownable; /* of a class that can have an owner */
	char class[64];
};

/* Of AbstractOwnableSynchronizer, or of a class below it. */
__noinline bool parked_is_ownable(struct braid_walk *w, const struct braid_layout *l, __u64 klass)
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

/* The OS thread of a Thread; its JavaThread must be one that the agent has announced. */
__noinline __u32 parked_owner(struct braid_walk *w, const struct braid_layout *l, __u64 thread)
{
	struct java_tid key = {0};
	__u64 java_thread, *known;

	if (!w || !l || !thread || walk_read(w, &java_thread, 8, thread + l->objects.thread_eetop))
		return 0;
	key.jvm = (__u32)w->jvm;
	key.tid = java_thread_os(w, l, java_thread);
	known = bpf_map_lookup_elem(&java_threads, &key);
	return known && *known == java_thread ? key.tid : 0;
}

/* The name of a class, as the VM has it, cut. */
__noinline bool parked_class(struct braid_walk *w, const struct braid_layout *l, __u64 klass, struct parked *to)
{
	__u64 symbol;
	__u16 length = 0;

	if (!w || !l || !to || !(l->flags & BRAID_LAYOUT_NAMES) || walk_read(w, &symbol, 8, klass + l->klass_name) ||
	    walk_read(w, &length, 2, symbol + l->symbol_length) || !length)
		return false;
	if (length > sizeof(to->class) - 1)
		length = sizeof(to->class) - 1;
	return !bpf_probe_read_user(to->class, length, (const void *)(symbol + l->symbol_body));
}

/* What a thread is parked for; 0: nothing, or it cannot be read. */
__noinline __u64 parked_blocker(struct braid_walk *w, const struct braid_layout *l, __u64 java_thread)
{
	__u64 thread;

	if (!w || !l)
		return 0;
	thread = object_of_thread(w, l, java_thread + l->objects.carrier);
	return thread ? object_field(w, l, thread + l->objects.thread_blocker) : 0;
}

/*
 * In the context of a thread whose sleep has ended, and which has not left the VM yet: it is still there to be read.
 * The slot is the caller's. False when there is none, or a collector is moving it.
 */
__noinline bool parked_read(__u32 slot, __u32 jvm_slot, struct parked *to)
{
	struct braid_jvm *jvm = bpf_map_lookup_elem(&jvms, &jvm_slot);
	struct sample *s = slot_at(slot);
	__u64 java_thread, blocker, klass;
	struct braid_layout *l;

	if (!s || !jvm || !to || !(jvm->layout.objects.flags & BRAID_OBJECTS_BLOCKERS))
		return false;
	l = &jvm->layout;
	s->w.sp = s->window_bytes = 0; /* nothing of this is on the stack */
	s->w.jvm = java_thread_jvm(jvm_slot, jvm->generation);
	java_thread = java_thread_own((__u32)s->w.jvm);
	blocker = java_thread ? parked_blocker(&s->w, l, java_thread) : 0;
	klass = object_klass(&s->w, l, blocker);
	if (!klass || !parked_class(&s->w, l, klass, to))
		return false;
	to->ownable = parked_is_ownable(&s->w, l, klass);
	if (to->ownable)
		to->owner = parked_owner(&s->w, l, object_field(&s->w, l, blocker + l->objects.ownable_thread));
	return parked_blocker(&s->w, l, java_thread) == blocker && object_klass(&s->w, l, blocker) == klass;
}

/* The one lock that is no AbstractOwnableSynchronizer. Not constant: clang would move it to a section without BTF. */
const volatile char parked_stamped[] = "java/util/concurrent/locks/StampedLock";

/* Can somebody own it? */
static __always_inline bool parked_in_lock(const struct parked *p)
{
	__u8 differs = 0;

	for (__u32 i = 0; i < sizeof(parked_stamped); i++) /* without branches, of which the verifier would try all */
		differs |= p->class[i] ^ parked_stamped[i];
	return p->ownable || !differs;
}

#endif
