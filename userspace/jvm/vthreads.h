// SPDX-License-Identifier: Apache-2.0
/* Virtual threads that were hit: their numbers and names, as the kernel side read them, become definitions. */
#ifndef BRAID_JVM_VTHREADS_H
#define BRAID_JVM_VTHREADS_H

#include "process/processes.h"
#include "sink/sink.h"

#include <braid/event.h>

struct vthreads;

/* What is known of each is its process's. 0 or -ENOMEM. */
int vthreads_new(struct vthreads **out, struct sink *sink);
void vthreads_free(struct vthreads *v);

void vthreads_seen(struct vthreads *v, struct process *process, const struct braid_event_vthread *e);

/* The trace's id of the process's virtual thread `number`; 0 for number 0, and when there are too many (counted). */
uint32_t vthreads_id(struct vthreads *v, struct process *process, uint64_t number);

#endif
