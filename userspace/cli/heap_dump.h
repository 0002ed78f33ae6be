// SPDX-License-Identifier: Apache-2.0
/* `braid heap --dump`: a heap dump of one JVM. */
#ifndef BRAID_CLI_HEAP_DUMP_H
#define BRAID_CLI_HEAP_DUMP_H

#include "snapshot.h"

/* Dumps the heap of s->pid, which is a JVM, into a new file; the configuration has the longest pause. Prints why not. */
bool heap_dump(struct snapshot *s, const char *path);

#endif
