// SPDX-License-Identifier: Apache-2.0
/*
 * How many objects a heap of ZGC has, and of what size, estimated from some of its pages. histogram.c and heap_copy.c
 * call it.
 */
#ifndef BRAID_AGENT_Z_OBJECTS_H
#define BRAID_AGENT_Z_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

/* Also those that are not reachable any more and have not been collected. */
struct z_objects {
	uint64_t count;
	uint64_t instances;   /* of these; the others are arrays */
	uint64_t words;	      /* of instances, without their first one */
	uint64_t array_bytes; /* of arrays, with their headers */
	bool generational;    /* the collector with two generations, from 21 on */
};

/* False: it is not known. It reads while the program runs, some megabytes at most, and stops nothing. */
bool z_objects_estimate(struct z_objects *to);

#endif
