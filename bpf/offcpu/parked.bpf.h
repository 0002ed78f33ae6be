// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Reads the blocker that the current thread set when it parked: LockSupport.park(blocker). offcpu.bpf.h calls it. */
#ifndef BRAID_PARKED_BPF_H
#define BRAID_PARKED_BPF_H

#include "stack/objects.bpf.h"
#include "stack/slot.bpf.h"

/* With 76 bytes, the programs' stacks would be too large for Linux 6.1. */
struct parked {
	__u32 owner;   /* OS thread, in the pid namespace, that owned it after the sleep; 0: none, or not known */
	__u16 ownable; /* its class can have an owner */
	__u16 sleep;   /* BRAID_SLEEP_BLOCKER, BRAID_SLEEP_CONDITION: what `class` is; BRAID_SLEEP_NO_BLOCKER */
	char class[64];
};

/* The OS thread of a Thread, whose JavaThread the agent must have reported. */
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

/* Reads the name of a class in the VM's form, cut. */
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

/* Not constant: clang would move them to a section without BTF. */
const volatile char parked_condition[] = PARKED_CONDITION;
/* The only lock that is no AbstractOwnableSynchronizer. */
const volatile char parked_stamped[] = "java/util/concurrent/locks/StampedLock";

/* Replaces the class of a condition, which is always the same, by that of its lock. */
static __always_inline bool parked_condition_read(struct braid_walk *w, const struct braid_layout *l, __u64 blocker,
						  struct parked *to)
{
	__u8 differs = 0;
	__u64 lock;

	for (__u32 i = 0; i < sizeof(parked_condition) - 1; i++) /* the verifier would follow every branch */
		differs |= to->class[i] ^ parked_condition[i];
	if (differs)
		return true;
	lock = parked_lock_of(w, l, blocker);
	if (!lock)
		return true;
	__builtin_memset(to->class, 0, sizeof(to->class));
	to->sleep |= BRAID_SLEEP_CONDITION;
	return parked_class(w, l, object_klass(w, l, lock), to);
}

/*
 * Runs on a thread whose sleep has ended and which has not left the VM yet, so its blocker is still set. The slot is
 * the caller's. False when there is no blocker, or a collector is moving it; to->sleep says which.
 * `mounted`: of the virtual thread that it has mounted.
 */
__noinline bool parked_read(__u32 slot, __u32 jvm_slot, struct parked *to, bool mounted)
{
	struct braid_jvm *jvm = bpf_map_lookup_elem(&jvms, &jvm_slot);
	struct sample *s = slot_at(slot);
	__u64 java_thread, blocker, klass;
	struct braid_layout *l;

	if (!s || !jvm || !to || !(jvm->layout.objects.flags & BRAID_OBJECTS_BLOCKERS))
		return false;
	l = &jvm->layout;
	s->w.sp = s->window_bytes = 0; /* none of these reads is on the stack */
	s->w.jvm = java_thread_jvm(jvm_slot, jvm->generation);
	java_thread = java_thread_own((__u32)s->w.jvm);
	blocker = java_thread ? parked_blocker(&s->w, l, java_thread, mounted) : 0;
	klass = object_klass(&s->w, l, blocker);
	if (java_thread && !blocker && parked_for_nothing(&s->w, l, java_thread, mounted))
		to->sleep = BRAID_SLEEP_NO_BLOCKER;
	if (!klass || !parked_class(&s->w, l, klass, to))
		return false;
	to->ownable = parked_is_ownable(&s->w, l, klass);
	to->sleep = BRAID_SLEEP_BLOCKER;
	if (!to->ownable && !parked_condition_read(&s->w, l, blocker, to))
		return false;
	if (to->ownable)
		to->owner = parked_owner(&s->w, l, object_field(&s->w, l, blocker + l->objects.ownable_thread));
	return parked_blocker(&s->w, l, java_thread, mounted) == blocker && object_klass(&s->w, l, blocker) == klass;
}

/*
 * The number of the virtual thread that owns what the one is parked for that the current thread has mounted; 0: none,
 * or a collector is moving it. After parked_read(), in whose result it has no room: programs would need too much stack.
 */
__noinline __u64 parked_owner_vthread(__u32 slot, __u32 jvm_slot)
{
	struct braid_jvm *jvm = bpf_map_lookup_elem(&jvms, &jvm_slot);
	struct sample *s = slot_at(slot);
	__u64 java_thread, blocker, owner, number = 0;
	struct braid_layout *l;

	if (!s || !jvm || !jvm->layout.objects.virtual_klass)
		return 0;
	l = &jvm->layout;
	java_thread = java_thread_own((__u32)s->w.jvm);
	blocker = java_thread ? parked_blocker(&s->w, l, java_thread, true) : 0;
	if (!blocker || !parked_is_ownable(&s->w, l, object_klass(&s->w, l, blocker)))
		return 0;
	owner = object_field(&s->w, l, blocker + l->objects.ownable_thread);
	if (!owner || object_klass(&s->w, l, owner) != l->objects.virtual_klass ||
	    walk_read(&s->w, &number, 8, owner + l->objects.thread_id))
		return 0;
	return object_field(&s->w, l, blocker + l->objects.ownable_thread) == owner &&
			       parked_blocker(&s->w, l, java_thread, true) == blocker
		       ? number
		       : 0;
}

/* True if the blocker can be a lock. */
static __always_inline bool parked_in_lock(const struct parked *p)
{
	__u8 differs = 0;

	for (__u32 i = 0; i < sizeof(parked_stamped); i++) /* the verifier would follow every branch */
		differs |= p->class[i] ^ parked_stamped[i];
	return p->ownable || !differs;
}

#endif
