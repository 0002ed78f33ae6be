// SPDX-License-Identifier: Apache-2.0
/*
 * The edges of the stack tree: (parent node, frame) to node. An entry has twelve bytes, as a recording keeps more of
 * these than of anything else. Open addressing without deletion. Only stacks.c uses this.
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

/* The entry of (parent, frame), or a free one for it. The map must have room. */
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

/* The entry of (parent, frame). A new one has node 0, and the caller sets its number. NULL without memory. */
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
