// SPDX-License-Identifier: Apache-2.0
/*
 * A map from two 64-bit keys to a 32-bit value that is never 0: open addressing, no deletion. The collector looks up
 * every frame of every new stack in one, so it avoids a uthash table's allocation and pointer chase per entry.
 */
#ifndef BRAID_UTIL_PAIR_MAP_H
#define BRAID_UTIL_PAIR_MAP_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

struct pair_entry {
	uint64_t a;
	uint64_t b;
	uint32_t value; /* 0: free */
	uint32_t extra; /* for the owner's use */
};

struct pair_map {
	struct pair_entry *entries;
	size_t capacity; /* a power of two, or 0 */
	size_t count;
};

static inline size_t pair_hash(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ (b << 32 | b >> 32)) * 0x9e3779b97f4a7c15ULL;

	h = (h ^ h >> 32 ^ b) * 0xd6e8feb86659fd93ULL;
	return h ^ h >> 32;
}

/* The entry of (a, b), or the free one for it. The map must have room. */
static inline struct pair_entry *pair_slot(const struct pair_map *m, uint64_t a, uint64_t b)
{
	for (size_t i = pair_hash(a, b);; i++) {
		struct pair_entry *e = &m->entries[i & (m->capacity - 1)];

		if (!e->value || (e->a == a && e->b == b))
			return e;
	}
}

static inline struct pair_entry *pair_find(const struct pair_map *m, uint64_t a, uint64_t b)
{
	struct pair_entry *e;

	if (!m->capacity)
		return NULL;
	e = pair_slot(m, a, b);
	return e->value ? e : NULL;
}

static inline int pair_grow(struct pair_map *m)
{
	struct pair_map bigger = {.capacity = m->capacity ? m->capacity * 2 : 1024, .count = m->count};

	bigger.entries = calloc(bigger.capacity, sizeof(*bigger.entries));
	if (!bigger.entries)
		return -ENOMEM;
	for (size_t i = 0; i < m->capacity; i++)
		if (m->entries[i].value)
			*pair_slot(&bigger, m->entries[i].a, m->entries[i].b) = m->entries[i];
	free(m->entries);
	*m = bigger;
	return 0;
}

/* Adds or replaces; returns the entry, NULL without memory. `value` must not be 0. */
static inline struct pair_entry *pair_put(struct pair_map *m, uint64_t a, uint64_t b, uint32_t value)
{
	struct pair_entry *e;

	if (m->count * 4 >= m->capacity * 3 && pair_grow(m))
		return NULL;
	e = pair_slot(m, a, b);
	if (!e->value) {
		m->count++;
		e->extra = 0;
	}
	e->a = a;
	e->b = b;
	e->value = value;
	return e;
}

static inline void pair_map_free(struct pair_map *m)
{
	free(m->entries);
	*m = (struct pair_map){0};
}

#endif
