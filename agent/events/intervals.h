// SPDX-License-Identifier: Apache-2.0
/*
 * What has begun for threads that give their OS thread away meanwhile: virtual threads in front of monitors. It grows
 * with their number, up to a budget.
 */
#ifndef BRAID_AGENT_INTERVALS_H
#define BRAID_AGENT_INTERVALS_H

#include <stdbool.h>
#include <stdint.h>

#define INTERVALS_CHUNK 1024U		       /* entries that memory is got for at a time */
#define INTERVALS_MAX (256U * INTERVALS_CHUNK) /* at 64 bytes each, 16 MiB */

struct interval {
	uint64_t ns;
	uint64_t timeout_ms;
	uint64_t stack; /* that was taken then, as in struct braid_stack_request */
	uint64_t vthread;
	uint32_t generation;
};

/* Any thread, also several at once. A key has one entry; false when there is no room for another one. */
bool intervals_put(uint64_t key, const struct interval *b);
/* False when there is none with the key. */
bool intervals_take(uint64_t key, struct interval *b);
/* Forgets all, and gives the memory back. */
void intervals_clear(void);

#endif
