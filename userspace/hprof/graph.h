// SPDX-License-Identifier: Apache-2.0
/*
 * What refers to what. First by numbers of objects, each with a list of those that it refers to. Then by places: a walk
 * from the roots, in depth first, gives each object that it reaches its place, from 1 on; place 0 represents all roots.
 * Objects that only weak references reach get the places after all others.
 */
#ifndef BRAID_HPROF_GRAPH_H
#define BRAID_HPROF_GRAPH_H

#include <util/scratch.h>

#include <stdbool.h>
#include <stdint.h>

#define GRAPH_WEAK 0x80000000U /* a reference that does not hold what it refers to */

struct graph {
	struct scratch_room *room;
	uint32_t count;		/* of objects */
	struct scratch list_at; /* u64, by number: where its list begins; 0: it has none */
	struct scratch lists;	/* u32: the count, then numbers, which may have GRAPH_WEAK */
	uint64_t list_end;
	struct scratch roots; /* u32: numbers */
	uint32_t root_count;
	struct scratch weak; /* u32: numbers of those that have weak references */
	uint32_t weak_count;

	struct scratch place;	/* u32, by number; 0: nothing reaches it */
	struct scratch object;	/* u32, by place: the number */
	struct scratch parent;	/* u32, by place: the place from which the walk came */
	uint32_t held;		/* the last place of an object that a root holds */
	uint32_t reached;	/* the last place at all */
	struct scratch from_at; /* u64, by place and one more: where the places that refer to it begin */
	struct scratch from;	/* u32: these places, which may have GRAPH_WEAK */
	struct scratch above;	/* u32, by place up to `held`: its immediate dominator */
};

static inline uint32_t *graph_u32(const struct scratch *s)
{
	return s->at;
}

static inline uint64_t *graph_u64(const struct scratch *s)
{
	return s->at;
}

/* ---- making the lists; each returns 0 or a negative errno ---- */

int graph_init(struct graph *g, struct scratch_room *room, uint32_t count);
int graph_add_root(struct graph *g, uint32_t object);
/* The next references are those of this object, which has none yet. */
int graph_begin(struct graph *g, uint32_t object);
/* `to` may have GRAPH_WEAK. */
int graph_add(struct graph *g, uint32_t object, uint32_t to);
void graph_free(struct graph *g);

/* ---- in this order ---- */

int graph_walk(struct graph *g);       /* place, object, parent */
int graph_turn(struct graph *g);       /* from; frees the lists */
int graph_dominators(struct graph *g); /* above; frees parent */

#endif
