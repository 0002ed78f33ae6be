// SPDX-License-Identifier: Apache-2.0
/*
 * What Java threads wait for, and who owns it, read from outside and true at one moment. dump.c calls this for all
 * threads, and asleep.c for those that wait when the recording ends.
 */
#ifndef BRAID_RECORD_OWNERS_H
#define BRAID_RECORD_OWNERS_H

#include "dump_outside.h"
#include "session.h"
#include "hotspot/waits.h"

#include <stddef.h>

/* A thread and what it waits for. The caller fills in the first part. */
struct waiter {
	struct process *process; /* NULL: it has ended */
	uint64_t java_thread;	 /* 0: none */
	uint64_t exec_ns;	 /* its CPU time when it was seen off the CPU */
	uint32_t tid;
	bool in_futex; /* threads that wait for objects wait in a futex */

	enum wait_for how;
	bool is_lock;		  /* a monitor that it wants to enter, or a lock of java.util.concurrent */
	bool unread;		  /* it was not found out what the thread waits for, or whether it does */
	bool owned;		  /* the owner had it at a moment at which this thread waited */
	uint32_t owner;		  /* the trace's id of the thread; 0: none, or not known */
	uint64_t owner_number;	  /* of a virtual thread that owns it; 0: none */
	uint32_t class, vm_state; /* ids of names */
	uint64_t object;
};

struct owners {
	struct session *session;
	struct process *process; /* of the waits, for one look after the other */
	struct waits waits;
	struct dump_outside outside; /* JVMs without an agent whose Java threads have been read */
	uint64_t not_looked;	     /* threads, of which it is not known what they wait for */
};

/* All waiters: those of one process are next to each other. */
struct waiters {
	struct waiter *(*at)(void *ctx, size_t i);
	void *ctx;
	size_t count;
};

/* Fills in the second part of each. What has run since is read again, for `limit_ns` at most. */
void owners_find(struct owners *o, const struct waiters *list, uint64_t limit_ns);
/* Prepares o->waits for the JavaThreads of a process. False: nothing can be read. */
bool owners_prepare(struct owners *o, struct process *process);
/* Says what is missing. */
void owners_say_missing(const struct owners *o);
void owners_clear(struct owners *o);

#endif
