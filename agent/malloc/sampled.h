// SPDX-License-Identifier: Apache-2.0
/*
 * The sampled allocations that were not freed yet, by address. Any thread puts and takes them inside malloc and free:
 * no lock, no allocation. A filter of a byte for each of 65,536 groups of addresses decides for nearly all calls of
 * free that there is nothing to take.
 *
 * The room is limited. When half of it is used, every second allocation is given up, by a number that each
 * has drawn, and from then on every second new one is skipped: so at any time all have had the same chance to be kept,
 * one in 2^halvings, and their weights grow by the inverse.
 */
#ifndef BRAID_AGENT_SAMPLED_H
#define BRAID_AGENT_SAMPLED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SAMPLED_MAX 65536U
#define SAMPLED_FILTER_SHIFT 16

struct sampled {
	uint64_t number; /* in ascending order of allocations; never 0 */
	uint64_t size;
	uint64_t weight;
	uint64_t time_ns;
	uint64_t function;
};

extern _Atomic uint8_t *sampled_filter;

/* Once in the life of the process. False: no memory. */
bool sampled_open(void);
/* Forgets all, and gives the memory back. Nothing is put meanwhile. */
void sampled_forget(void);

/* False when there is no room; true also for what is skipped. An older one at the address was freed unseen. */
bool sampled_put(const void *address, const struct sampled *s);
/* Whether sampled_take() may find the address. */
static inline bool sampled_may_have(const void *address)
{
	uint64_t group = (uint64_t)(uintptr_t)address * 0x9e3779b97f4a7c15ULL >> (64 - SAMPLED_FILTER_SHIFT);

	return atomic_load_explicit(&sampled_filter[group], memory_order_relaxed);
}
bool sampled_take(const void *address, struct sampled *s);

/* The functions below are for one thread. */
/* Makes room if little is left. */
void sampled_thin_out(void);
/* Calls `each` for all that are there, with their weights grown. */
void sampled_walk(void (*each)(const struct sampled *s));

#endif
