// SPDX-License-Identifier: Apache-2.0
#include "graph.h"

#include <errno.h>
#include <string.h>

int graph_init(struct graph *g, struct scratch_room *room, uint32_t count)
{
	*g = (struct graph){.room = room, .count = count, .list_end = 1};
	return scratch_resize(&g->list_at, room, (uint64_t)count * sizeof(uint64_t));
}

void graph_free(struct graph *g)
{
	scratch_free(&g->list_at);
	scratch_free(&g->lists);
	scratch_free(&g->roots);
	scratch_free(&g->weak);
	scratch_free(&g->place);
	scratch_free(&g->object);
	scratch_free(&g->parent);
	scratch_free(&g->from_at);
	scratch_free(&g->from);
	scratch_free(&g->above);
}

int graph_add_root(struct graph *g, uint32_t object)
{
	int err = scratch_more(&g->roots, g->room, g->root_count, sizeof(uint32_t));

	if (!err)
		graph_u32(&g->roots)[g->root_count++] = object;
	return err;
}

static int push(struct graph *g, uint32_t word)
{
	int err = scratch_more(&g->lists, g->room, g->list_end, sizeof(word));

	if (!err)
		graph_u32(&g->lists)[g->list_end++] = word;
	return err;
}

int graph_begin(struct graph *g, uint32_t object)
{
	graph_u64(&g->list_at)[object] = g->list_end;
	return push(g, 0);
}

int graph_add(struct graph *g, uint32_t object, uint32_t to)
{
	int err = push(g, to);

	if (!err)
		graph_u32(&g->lists)[graph_u64(&g->list_at)[object]]++;
	if (!err && to & GRAPH_WEAK) {
		err = scratch_more(&g->weak, g->room, g->weak_count, sizeof(uint32_t));
		if (!err)
			graph_u32(&g->weak)[g->weak_count++] = object;
	}
	return err;
}

/* ---- the walk ---- */

struct step {		    /* of the way from a root to where the walk is */
	uint64_t next, end; /* references that are not followed yet */
	uint32_t place;
};

struct walk {
	struct graph *g;
	struct scratch way;
	uint64_t depth;
	bool weak; /* weak references are followed, too */
};

static int enter(struct walk *w, uint32_t object, uint32_t parent)
{
	struct graph *g = w->g;
	uint64_t list = graph_u64(&g->list_at)[object];
	uint32_t place = ++g->reached;
	struct step *step;
	int err = scratch_more(&w->way, g->room, w->depth, sizeof(*step));

	if (err)
		return err;
	graph_u32(&g->place)[object] = place;
	graph_u32(&g->object)[place] = object;
	graph_u32(&g->parent)[place] = parent;
	step = (struct step *)w->way.at + w->depth++;
	*step = (struct step){.place = place};
	if (list) {
		step->next = list + 1;
		step->end = list + 1 + graph_u32(&g->lists)[list];
	}
	return 0;
}

/* The next object that the last step leads to and that has no place yet; false: there is none. */
static bool next_object(const struct walk *w, struct step *step, uint32_t *object)
{
	const uint32_t *lists = graph_u32(&w->g->lists), *place = graph_u32(&w->g->place);

	while (step->next < step->end) {
		uint32_t to = lists[step->next++];

		if (to & GRAPH_WEAK && !w->weak)
			continue;
		*object = to & ~GRAPH_WEAK;
		if (!place[*object])
			return true;
	}
	return false;
}

static int walk_from(struct walk *w, uint32_t object, uint32_t parent)
{
	int err = enter(w, object, parent);

	while (!err && w->depth) {
		struct step *step = (struct step *)w->way.at + w->depth - 1;

		if (next_object(w, step, &object))
			err = enter(w, object, step->place);
		else
			w->depth--;
	}
	return err;
}

