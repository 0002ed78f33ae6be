// SPDX-License-Identifier: Apache-2.0
/* Limits the number of notices about one process, since a JVM can cause any number of them. Only sink.c calls this. */
#ifndef BRAID_SINK_NOTICES_H
#define BRAID_SINK_NOTICES_H

#include "util/pair_map.h"

#include <stdbool.h>
#include <stdint.h>

#define NOTICES_MAX 64U
#define NOTICES_PROCESSES_MAX (3U << 14) /* processes with notices */

struct notices {
	struct pair_map reported; /* (process, 0): the count plus one; `extra`: how many were left out */
};

/*
 * Counts one notice, and returns whether there is room for it. *first is set for the first that is left out. A process
 * beyond NOTICES_PROCESSES_MAX has no entry to count in: notices_counts() is false for it.
 */
bool notices_room(struct notices *n, uint32_t process, bool *first);
bool notices_counts(const struct notices *n, uint32_t process);

/* Calls back for each process of which notices were left out. */
void notices_each_left_out(const struct notices *n, void (*fn)(void *ctx, uint32_t process, uint32_t count), void *ctx);
void notices_free(struct notices *n);

#endif
