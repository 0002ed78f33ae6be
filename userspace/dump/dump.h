// SPDX-License-Identifier: Apache-2.0
/*
 * A thread dump of one process, from the DUMP events of a trace: its threads with their states, groups of threads with
 * equal stacks, and deadlocks. dumps.h finds the dumps of a trace. The exports print them.
 */
#ifndef BRAID_DUMP_DUMP_H
#define BRAID_DUMP_DUMP_H

#include <stdbool.h>
#include <stdint.h>

#include <analyze/analysis.h>

#include "cycles.h"

/* A thread of the VM's or the program's, or a virtual thread, or several of these alike that have no names. */
struct dump_thread {
	const struct jvm_event_row *row;
	const struct jvm_event_row *wait; /* what it waits for: the row itself, or its carrier's */
	uint32_t thread;		  /* row of a->threads; of a virtual thread: its carrier, or ROW_NONE */
	uint32_t stack;			  /* row of a->nodes, ROW_NONE: none */
	uint32_t rank;			  /* of the stack: the same for equal stacks */
	uint32_t tid;			  /* 0: a virtual thread */
	uint64_t number;		  /* of a virtual thread; 0: several */
	uint64_t count;			  /* of threads: 1, or several */
	const char *name;
	const char *java;   /* java.lang.Thread.State, "" for a thread that is not Java's */
	const char *kernel; /* "running", "runnable", "sleeping", "disk", "stopped"; "" for a virtual thread */
	const char *mount;  /* "new", "queued", "mounted", "unmounted"; "" for any other thread */
	const char *reason; /* why it is off the CPU, "" if it is not blocked */
	const char *class;  /* of the object that it waits for, or "" */
	const char *vm;	    /* what the VM says that it does, see waits_state(); "": it does not */
	uint32_t mounted;   /* index of the virtual thread that it carries, or CYCLE_NONE */
	uint32_t owner;	    /* index of the thread that owns the object, or CYCLE_NONE */
	uint32_t deadlock;  /* number of the deadlock that it is in, from 1, or 0 */
};

/* Threads with the same stack, states and class. */
struct dump_group {
	size_t first, count; /* in threads */
	uint64_t threads;
};

/* An event of a dump: which row of a->events, and what all of the dump have in common. */
struct dump_row {
	uint64_t time_ns;
	uint32_t process;
	size_t row;
};

/* One dump of one process, with its events. dumps.h finds them. */
struct dump_ref {
	uint32_t process, pid;
	uint64_t time_ns;
	const struct dump_row *rows;
	size_t count;
};

struct dump_view {
	const struct analysis *an;
	uint32_t process; /* id */
	uint32_t pid;
	uint64_t time_ns;
	VEC(struct dump_thread) threads; /* by group, tid and number */
	VEC(struct dump_group) groups;	 /* the largest first */
	uint32_t *deadlock_first;	 /* the first thread of each deadlock */
	size_t deadlocks;
	uint64_t unread; /* threads, of which it is not known what they wait for */
};

/* Without `grouped` there are no groups, and threads are in no order. 0 or -ENOMEM. */
int dump_view_new(struct dump_view **out, const struct analysis *an, const struct dump_ref *ref, bool grouped);
void dump_view_free(struct dump_view *v);

static inline bool dump_is_virtual(const struct dump_thread *t)
{
	return *t->mount;
}

/* The number of virtual or other threads; `state` NULL: in any state of the kernel or of mounting. */
uint64_t dump_view_count(const struct dump_view *v, bool virtual, const char *state);

/* The first thread of a deadlock; each of its threads waits for its owner. */
const struct dump_thread *dump_deadlock(const struct dump_view *v, size_t number);

#endif
