// SPDX-License-Identifier: Apache-2.0
/*
 * The stack tree's edges: (parent node, frame) to node. Twelve bytes an entry, as there are more of these than of
 * anything else that a recording keeps; open addressing, no deletion. stacks.c uses this.
 */
#ifndef BRAID_RECORD_NODE_MAP_H
#define BRAID_RECORD_NODE_MAP_H

#include "util/pair_map.h"

struct node_entry {
	uint32_t parent;
	uint32_t frame;
	uint32_t node; /* 0: free */
};

struct node_map {
	struct node_entry *entries;
	size_t capacity; /* a power of two, or 0 */
	size_t count;
};

/* The entry of (parent, frame), or the free one where it belongs. The map must have room. */
static inline struct node_entry *node_slot(const struct node_map *m, uint32_t parent, uint32_t frame)
{
	for (size_t i = pair_hash(parent, frame);; i++) {
		struct node_entry *e = &m->entries[i & (m->capacity - 1)];

		if (!e->node || (e->parent == parent && e->frame == frame))
			return e;
	}
}

static inline int node_map_grow(struct node_map *m)
{
	struct node_map bigger = {.capacity = m->capacity ? m->capacity * 2 : 4096, .count = m->count};

	bigger.entries = calloc(bigger.capacity, sizeof(*bigger.entries));
	if (!bigger.entries)
		return -ENOMEM;
	for (size_t i = 0; i < m->capacity; i++)
		if (m->entries[i].node)
			*node_slot(&bigger, m->entries[i].parent, m->entries[i].frame) = m->entries[i];
	free(m->entries);
	*m = bigger;
	return 0;
}

/* The entry of (parent, frame), which is free (node 0) when it is new: the caller numbers it. NULL: no memory. */
static inline struct node_entry *node_map_get(struct node_map *m, uint32_t parent, uint32_t frame)
{
	struct node_entry *e;

	if (m->count * 4 >= m->capacity * 3 && node_map_grow(m))
		return NULL;
	e = node_slot(m, parent, frame);
	if (!e->node) {
		m->count++;
		e->parent = parent;
		e->frame = frame;
	}
	return e;
}

static inline void node_map_free(struct node_map *m)
{
	free(m->entries);
	*m = (struct node_map){0};
}

#endif
