// SPDX-License-Identifier: Apache-2.0
/* HotSpot's performance counters, read in the memory in which the VM keeps them: there with -XX:+PerfDisableSharedMem,
 * too, and not with -XX:-UsePerfData. */
#ifndef BRAID_AGENT_PERFDATA_H
#define BRAID_AGENT_PERFDATA_H

#include <stdbool.h>
#include <stdint.h>

struct perf_counter {
	char name[64];
	uint8_t type;	/* the letter of a Java type: 'J' long, 'B' string */
	uint32_t bytes; /* that a string may have, its end included; 8 for a long */
	uint64_t data;	/* its address: never moved or unmapped while the VM lives */
};

/* Where the VM says that they are; once per process. */
void perfdata_open(void *libjvm);

/* Tells `each` of every counter that exists by now, until it returns false. False when the VM has none. */
bool perfdata_each(bool (*each)(const struct perf_counter *c, void *arg), void *arg);

#endif
