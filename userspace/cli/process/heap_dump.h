// SPDX-License-Identifier: Apache-2.0
/* `braid heap --dump`: a heap dump of one JVM. */
#ifndef BRAID_CLI_HEAP_DUMP_H
#define BRAID_CLI_HEAP_DUMP_H

#include "snapshot.h"

/*
 * Dumps the heap of s->pid, which is a JVM, into a new file; the configuration has the longest pause. Before, watches sampled allocations
 * for `watch_ns`; their stacks are in the dump. Prints why not.
 */
bool heap_dump(struct snapshot *s, const char *path, uint64_t watch_ns);

#endif
