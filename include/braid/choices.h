// SPDX-License-Identifier: Apache-2.0
/*
 * What is to be told of a JVM, beyond what every stack needs: chosen by `record -e`, granted to the agent with its
 * ring, and changed while a recording goes on by `braid ctl`.
 */
#ifndef BRAID_CHOICES_H
#define BRAID_CHOICES_H

#include <braid/types.h>

/* Bit numbers of braid_choices.wanted, in the order of `record --help`. */
enum braid_choice {
	BRAID_WANT_CPU,		/* samples of a clock; collector */
	BRAID_WANT_ALLOC,	/* sampled allocations; agent */
	BRAID_WANT_LIVE,	/* which of them were still alive at the end; agent */
	BRAID_WANT_LOCK,	/* contended monitors; agent */
	BRAID_WANT_WAIT,	/* Object.wait by the agent; parked, sleeping and blocked threads by the kernel side */
	BRAID_WANT_GC,		/* pauses, cycles and phases */
	BRAID_WANT_SAFEPOINT,	/* operations, time to safepoint, who was late */
	BRAID_WANT_THREAD,	/* starts, ends, names, CPU time */
	BRAID_WANT_VTHREAD,	/* starts and ends of virtual threads */
	BRAID_WANT_CLASS,	/* loads and unloads */
	BRAID_WANT_JIT,		/* compilations, deoptimisations */
	BRAID_WANT_EXCEPTION,	/* thrown exceptions; agent, from the JVM's start only */
	BRAID_WANT_NATIVE_BIND, /* native methods and what they were bound to; agent */
	BRAID_WANT_RESOURCE,	/* exhausted heap, threads */
	BRAID_WANTS,
};

#define BRAID_WANT(name) (1U << BRAID_WANT_##name)

/* What a JVM tells of single threads when asked to; threads are as JVM TI has them: platform threads. */
#define BRAID_PER_THREAD (BRAID_WANT(ALLOC) | BRAID_WANT(LIVE) | BRAID_WANT(LOCK) | BRAID_WANT(EXCEPTION))
#define BRAID_CHOSEN_THREADS 16

struct braid_chosen_thread {
	__u32 tid; /* for the agent: in the JVM's own PID namespace; 0: none */
	__u32 wanted;
};

struct braid_choices {
	__u32 wanted;	      /* bits of enum braid_choice; unknown ones are ignored */
	__u32 vthread_rate;   /* virtual threads told of a second, the others are counted only; 0: all */
	__u64 alloc_interval; /* mean bytes between sampled allocations of a thread */
	__u64 lock_min_ns;    /* shorter blockings are counted, not told */
	__u64 wait_min_ns;
	__u32 exception_rate; /* exceptions told of a second, the others are counted only; 0: all */
	__u32 live_max;	      /* objects that are watched at a time */
	__u32 threaded;	      /* of BRAID_PER_THREAD: these come from `threads` only */
	__u32 reserved;
	struct braid_chosen_thread threads[BRAID_CHOSEN_THREADS];
};
_Static_assert(sizeof(struct braid_choices) == 176, "choices");

#endif
