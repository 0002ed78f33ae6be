// SPDX-License-Identifier: Apache-2.0
/* Reads HotSpot's performance counters (jstat's) where the VM keeps them in memory, for gc.c and names.c. They exist
 * with -XX:+PerfDisableSharedMem, too, but not with -XX:-UsePerfData. */
#ifndef BRAID_AGENT_PERFDATA_H
#define BRAID_AGENT_PERFDATA_H

#include <stdbool.h>
#include <stdint.h>

struct perf_counter {
	char name[64];
	uint8_t type;	/* the letter of a Java type: 'J' long, 'B' string */
	uint32_t bytes; /* room of a string, including its end; 8 for a long */
	uint64_t data;	/* its address, which is valid while the VM lives */
};

/* Finds the variable that leads to the counters; once per process. */
void perfdata_open(void *libjvm);

/* Calls `each` for every counter that exists, until it returns false. Returns false when the VM has no counters. */
bool perfdata_each(bool (*each)(const struct perf_counter *c, void *arg), void *arg);

#endif
