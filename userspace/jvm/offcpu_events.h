// SPDX-License-Identifier: Apache-2.0
/*
 * Events of the kernel side about blocked threads and CPU time of threads: completes them, and emits what is still open
 * at the end. jvm_events.c and record/ call this.
 */
#ifndef BRAID_JVM_OFFCPU_EVENTS_H
#define BRAID_JVM_OFFCPU_EVENTS_H

#include "jvms.h"

/*
 * For a THREAD_CPU event: whether the agent's report of the thread's end has been read. The agent has reported its
 * start earlier.
 */
bool offcpu_end_known(struct jvms *jvms, struct process *process, const struct braid_event_jvm_event *e);
/* The kernel reports the end of a thread called `comm`. False when the agent has reported its CPU time. */
bool offcpu_ended(struct jvms *jvms, struct thread *thread, const char *comm, struct trace_jvm_event *e);

/*
 * To be called when no thread is followed any more: emits sleeps in progress, and the CPU time of running threads.
 * `known` returns what is known of a sleeping thread.
 */
struct asleep_known {
	uint32_t node; /* 0: nothing */
	uint32_t span;
};
typedef struct asleep_known (*asleep_known_fn)(void *ctx, struct process *process, uint32_t tid);
void offcpu_finish(struct jvms *jvms, asleep_known_fn known, void *ctx);

#endif
