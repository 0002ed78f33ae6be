// SPDX-License-Identifier: Apache-2.0
/*
 * What several rules look at, and no view has: the waits of all threads by what they are for, locks, and how steadily
 * events came. One pass over the lives of threads, and one over the events.
 */
#ifndef BRAID_DIAGNOSE_FACTS_H
#define BRAID_DIAGNOSE_FACTS_H

#include <views/views.h>
#include <wall/wall.h>

/* What is on a stack. */
#define MARK_POOL 0x1U	   /* a worker of a pool, in a task */
#define MARK_RESOLVER 0x2U /* a host's name is looked up */
#define MARK_LOG 0x4U	   /* a library that logs */
#define MARK_GC 0x8U	   /* a collection that the program asked for */
#define MARK_YIELD 0x10U   /* the thread gives its CPU away */

/* What a thread waited for, by its system call and its stack. */
enum wait_class { WAIT_LOG, WAIT_SYNC, WAIT_DISK, WAIT_DNS, WAIT_FAULT, WAIT_TIMER, WAIT_GC_CALL, WAIT_OTHER, WAITS };

struct fact_place {
	enum wait_class class;
	enum wall_state state;
	uint32_t site;	    /* an xframe, ROW_NONE: not known */
	const char *object; /* of the longest; "": not known */
	uint64_t count, ns, max_ns;
};

struct fact_lock {
	const char *name;    /* its class; "": not known */
	const char *owner;   /* thread that released it last to the one that waited longest; "": not known */
	uint32_t site;	     /* of the longest wait, an xframe */
	uint32_t owner_site; /* where the owner released it, an xframe or ROW_NONE */
	uint64_t count, ns, max_ns, max_at_ns;
};

/* One for each of wall->threads. */
struct fact_thread {
	uint64_t pool_ns;   /* blocked in tasks, not for locks */
	uint64_t pinned_ns; /* blocked with a virtual thread mounted */
	uint64_t for_it_ns; /* what others waited until it woke them */
	uint64_t stuck_ns;  /* at the end, in a wait for a monitor that nobody has ended */
	uint32_t pool_site; /* of the longest such wait, an xframe */
	uint32_t pinned_site, stuck_site, for_it_site;
	uint64_t pool_max_ns, pinned_max_ns, for_it_max_ns;
	bool waits[WAITS]; /* what it waited for at all */
};

/* How steadily events came: the recording in four equal parts. */
#define PARTS 4
struct fact_rate {
	uint64_t part[PARTS];
};

enum rate_of { RATE_DEOPT, RATE_CLASS_LOAD, RATE_CLASS_UNLOAD, RATE_THREAD_START, RATES };

struct facts {
	const struct analysis *an;
	uint64_t ns;	   /* the time that is looked at */
	bool idle;	   /* shares are of all the time of threads, idle or not */
	struct wall *wall; /* NULL: no times off the CPU were recorded */
	uint8_t *marks;	   /* of each row of a->nodes */
	struct fact_thread *threads;
	uint64_t wall_ns[WALL_STATES];	  /* of all OS threads */
	uint64_t counted_ns[WALL_STATES]; /* what of it is in times that were too short for records of their own */
	VEC(struct fact_place) places;	  /* the longest first */
	uint64_t waited_ns[WAITS];
	uint64_t own_ns
		[WAITS]; /* of threads that waited for such: their time, but what they were idle or waited for a CPU */
	VEC(struct fact_lock) locks; /* the longest first */
	struct fact_rate rates[RATES];
	struct u64map place_of, lock_of; /* while they are filled */
};

/* 0 or -ENOMEM. */
int facts_new(struct facts **out, const struct views *v, bool idle);
void facts_free(struct facts *f);

/* The time of a thread that shares are of. */
uint64_t facts_life_ns(const struct facts *f, const struct wall_thread *t);
/* Events a second in the part of the recording with the fewest: what comes at the start only is no rate. */
double facts_steady(const struct facts *f, enum rate_of rate);
/* The heaviest place of a class, NULL: there is none. */
const struct fact_place *facts_place(const struct facts *f, enum wait_class class);

/* ---- marks.c ---- */
/* One byte for each row of a->nodes; NULL without memory. */
uint8_t *marks_new(const struct analysis *an);

#endif
