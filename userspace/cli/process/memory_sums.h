// SPDX-License-Identifier: Apache-2.0
/* The resident set of a process by owner. */
#ifndef BRAID_CLI_MEMORY_SUMS_H
#define BRAID_CLI_MEMORY_SUMS_H

#include "resident/resident.h"

struct memory_sum {
	const char *name; /* the parts' */
	uint64_t resident, swapped, size, parts;
};

struct memory_sums {
	VEC(struct memory_sum) all; /* the largest first */
};

/* Who owns the part. */
const char *memory_owner_name(const struct resident_part *p);

/*
 * Reads a process, the largest parts first; with `ask`, its JVM names parts. Prints the reason and returns false on
 * failure.
 */
bool memory_read(struct resident *r, struct memory_sums *s, pid_t pid, bool ask);

/* The sum of that name; NULL: there is none. */
struct memory_sum *memory_sum_find(const struct memory_sums *s, const char *name);
void memory_sums_free(struct memory_sums *s);

#endif
