// SPDX-License-Identifier: Apache-2.0
/* The stacks that have allocated watched objects, taken from a recording that goes on. */
#ifndef BRAID_CLI_HEAP_STACKS_H
#define BRAID_CLI_HEAP_STACKS_H

#include "analyze/analyzer.h"
#include "heapdump/allocated.h"

/*
 * Takes the Java frames of all allocations with a number that have been recorded until now. 0 or a negative errno;
 * heap_stacks_free() is needed in either case.
 */
int heap_stacks_read(struct heapdump_allocated *to, const struct analyzer *a);
void heap_stacks_free(struct heapdump_allocated *a);

#endif
