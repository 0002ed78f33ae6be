// SPDX-License-Identifier: Apache-2.0
/*
 * The stacks of threads that are off the CPU when the recording ends, and perhaps were all the time: they cannot walk
 * their own stacks. Their registers and a copy of their stacks are unwound here. session.c calls this.
 */
#ifndef BRAID_RECORD_ASLEEP_H
#define BRAID_RECORD_ASLEEP_H

#include "session.h"

struct asleep;

/* To be called when the kernel side has stopped. 0 or -ENOMEM. */
int asleep_new(struct asleep **out, struct session *s);
/* The number of stacks that were left out is written to the trace. */
void asleep_free(struct asleep *a);

/* The node of the thread's stack; 0: it has run since, or its stack cannot be read. `ctx` is the struct asleep, or NULL. */
uint32_t asleep_node(void *ctx, struct process *process, uint32_t tid);

#endif
