// SPDX-License-Identifier: Apache-2.0
/* How many notices about one process a recording has room for: a JVM can make up as many as it likes. */
#ifndef BRAID_SINK_NOTICES_H
#define BRAID_SINK_NOTICES_H

#include "util/pair_map.h"

#include <stdbool.h>
#include <stdint.h>

#define NOTICES_MAX 64U
#define NOTICES_PROCESSES_MAX (3U << 14) /* that anything is said of */

struct notices {
	struct pair_map reported; /* (process, 0): how many plus one, and in `extra` how many were left out */
};

/*
 * Counts one: is there room for it? *first: it is the first that is left out. Of processes beyond the limit there is
 * nothing to count it by: notices_counts() is false.
 */
bool notices_room(struct notices *n, uint32_t process, bool *first);
bool notices_counts(const struct notices *n, uint32_t process);

/* Calls back for each process of which some were left out. */
void notices_each_left_out(const struct notices *n, void (*fn)(void *ctx, uint32_t process, uint32_t count), void *ctx);
void notices_free(struct notices *n);

#endif
