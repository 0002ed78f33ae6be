// SPDX-License-Identifier: Apache-2.0
#include "sampled.h"

#include <stddef.h>
#include <sys/mman.h>

/*
 * An address has two buckets of eight keys, a cache line each; a search looks at both. So no search is long, and a key
 * that is taken leaves a free one, without traces.
 */
#define WAYS 8U
#define BUCKETS (SAMPLED_MAX / WAYS)
#define GROUPS (1U << SAMPLED_FILTER_SHIFT)
#define SPREAD 0x9e3779b97f4a7c15ULL
#define CLAIMED 1U /* bit of a key while its fields are written: addresses are even */

struct fields {
	_Atomic uint64_t number, size, weight, time_ns, function;
};

static struct table {
	_Atomic uintptr_t keys[SAMPLED_MAX]; /* 0: free */
	struct fields fields[SAMPLED_MAX];
	_Atomic uint8_t filter[GROUPS]; /* counts; UINT8_MAX stays */
} * table;

_Atomic uint8_t *sampled_filter;
static _Atomic uint32_t used, halvings;

bool sampled_open(void)
{
	void *at;

	if (table)
		return true;
	at = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return false;
	table = at;
	sampled_filter = table->filter;
	return true;
}

void sampled_forget(void)
{
	if (table)
		madvise(table, sizeof(*table), MADV_DONTNEED);
	atomic_store(&used, 0);
	atomic_store(&halvings, 0);
}

static void filter_change(uintptr_t key, int by)
{
	_Atomic uint8_t *count = &table->filter[(uint64_t)key * SPREAD >> (64 - SAMPLED_FILTER_SHIFT)];
	uint8_t now = atomic_load_explicit(count, memory_order_relaxed);

	while (now != UINT8_MAX && (by > 0 || now) &&
	       !atomic_compare_exchange_weak_explicit(count, &now, (uint8_t)(now + by), memory_order_relaxed,
						      memory_order_relaxed))
		;
}

/* The number of a place among the 16 of a key. */
static size_t place(uintptr_t key, size_t i)
{
	uint64_t hash = (uint64_t)key * SPREAD;
	size_t bucket = (size_t)(i < WAYS ? hash >> 32 : hash >> 12) % BUCKETS;

	return bucket * WAYS + i % WAYS;
}

static void fields_set(struct fields *f, const struct sampled *s)
{
	atomic_store_explicit(&f->number, s->number, memory_order_relaxed);
	atomic_store_explicit(&f->size, s->size, memory_order_relaxed);
	atomic_store_explicit(&f->weight, s->weight, memory_order_relaxed);
	atomic_store_explicit(&f->time_ns, s->time_ns, memory_order_relaxed);
	atomic_store_explicit(&f->function, s->function, memory_order_relaxed);
}

static struct sampled fields_get(const struct fields *f)
{
	return (struct sampled){.number = atomic_load_explicit(&f->number, memory_order_relaxed),
				.size = atomic_load_explicit(&f->size, memory_order_relaxed),
				.weight = atomic_load_explicit(&f->weight, memory_order_relaxed),
				.time_ns = atomic_load_explicit(&f->time_ns, memory_order_relaxed),
				.function = atomic_load_explicit(&f->function, memory_order_relaxed)};
}

/* Numbers are spread, so that what is kept does not depend on the order of allocations. */
static bool is_kept(uint64_t number, uint32_t halved)
{
	uint64_t x = number * SPREAD;

	x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9ULL;
	return !halved || !(x >> (64 - halved));
}

/* The place of a key, or SAMPLED_MAX. */
static size_t find(uintptr_t key)
{
	for (size_t i = 0; i < 2 * (size_t)WAYS; i++) {
		size_t at = place(key, i);

		if (atomic_load_explicit(&table->keys[at], memory_order_acquire) == key)
			return at;
	}
	return SAMPLED_MAX;
}

static bool claim(size_t at, uintptr_t from, uintptr_t key)
{
	return atomic_compare_exchange_strong_explicit(&table->keys[at], &from, key | CLAIMED, memory_order_acquire,
						       memory_order_relaxed);
}

static uint32_t used_of(uintptr_t key, size_t first)
{
	uint32_t count = 0;

	for (size_t i = first; i < first + WAYS; i++)
		count += atomic_load_explicit(&table->keys[place(key, i)], memory_order_relaxed) != 0;
	return count;
}

/* A free place that is claimed for the key, in the emptier bucket, so that hardly any is ever full. Or SAMPLED_MAX. */
static size_t claim_free(uintptr_t key)
{
	size_t first = used_of(key, 0) > used_of(key, WAYS) ? WAYS : 0;

	for (size_t i = 0; i < 2 * (size_t)WAYS; i++) {
		size_t at = place(key, (first + i) % (2 * (size_t)WAYS));

		if (!atomic_load_explicit(&table->keys[at], memory_order_relaxed) && claim(at, 0, key))
			return at;
	}
	return SAMPLED_MAX;
}

bool sampled_put(const void *address, const struct sampled *s)
{
	uintptr_t key = (uintptr_t)address;
	struct sampled freed;
	size_t at;

	(void)sampled_take(address, &freed);
	if (!is_kept(s->number, atomic_load_explicit(&halvings, memory_order_relaxed)))
		return true;
	at = claim_free(key);
	if (at == SAMPLED_MAX)
		return false;
	fields_set(&table->fields[at], s);
	filter_change(key, 1);
	atomic_fetch_add_explicit(&used, 1, memory_order_relaxed);
	atomic_store_explicit(&table->keys[at], key, memory_order_release);
	return true;
}

/* Takes what is at the place if it still has the key. */
static bool take_at(size_t at, uintptr_t key)
{
	if (!atomic_compare_exchange_strong_explicit(&table->keys[at], &key, 0, memory_order_release,
						     memory_order_relaxed))
		return false;
	filter_change(key, -1);
	atomic_fetch_sub_explicit(&used, 1, memory_order_relaxed);
	return true;
}

bool sampled_take(const void *address, struct sampled *s)
{
	uintptr_t key = (uintptr_t)address;
	size_t at = key ? find(key) : SAMPLED_MAX;

	if (at == SAMPLED_MAX)
		return false;
	*s = fields_get(&table->fields[at]);
	return take_at(at, key);
}

/* What is at a place; false: nothing, or it changes. */
static bool look(size_t at, uintptr_t *key, struct sampled *s)
{
	const struct fields *f = &table->fields[at];

	*key = atomic_load_explicit(&table->keys[at], memory_order_acquire);
	if (!*key || *key & CLAIMED)
		return false;
	*s = fields_get(f);
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&table->keys[at], memory_order_relaxed) == *key &&
	       atomic_load_explicit(&f->number, memory_order_relaxed) == s->number;
}

void sampled_thin_out(void)
{
	uint32_t halved = atomic_load(&halvings) + 1;
	struct sampled s;
	uintptr_t key;

	if (!table || atomic_load(&used) < SAMPLED_MAX / 2)
		return;
	atomic_store(&halvings, halved);
	for (size_t at = 0; at < SAMPLED_MAX; at++)
		if (look(at, &key, &s) && !is_kept(s.number, halved))
			(void)take_at(at, key);
}

void sampled_walk(void (*each)(const struct sampled *s))
{
	uint32_t halved = atomic_load(&halvings);
	struct sampled s;
	uintptr_t key;

	for (size_t at = 0; table && at < SAMPLED_MAX; at++) {
		if (!look(at, &key, &s) || !is_kept(s.number, halved))
			continue;
		s.weight <<= halved;
		each(&s);
	}
}
