// SPDX-License-Identifier: Apache-2.0
/*
 * Virtual threads that are followed on and off their carriers, and have not ended: emits their lives when their JVM or
 * the recording ends. jvm.c and offcpu_events.c call this.
 */
#ifndef BRAID_JVM_VTHREAD_TIMES_H
#define BRAID_JVM_VTHREAD_TIMES_H

#include "jvms.h"

/*
 * Those of the JVM in a slot, or of all with BRAID_MAX_JVMS: emits what is known of them until `end_ns`, or until their
 * process ended, and forgets them. What is mounted is known up to vthread_times_carried().
 */
void vthread_times_end(struct jvms *jvms, uint32_t slot, uint64_t end_ns);

/* A carrier's sums when the recording ends, which those of the virtual thread that it has mounted lack. */
void vthread_times_carried(struct jvms *jvms, const struct process *process, const struct braid_thread_time *t,
			   uint64_t end_ns);

#endif
