// SPDX-License-Identifier: Apache-2.0
/* Tests of the graph of a heap dump: places, who refers to whom, and dominators, compared with their definition. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <hprof/graph.h>

#include "unit/many.h"

Suite *test_dominators(void);

/* Large arrays are in files. */
static struct scratch_room room = {.dir = "/tmp"};

#define MOST 40 /* objects of a random graph */

static uint64_t state = 88172645463325252ULL;

static uint32_t below(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 33) % n;
}

enum edge { NO_EDGE, WEAK, STRONG };

struct drawn {
	uint32_t count;
	bool root[MOST];
	enum edge edges[MOST][MOST];
};

/* Nothing refers to a root, as in graph.h. */
static void draw(struct drawn *d)
{
	uint32_t edges;

	memset(d, 0, sizeof(*d));
	d->count = 1 + below(MOST);
	for (uint32_t n = below(4); n; n--)
		d->root[below(d->count)] = true;
	edges = below(d->count * 3 + 1);
	for (uint32_t i = 0; i < edges; i++) {
		uint32_t from = below(d->count), to = below(d->count);

		if (!d->root[to])
			d->edges[from][to] = below(8) ? STRONG : WEAK;
	}
}

static void fill(struct graph *g, const struct drawn *d)
{
	ck_assert_int_eq(graph_init(g, &room, d->count), 0);
	for (uint32_t from = 0; from < d->count; from++) {
		if (d->root[from])
			ck_assert_int_eq(graph_add_root(g, from), 0);
		if (below(2)) /* what refers to nothing may have no list */
			ck_assert_int_eq(graph_begin(g, from), 0);
		for (uint32_t to = 0; to < d->count; to++) {
			if (!d->edges[from][to])
				continue;
			if (!graph_u64(&g->list_at)[from])
				ck_assert_int_eq(graph_begin(g, from), 0);
			ck_assert_int_eq(graph_add(g, from, to | (d->edges[from][to] == WEAK ? GRAPH_WEAK : 0)), 0);
		}
	}
}

/* What the roots reach without the object `without`. */
static void reach(const struct drawn *d, uint32_t without, enum edge least, bool reached[MOST])
{
	bool more = true;

	for (uint32_t i = 0; i < d->count; i++)
		reached[i] = d->root[i] && i != without;
	while (more) {
		more = false;
		for (uint32_t from = 0; from < d->count; from++)
			for (uint32_t to = 0; reached[from] && to < d->count; to++)
				if (d->edges[from][to] >= least && to != without && !reached[to])
					more = reached[to] = true;
	}
}

#define NOBODY UINT32_MAX

/* The immediate dominator is the one that all others dominate, too: that with the most dominators. */
static uint32_t naive(const struct drawn *d, bool dominates[MOST][MOST], uint32_t of)
{
	uint32_t best = NOBODY, most = 0;

	for (uint32_t u = 0; u < d->count; u++) {
		uint32_t count = 1;

		if (u == of || !dominates[u][of])
			continue;
		for (uint32_t v = 0; v < d->count; v++)
			count += v != u && dominates[v][u];
		if (count > most) {
			most = count;
			best = u;
		}
	}
	return best;
}

static void compare(const struct graph *g, const struct drawn *d)
{
	static bool dominates[MOST][MOST];
	bool held[MOST], weakly[MOST], without[MOST];
	uint32_t places = 0;

	reach(d, NOBODY, STRONG, held);
	reach(d, NOBODY, WEAK, weakly);
	for (uint32_t u = 0; u < d->count; u++) {
		reach(d, u, STRONG, without);
		for (uint32_t v = 0; v < d->count; v++)
			dominates[u][v] = held[v] && u != v && !without[v];
	}
	for (uint32_t v = 0; v < d->count; v++) {
		uint32_t place = graph_u32(&g->place)[v], above;

		places += place != 0;
		ck_assert_int_eq(place != 0, weakly[v]);
		ck_assert_int_eq(place && place <= g->held, held[v]);
		if (!held[v])
			continue;
		above = graph_u32(&g->above)[place];
		ck_assert_uint_lt(above, place);
		ck_assert_uint_eq(above ? graph_u32(&g->object)[above] : NOBODY, naive(d, dominates, v));
	}
	ck_assert_uint_eq(places, g->reached);
}

