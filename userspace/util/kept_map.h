// SPDX-License-Identifier: Apache-2.0
/*
 * A pair_map with a bound. It has two generations: at a renewal the older one goes, and with it the entries that have
 * not been looked up since the renewal before. The collector keeps in such maps what it has given ids to.
 */
#ifndef BRAID_UTIL_KEPT_MAP_H
#define BRAID_UTIL_KEPT_MAP_H

#include "pair_map.h"

#include <stdbool.h>

/* Three quarters of a power of two: the map does not grow beyond it. */
#define KEPT_MAX ((3U << 16) - 1)

struct kept_map {
	struct pair_map now;
	struct pair_map former; /* the one until the last renewal: its entries are still known */
};

/* Whether it is to be renewed before more is put into it. */
static inline bool kept_is_full(const struct kept_map *m)
{
	return m->now.count >= KEPT_MAX;
}

static inline void kept_renew(struct kept_map *m)
{
	pair_map_free(&m->former);
	m->former = m->now;
	m->now = (struct pair_map){0};
}

/* The value; 0: none. */
static inline uint32_t kept_find(struct kept_map *m, uint64_t a, uint64_t b)
{
	const struct pair_entry *e = pair_find(&m->now, a, b);

	if (!e && (e = pair_find(&m->former, a, b)))
		(void)pair_put(&m->now, a, b, e->value);
	return e ? e->value : 0;
}

/* False without memory. `value` must not be 0. */
static inline bool kept_put(struct kept_map *m, uint64_t a, uint64_t b, uint32_t value)
{
	return pair_put(&m->now, a, b, value);
}

static inline void kept_map_free(struct kept_map *m)
{
	pair_map_free(&m->now);
	pair_map_free(&m->former);
}

#endif
