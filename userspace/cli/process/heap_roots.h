// SPDX-License-Identifier: Apache-2.0
/* `braid heap PID --by root`: what is reachable in the heap of one JVM, by the root that leads to it. */
#ifndef BRAID_CLI_HEAP_ROOTS_H
#define BRAID_CLI_HEAP_ROOTS_H

#include "snapshot.h"

/* Of s->pid, which is a JVM; the configuration has the longest pause. Prints `rows` rows, or why there are none. */
bool heap_roots(struct snapshot *s, unsigned rows);

#endif
