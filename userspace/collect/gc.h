// SPDX-License-Identifier: Apache-2.0
/* Garbage collection as the agent tells of it: records become events. */
#ifndef BRAID_COLLECT_GC_H
#define BRAID_COLLECT_GC_H

#include "jvm.h"

/* What is known of a JVM's pauses. */
struct gc {
	uint64_t pauses;
	uint64_t open; /* number of the pause that is on; 0: none */
	uint64_t open_ns;
	uint64_t open_used;
};

/* A GC_START or GC_FINISH. False: there is something wrong with it. */
bool gc_on_record(struct gc *gc, struct session *s, const struct process *process, const struct braid_rec *rec,
		  size_t size);

/* The recording ends: a pause that has not ended is told as far as it is known. */
void gc_end(struct gc *gc, struct session *s, const struct process *process);

/* What people call what HotSpot names `name` in its counters. */
const char *gc_collector_name(const char *name);

#endif
