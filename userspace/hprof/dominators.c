// SPDX-License-Identifier: Apache-2.0
/*
 * Immediate dominators, by Lengauer and Tarjan's algorithm with simple linking ("A fast algorithm for finding
 * dominators in a flowgraph", 1979), which takes O(m log n) whatever the graph. Its vertices are places, which the walk
 * gave in its order, so a vertex and its number are the same. Places are linked to their parents from the last one
 * down: a place is linked if it is not before the current one, and needs no array that says so.
 */
#include "graph.h"

#include <errno.h>

struct finder {
	uint32_t *parent; /* of the walk; of linked places, an ancestor in the forest */
	uint32_t *semi;	  /* semidominators */
	uint32_t *label;  /* the place with the least semidominator on the way to `parent` */
	uint32_t *head;	  /* the first place whose semidominator this is */
	uint32_t *next;	  /* the next place of the same list; at last the dominator */
	uint32_t linked;  /* the first place that is linked */
	struct scratch way;
	struct scratch_room *room;
};

/* Makes the way from `v` to its root short. `n` places of it are in f->way. */
static void shorten(struct finder *f, const uint32_t *way, uint64_t n, uint32_t top)
{
	uint32_t above = top;

	while (n) {
		uint32_t v = way[--n];

		if (f->semi[f->label[above]] < f->semi[f->label[v]])
			f->label[v] = f->label[above];
		f->parent[v] = f->parent[top];
		above = v;
	}
}

/* The place with the least semidominator between `v` and the root of its tree in the forest. 0: no memory. */
static uint32_t eval(struct finder *f, uint32_t v)
{
	uint32_t top = v;
	uint64_t n = 0;

	if (v < f->linked)
		return v;
	while (f->parent[top] >= f->linked) {
		if (scratch_more(&f->way, f->room, n, sizeof(uint32_t)))
			return 0;
		graph_u32(&f->way)[n++] = top;
		top = f->parent[top];
	}
	shorten(f, graph_u32(&f->way), n, top);
	return f->label[v];
}

static int empty_list(struct finder *f, uint32_t of)
{
	for (uint32_t v = f->head[of], next; v; v = next) {
		uint32_t u = eval(f, v);

		if (!u)
			return -ENOMEM;
		next = f->next[v];
		f->next[v] = f->semi[u] < f->semi[v] ? u : of;
	}
	f->head[of] = 0;
	return 0;
}

/* The semidominator of `w`, whose successors in the walk's order are linked. */
static int find_semi(struct finder *f, const struct graph *g, uint32_t w)
{
	const uint64_t *at = graph_u64(&g->from_at);
	const uint32_t *from = graph_u32(&g->from);
	uint32_t semi = f->parent[w];

	for (uint64_t i = at[w]; semi && i < at[w + 1]; i++) {
		uint32_t v = from[i], u;

		if (v > g->held) /* that is weak, too */
			continue;
		u = eval(f, v);
		if (!u)
			return -ENOMEM;
		if (f->semi[u] < semi)
			semi = f->semi[u];
	}
	f->semi[w] = semi;
	return 0;
}

static int find(struct finder *f, const struct graph *g)
{
	int err = 0;

	for (uint32_t v = 1; v <= g->held; v++)
		f->semi[v] = f->label[v] = v;
	f->linked = g->held + 1;
	for (uint32_t w = g->held; w && !err; w--) {
		uint32_t parent = f->parent[w];

		err = find_semi(f, g, w);
		f->next[w] = f->semi[w];
		if (!err && f->semi[w] != parent) {
			f->next[w] = f->head[f->semi[w]];
			f->head[f->semi[w]] = w;
		}
		f->linked = w;
		if (!err)
			err = empty_list(f, parent);
	}
	for (uint32_t w = 1; w <= g->held && !err; w++)
		if (f->next[w] != f->semi[w])
			f->next[w] = f->next[f->next[w]];
	return err;
}

int graph_dominators(struct graph *g)
{
	uint64_t bytes = ((uint64_t)g->held + 1) * sizeof(uint32_t);
	struct scratch semi = {0}, label = {0}, head = {0};
	struct finder f = {.parent = graph_u32(&g->parent), .room = g->room};
	int err = scratch_resize(&semi, g->room, bytes);

	err = err ? err : scratch_resize(&label, g->room, bytes);
	err = err ? err : scratch_resize(&head, g->room, bytes);
	err = err ? err : scratch_resize(&g->above, g->room, bytes);
	if (!err) {
		f.semi = graph_u32(&semi);
		f.label = graph_u32(&label);
		f.head = graph_u32(&head);
		f.next = graph_u32(&g->above);
		err = find(&f, g);
	}
	scratch_free(&f.way);
	scratch_free(&semi);
	scratch_free(&label);
	scratch_free(&head);
	scratch_free(&g->parent);
	return err;
}
