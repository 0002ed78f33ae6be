// SPDX-License-Identifier: Apache-2.0
/* How many objects a heap of ZGC has, estimated from some of its pages. histogram.c and heap_copy.c call it. */
#ifndef BRAID_AGENT_Z_OBJECTS_H
#define BRAID_AGENT_Z_OBJECTS_H

#include <stdint.h>

/*
 * Objects, also those that are not reachable any more and have not been collected; 0: not known. It reads while the program
 * runs, some megabytes at most, and stops nothing.
 */
uint64_t z_objects_estimate(void);

#endif
