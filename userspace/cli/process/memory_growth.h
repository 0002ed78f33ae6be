// SPDX-License-Identifier: Apache-2.0
/* `braid memory --watch`: by how much each part of a resident set grows. */
#ifndef BRAID_CLI_MEMORY_GROWTH_H
#define BRAID_CLI_MEMORY_GROWTH_H

#include "memory_sums.h"

struct memory_watch {
	pid_t pid;
	uint64_t watch_ns;
	bool ask, as_json;
	bool stacks; /* page faults are recorded meanwhile */
	bool attach; /* for them, the agent is loaded into a JVM */
};

/*
 * Reads a process twice, the second time after `watch_ns` or when the user interrupts. False: a message has said why.
 */
bool memory_growth_print(const struct memory_watch *m);

#endif
