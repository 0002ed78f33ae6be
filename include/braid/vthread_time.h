// SPDX-License-Identifier: Apache-2.0
/*
 * Virtual threads that are followed on and off their carriers: maps that the kernel side and the collector share.
 */
#ifndef BRAID_VTHREAD_TIME_H
#define BRAID_VTHREAD_TIME_H

#include <braid/event.h>

/*
 * Value of the map `vthread_counts`: of all, of a user by number in `user_shares`, and of the JVM in a slot. The kernel
 * side counts the entries that it adds and removes. The collector subtracts those that it removes.
 */
struct braid_vthread_count {
	__s64 entries; /* of `vthread_times` */
	__u64 full;    /* of a JVM: there was no room for one, so those without an entry may have been mounted before */
};
#define BRAID_VTHREADS_OF_ALL 0U
#define BRAID_VTHREADS_OF_USER(user) (1U + (user))
#define BRAID_VTHREADS_OF_JVM(slot) (1U + BRAID_USERS + (slot))
#define BRAID_VTHREAD_COUNTS BRAID_VTHREADS_OF_JVM(BRAID_MAX_JVMS)

/* Key of the map `vthread_times`. */
struct braid_vthread_key {
	__u64 number; /* threadId */
	__u32 jvm;    /* slot and generation */
	__u32 reserved;
};

/* What a virtual thread is parked for, and who had it when it was about to be unmounted. */
struct braid_vthread_park {
	__u64 owner_vthread; /* the number of a virtual thread that owned it; 0: none, or not known */
	__u32 owner;	     /* an OS thread that did, in the JVM's pid namespace; the same */
	__u32 sleep;	     /* BRAID_SLEEP_*, of `class`; 0: not known */
	char class[BRAID_TEXT_MAX];
};

/*
 * Value of that map: a virtual thread that is followed on and off its carriers. Its sums are those of its carriers
 * while it was mounted. While it is, they lack what its carrier's sums are at the next unmount, and wrap around.
 */
struct braid_vthread_time {
	__u64 since_ns; /* its whole time is observed since then */
	__u64 off_ns;	/* unmounted since then; 0: it is mounted */
	__u64 run_ns;
	__u64 ready_ns;
	__u64 counted[BRAID_OFFCPU_CLASSES]; /* as in struct braid_thread_time */
	__u64 counted_ns[BRAID_OFFCPU_CLASSES];
	struct braid_stack_ref start; /* the stack that was taken when it was unmounted */
	__u32 pid;		      /* 0: it is not complete yet, and not counted */
	__u16 slot;		      /* whose shares it counts in, and */
	__u16 user;		      /* of `user_shares` */
	__u32 carrier;		      /* its tid; 0: none */
	__u32 class;		      /* BRAID_OFFCPU_UNMOUNTED or BRAID_OFFCPU_CARRIER: why it is unmounted */
	__u32 was_long; /* the last time was reported, or it is the first: the stack is taken at its start */
	__u32 flags;	/* BRAID_VTHREAD_* */
	struct braid_vthread_park park;
};
_Static_assert(sizeof(struct braid_vthread_time) == 32 + 16 * BRAID_OFFCPU_CLASSES + 40 + 24 + 80, "vthread time");

/* Puts it into an event of the thread, which has nothing else there. */
static inline void braid_vthread_park_to(struct braid_event_jvm_event *e, const struct braid_vthread_park *park)
{
	e->sleep = BRAID_SLEEP_LONG | park->sleep | (park->owner_vthread ? BRAID_SLEEP_VIRTUAL : 0);
	e->event.number = park->owner_vthread;
	e->event.other_tid = park->owner;
	if (park->sleep & BRAID_SLEEP_BLOCKER)
		__builtin_memcpy(e->text, park->class, sizeof(e->text));
	if (park->sleep & (BRAID_SLEEP_BLOCKER | BRAID_SLEEP_NO_BLOCKER) && !(park->sleep & BRAID_SLEEP_AFTER))
		e->event.flags |= BRAID_OFFCPU_LOOKED;
}

#define BRAID_VTHREAD_BEFORE 1U /* unmounted since before it was observed */
#define BRAID_VTHREAD_ENDED 2U	/* its carrier has ended, or its process; it lived until off_ns */

#endif
