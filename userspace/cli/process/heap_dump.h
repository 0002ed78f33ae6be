// SPDX-License-Identifier: Apache-2.0
/* `braid heap --dump`: a heap dump of one JVM. */
#ifndef BRAID_CLI_HEAP_DUMP_H
#define BRAID_CLI_HEAP_DUMP_H

#include "snapshot.h"

/*
 * Dumps the heap of s->pid, which is a JVM, into a new file; the configuration has the longest pause. Before, watches
 * sampled allocations for `watch_ns`; their stacks are in the dump. Prints why not.
 */
bool heap_dump(struct snapshot *s, const char *path, uint64_t watch_ns);

struct by_root;

/* The same copy, counted by root. The time that the JVM stood still is in *pause_ns. */
bool heap_dump_by_root(struct snapshot *s, struct by_root *r, uint64_t *pause_ns);

/* Whether there is memory for a copy of a process; `need` and `room` are what it needs, and what is free for it. */
bool heap_copy_has_room(pid_t pid, uint64_t *need, uint64_t *room);

/* Prints the estimate for a copy. */
void heap_copy_print(const struct trace_jvm_event *estimate);

#endif
