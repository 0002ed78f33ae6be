// SPDX-License-Identifier: Apache-2.0
/*
 * Events of the kernel side about blocked threads and CPU time of threads: completes them, and emits what is still open
 * at the end. jvm_events.c and record/ call this.
 */
#ifndef BRAID_JVM_OFFCPU_EVENTS_H
#define BRAID_JVM_OFFCPU_EVENTS_H

#include "jvms.h"

/*
 * A thread that waits for a monitor may wake by a timer and look (JDKs before 24). To be called with each of its OFFCPU
 * and LOCK events: the times that belong to one wait are a wait as a whole if it does not end.
 */
void offcpu_note_nap(struct thread *thread, const struct trace_jvm_event *e);

/*
 * For a THREAD_CPU event: whether the agent's report of the thread's end has been read. The agent has reported its
 * start earlier.
 */
bool offcpu_end_known(struct jvms *jvms, struct process *process, const struct braid_event_jvm_event *e);
/* The kernel reports the end of a thread called `comm`. False when the agent has reported its CPU time. */
bool offcpu_ended(struct jvms *jvms, struct thread *thread, const char *comm, struct trace_jvm_event *e);

/* What was read from outside of a thread off the CPU. 0: it is not known. */
struct asleep_known {
	uint32_t node;
	uint32_t span;
	uint32_t object;	/* id of the name of what it waits for: a file, a peer, a class */
	uint32_t class;		/* enum braid_offcpu_class of the file that it waits for */
	uint64_t number;	/* of that file: its inode */
	uint32_t owner;		/* id of the thread that owned what it waited for when that was read */
	uint32_t owner_vthread; /* or of that virtual thread */
	bool is_lock;		/* it waits for a monitor, or for a lock of java.util.concurrent: */
	bool is_parked;
	bool looked; /* the object is what it waits for, and if there is no owner, it has none */
};

/*
 * To be called when no thread is followed any more: emits sleeps in progress, and the CPU time of running threads.
 * `known` returns what is known of a sleeping thread.
 */
typedef struct asleep_known (*asleep_known_fn)(void *ctx, struct process *process, uint32_t tid);
void offcpu_finish(struct jvms *jvms, asleep_known_fn known, void *ctx);

#endif
