// SPDX-License-Identifier: Apache-2.0
/*
 * Virtual threads that samples or events have hit: defines them in the trace by the numbers and names that the kernel
 * side read. record/ and jvm_events.c call this.
 */
#ifndef BRAID_JVM_VTHREADS_H
#define BRAID_JVM_VTHREADS_H

#include "process/processes.h"
#include "sink/sink.h"

#include <braid/event.h>

struct vthreads;

/* Each process owns the state of its own threads. Returns 0 or -ENOMEM. */
int vthreads_new(struct vthreads **out, struct sink *sink);
void vthreads_free(struct vthreads *v);

void vthreads_seen(struct vthreads *v, struct process *process, const struct braid_event_vthread *e);

/* The trace's id of the process's virtual thread `number`. 0 for number 0, and beyond the budget, which is counted. */
uint32_t vthreads_id(struct vthreads *v, struct process *process, uint64_t number);

#endif
