// SPDX-License-Identifier: Apache-2.0
/* Threads off the CPU, and their CPU time: what the kernel side's events mean, and what is left to say at the end. */
#ifndef BRAID_JVM_OFFCPU_EVENTS_H
#define BRAID_JVM_OFFCPU_EVENTS_H

#include "jvms.h"

/* A THREAD_CPU: has the JVM's agent told of the thread's end already? It tells of the start before. */
bool offcpu_end_known(struct jvms *jvms, struct process *process, const struct braid_event_jvm_event *e);
/* A thread has ended, as the kernel says, called `comm`: false when its agent has told of its CPU time. */
bool offcpu_ended(struct jvms *jvms, struct thread *thread, const char *comm, struct trace_jvm_event *e);

/* When nothing is followed any more: the sleeps that go on, and the CPU time of threads that run on. */
void offcpu_finish(struct jvms *jvms);

#endif