/* From what holds to what it refers to weakly. */
static int walk_weak(struct walk *w)
{
	const struct graph *g = w->g;
	const uint32_t *weak = graph_u32(&g->weak);
	int err = 0;

	w->weak = true;
	for (uint32_t i = 0; !err && i < g->weak_count; i++) {
		uint64_t list = graph_u64(&g->list_at)[weak[i]];
		uint32_t from = graph_u32(&g->place)[weak[i]], to;
		struct step step = {.next = list + 1, .end = list + 1 + graph_u32(&g->lists)[list]};

		while (!err && from && next_object(w, &step, &to))
			err = walk_from(w, to, from);
	}
	return err;
}

int graph_walk(struct graph *g)
{
	uint64_t places = ((uint64_t)g->count + 1) * sizeof(uint32_t);
	struct walk w = {.g = g};
	int err;

	err = scratch_resize(&g->place, g->room, places);
	err = err ? err : scratch_resize(&g->object, g->room, places);
	err = err ? err : scratch_resize(&g->parent, g->room, places);
	err = err ? err : scratch_more(&g->lists, g->room, g->list_end, sizeof(uint32_t));
	for (uint32_t i = 0; !err && i < g->root_count; i++)
		if (!graph_u32(&g->place)[graph_u32(&g->roots)[i]])
			err = walk_from(&w, graph_u32(&g->roots)[i], 0);
	g->held = g->reached;
	err = err ? err : walk_weak(&w);
	scratch_free(&w.way);
	return err;
}

/* ---- from references to those that refer ---- */

struct range { /* of places */
	uint32_t first, last;
};

/*
 * Calls `each` for every reference from an object with a place to one in the range. It goes through the lists in the
 * order in which they were made.
 */
static void each_reference(const struct graph *g, struct range r,
			   void (*each)(const struct graph *, uint32_t, uint32_t))
{
	const uint32_t *lists = graph_u32(&g->lists), *place = graph_u32(&g->place);

	for (uint32_t object = 0; object < g->count; object++) {
		uint64_t list = place[object] ? graph_u64(&g->list_at)[object] : 0;

		for (uint32_t i = 1; list && i <= lists[list]; i++) {
			uint32_t to = place[lists[list + i] & ~GRAPH_WEAK];

			if (to >= r.first && to <= r.last)
				each(g, place[object] | (lists[list + i] & GRAPH_WEAK), to);
		}
	}
}

static void count_one(const struct graph *g, uint32_t from, uint32_t to)
{
	(void)from;
	graph_u64(&g->from_at)[to]++;
}

/* from_at[to] goes from the end of its places to their beginning. */
static void put_one(const struct graph *g, uint32_t from, uint32_t to)
{
	graph_u32(&g->from)[--graph_u64(&g->from_at)[to]] = from;
}

#define RANGE_LEAST (1U << 20) /* references */

/* Places are written in any order, so as many at once as fit in memory: a disk is too slow for that. */
static void put_all(const struct graph *g)
{
	const uint64_t *at = graph_u64(&g->from_at);
	uint64_t most = g->room->memory / sizeof(uint32_t), done = 0;
	struct range r = {.first = 1};

	most = most < RANGE_LEAST ? RANGE_LEAST : most;
	while (r.first <= g->reached) {
		r.last = r.first;
		while (r.last < g->reached && at[r.last + 1] - done <= most)
			r.last++;
		done = at[r.last];
		each_reference(g, r, put_one);
		r.first = r.last + 1;
	}
}

int graph_turn(struct graph *g)
{
	uint64_t sum = 0, *at;
	int err = scratch_resize(&g->from_at, g->room, ((uint64_t)g->reached + 2) * sizeof(*at));

	if (err)
		return err;
	at = graph_u64(&g->from_at);
	each_reference(g, (struct range){1, g->reached}, count_one);
	for (uint32_t p = 0; p <= g->reached; p++)
		at[p] = sum += at[p];
	at[g->reached + 1] = sum;
	err = scratch_resize(&g->from, g->room, (sum + 1) * sizeof(uint32_t));
	if (err)
		return err;
	put_all(g);
	scratch_free(&g->lists);
	scratch_free(&g->list_at);
	return 0;
}