/* All references between objects with places, and no others. */
static void compare_referrers(const struct graph *g, const struct drawn *d)
{
	const uint64_t *at = graph_u64(&g->from_at);
	uint64_t edges = 0;

	for (uint32_t from = 0; from < d->count; from++)
		for (uint32_t to = 0; to < d->count; to++)
			edges += d->edges[from][to] && graph_u32(&g->place)[from];
	ck_assert_uint_eq(at[g->reached + 1], edges);
	for (uint32_t p = 1; p <= g->reached; p++)
		for (uint64_t i = at[p]; i < at[p + 1]; i++) {
			uint32_t from = graph_u32(&g->from)[i];
			enum edge edge = from & GRAPH_WEAK ? WEAK : STRONG;

			from = graph_u32(&g->object)[from & ~GRAPH_WEAK];
			ck_assert_int_eq(d->edges[from][graph_u32(&g->object)[p]], edge);
		}
}

START_TEST(random_graphs)
{
	struct drawn d;
	struct graph g;

	for (int round = 0; round < 3000; round++) {
		draw(&d);
		fill(&g, &d);
		ck_assert_int_eq(graph_walk(&g), 0);
		ck_assert_int_eq(graph_turn(&g), 0);
		ck_assert_int_eq(graph_dominators(&g), 0);
		compare(&g, &d);
		compare_referrers(&g, &d);
		graph_free(&g);
	}
}
END_TEST

#define DEEP MANY(400000)

/* A list whose last object has many, each of which the root has, too: what takes some algorithms quadratic time. */
START_TEST(long_list)
{
	struct graph g;

	ck_assert_int_eq(graph_init(&g, &room, 2 * DEEP), 0);
	ck_assert_int_eq(graph_add_root(&g, 0), 0);
	for (uint32_t i = 0; i < DEEP; i++) {
		ck_assert_int_eq(graph_begin(&g, i), 0);
		ck_assert_int_eq(i + 1 < DEEP ? graph_add(&g, i, i + 1) : 0, 0);
		for (uint32_t to = DEEP; (i == 0 || i == DEEP - 1) && to < 2 * DEEP; to++)
			ck_assert_int_eq(graph_add(&g, i, to), 0);
	}
	ck_assert_int_eq(graph_walk(&g), 0);
	ck_assert_int_eq(graph_turn(&g), 0);
	ck_assert_int_eq(graph_dominators(&g), 0);
	ck_assert_uint_eq(g.held, 2 * DEEP);
	for (uint32_t i = 0; i < 2 * DEEP; i++) {
		uint32_t above = graph_u32(&g.above)[graph_u32(&g.place)[i]];

		ck_assert_uint_eq(above ? graph_u32(&g.object)[above] : NOBODY, !i ? NOBODY : i < DEEP ? i - 1 : 0);
	}
	graph_free(&g);
}
END_TEST

START_TEST(no_place_for_files)
{
	struct scratch_room nowhere = {.dir = "/nonexistent"};
	struct graph g;
	int err = graph_init(&g, &nowhere, 1000000);

	ck_assert_int_eq(err, -ENOENT);
	graph_free(&g);
}
END_TEST

Suite *test_dominators(void)
{
	Suite *s = suite_create("dominators");
	TCase *tc = tcase_create("dominators");

	tcase_add_test(tc, random_graphs);
	tcase_add_test(tc, long_list);
	tcase_add_test(tc, no_place_for_files);
	suite_add_tcase(s, tc);
	return s;
}
