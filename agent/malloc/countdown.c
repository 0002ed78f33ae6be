// SPDX-License-Identifier: Apache-2.0
#include "countdown.h"

#include "core/publish.h"
#include "core/weight.h"

#include <sys/mman.h>

#define PLACES (1U << COUNTDOWN_SHIFT)
#define TRIES 8U

struct countdown *countdowns;
static _Atomic uint64_t now_interval;

bool countdown_open(void)
{
	void *at;

	if (countdowns)
		return true;
	at = mmap(NULL, PLACES * sizeof(*countdowns), PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return false;
	countdowns = at;
	return true;
}

void countdown_set_interval(uint64_t interval)
{
	atomic_store(&now_interval, interval);
}

void countdown_forget(void)
{
	if (countdowns)
		madvise(countdowns, PLACES * sizeof(*countdowns), MADV_DONTNEED);
}

static uint64_t next_random(struct countdown *c) /* splitmix64: any state will do */
{
	uint64_t x = atomic_load_explicit(&c->random, memory_order_relaxed) + COUNTDOWN_SPREAD;

	atomic_store_explicit(&c->random, x, memory_order_relaxed);
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

uint64_t countdown_draw(struct countdown *c)
{
	uint64_t before = atomic_load_explicit(&c->interval, memory_order_relaxed);
	uint64_t interval = atomic_load_explicit(&now_interval, memory_order_relaxed);

	atomic_store_explicit(&c->interval, interval, memory_order_relaxed);
	atomic_store_explicit(&c->left, sample_distance(next_random(c), interval), memory_order_relaxed);
	return before;
}

static struct countdown *take(struct countdown *c, uintptr_t from, uintptr_t self)
{
	if (!atomic_compare_exchange_strong(&c->owner, &from, self))
		return NULL;
	atomic_store_explicit(&c->random, clock_ns() ^ self, memory_order_relaxed);
	atomic_store_explicit(&c->sampling, false, memory_order_relaxed);
	(void)countdown_draw(c);
	return c;
}

/* The thread's place is one of a few from its first one on. When others have them all, the last one is taken away. */
struct countdown *countdown_find(uintptr_t self)
{
	size_t first = self * COUNTDOWN_SPREAD >> (64 - COUNTDOWN_SHIFT);
	struct countdown *c = NULL;
	uintptr_t owner;

	for (size_t i = 0; i < TRIES; i++) {
		c = &countdowns[(first + i) % PLACES];
		owner = atomic_load_explicit(&c->owner, memory_order_relaxed);
		if (owner == self || (!owner && take(c, 0, self)))
			return c;
	}
	owner = atomic_load_explicit(&c->owner, memory_order_relaxed);
	(void)take(c, owner, self);
	return c;
}
