// SPDX-License-Identifier: Apache-2.0
/*
 * A table of intervals that have begun for threads that unmount meanwhile: virtual threads that block on monitors.
 * monitors.c uses it. It grows with their number, up to a budget.
 */
#ifndef BRAID_AGENT_INTERVALS_H
#define BRAID_AGENT_INTERVALS_H

#include <stdbool.h>
#include <stdint.h>

#define INTERVALS_CHUNK 1024U		       /* entries allocated at a time */
#define INTERVALS_MAX (256U * INTERVALS_CHUNK) /* at 64 bytes each, 16 MiB */

struct interval {
	uint64_t ns;
	uint64_t timeout_ms;
	uint64_t stack; /* taken at the beginning, see struct braid_stack_request */
	uint64_t vthread;
	uint64_t span;
	uint32_t generation;
};

/* Any thread may call these, several at once. A key has one entry. False when the table is full. */
bool intervals_put(uint64_t key, const struct interval *b);
/* Removes the entry of the key; false when there is none. */
bool intervals_take(uint64_t key, struct interval *b);
/* Removes all entries and frees the memory. */
void intervals_clear(void);

#endif
