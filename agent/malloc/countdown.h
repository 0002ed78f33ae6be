// SPDX-License-Identifier: Apache-2.0
/*
 * The bytes that each thread may still allocate until one of its allocations is sampled. hooks.c uses it in every
 * allocation of the process, so it takes no lock, allocates nothing, and has no thread-local storage: a library that is
 * loaded late gets that by a call, which may allocate, or not at all.
 *
 * A thread has a place by the address of its own descriptor. A place that is taken away from it, or shared with another
 * thread for a moment, does no harm: distances have no memory, so a new one is as good as the rest of the old one.
 */
#ifndef BRAID_AGENT_COUNTDOWN_H
#define BRAID_AGENT_COUNTDOWN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define COUNTDOWN_SHIFT 13 /* places, as a power of two */
#define COUNTDOWN_SPREAD 0x9e3779b97f4a7c15ULL

struct countdown {
	_Atomic uintptr_t owner; /* 0: nobody */
	_Atomic uint64_t left;
	_Atomic uint64_t interval; /* by which `left` was drawn */
	_Atomic uint64_t random;
	_Atomic bool sampling; /* the thread reports a sample */
} __attribute__((aligned(64)));

extern struct countdown *countdowns;

/* Once in the life of the process. False: no memory. */
bool countdown_open(void);
/* All threads draw again, by this interval, the one that they have drawn by counts until then. */
void countdown_set_interval(uint64_t interval);
void countdown_forget(void);

struct countdown *countdown_find(uintptr_t self);
/* The next distance. Returns the interval of the last one. */
uint64_t countdown_draw(struct countdown *c);

static inline struct countdown *countdown_own(void)
{
	uintptr_t self;
	struct countdown *c;

	__asm__("mov %%fs:0, %0" : "=r"(self)); /* the ABI of x86-64: the thread's descriptor begins with its address */
	c = &countdowns[self * COUNTDOWN_SPREAD >> (64 - COUNTDOWN_SHIFT)];
	return atomic_load_explicit(&c->owner, memory_order_relaxed) == self ? c : countdown_find(self);
}

/* True when the thread's allocation is sampled. */
static inline bool countdown_hits(struct countdown *c, uint64_t size)
{
	uint64_t left = atomic_load_explicit(&c->left, memory_order_relaxed);

	if (size >= left)
		return true;
	atomic_store_explicit(&c->left, left - size, memory_order_relaxed);
	return false;
}

#endif
