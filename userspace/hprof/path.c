// SPDX-License-Identifier: Apache-2.0
#include "path.h"

#include <errno.h>
#include <stdlib.h>

int hprof_paths_init(struct hprof_paths *p, struct hprof *h)
{
	const struct graph *g = &h->graph;
	uint64_t places = (uint64_t)g->reached + 1;
	uint8_t *bits;
	int err;

	*p = (struct hprof_paths){.h = h};
	err = scratch_resize(&p->is_root, g->room, places / 8 + 1);
	err = err ? err : scratch_resize(&p->next, g->room, places * sizeof(uint32_t));
	err = err ? err : scratch_resize(&p->queue, g->room, places * sizeof(uint32_t));
	if (err)
		return err;
	bits = p->is_root.at;
	for (uint32_t i = 0; i < g->root_count; i++) {
		uint32_t place = graph_u32(&g->place)[graph_u32(&g->roots)[i]];

		bits[place / 8] |= (uint8_t)(1U << place % 8);
	}
	return 0;
}

void hprof_paths_free(struct hprof_paths *p)
{
	scratch_free(&p->is_root);
	scratch_free(&p->next);
	scratch_free(&p->queue);
}

void hprof_path_free(struct hprof_path *path)
{
	free(path->places);
	*path = (struct hprof_path){0};
}

static bool is_root(const struct hprof_paths *p, uint32_t place)
{
	return ((const uint8_t *)p->is_root.at)[place / 8] >> place % 8 & 1;
}

/*
 * Goes from the object to what refers to it, in breadth. The root that it finds; 0: none. *seen: places in the queue.
 */
static uint32_t search(struct hprof_paths *p, uint32_t from, bool weak, uint32_t *seen)
{
	const struct graph *g = &p->h->graph;
	const uint64_t *at = graph_u64(&g->from_at);
	uint32_t *queue = graph_u32(&p->queue), *next = graph_u32(&p->next);

	*seen = 0;
	queue[(*seen)++] = from;
	next[from] = from;
	for (uint32_t head = 0; head < *seen; head++) {
		uint32_t place = queue[head];

		if (is_root(p, place))
			return place;
		for (uint64_t i = at[place]; i < at[place + 1]; i++) {
			uint32_t to = graph_u32(&g->from)[i];

			if (to & GRAPH_WEAK && !weak)
				continue;
			to &= ~GRAPH_WEAK;
			if (next[to])
				continue;
			next[to] = place;
			queue[(*seen)++] = to;
		}
	}
	return 0;
}

static void forget(struct hprof_paths *p, uint32_t seen)
{
	for (uint32_t i = 0; i < seen; i++)
		graph_u32(&p->next)[graph_u32(&p->queue)[i]] = 0;
}

static int follow(const struct hprof_paths *p, uint32_t root, uint32_t to, struct hprof_path *path)
{
	const uint32_t *next = graph_u32(&p->next);
	size_t count = 1;

	for (uint32_t place = root; place != to; place = next[place])
		count++;
	path->places = malloc(count * sizeof(*path->places));
	if (!path->places)
		return -ENOMEM;
	for (uint32_t place = root; path->count < count; place = next[place])
		path->places[path->count++] = place;
	return 0;
}

int hprof_path_find(struct hprof_paths *p, uint32_t place, struct hprof_path *path)
{
	uint32_t seen, root = search(p, place, place > p->h->graph.held, &seen);
	int err = 0;

	*path = (struct hprof_path){0};
	if (root)
		err = follow(p, root, place, path);
	forget(p, seen);
	return err;
}
