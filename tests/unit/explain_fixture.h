// SPDX-License-Identifier: Apache-2.0
/* Critical paths over hand-made recordings, for tests of explanations and predictions. */
#ifndef BRAID_TESTS_EXPLAIN_FIXTURE_H
#define BRAID_TESTS_EXPLAIN_FIXTURE_H

#include <explain/explain.h>
#include <explain/span_choice.h>
#include <report/explain.h>

#include "wall_fixture.h"

struct explained {
	struct walled x;
	struct timeline *tl;
};

/* Samples keep their times, and there is no window. */
static inline struct explained explained_of(const struct trace_rec *recs, size_t count)
{
	struct explained e = {0};

	ck_assert_int_eq(analyzer_new(&e.x.r.a), 0);
	analyzer_keep_samples(e.x.r.a);
	run_feed(&e.x.r, synthetic, SYNTHETIC_COUNT);
	run_feed(&e.x.r, more, COUNT(more));
	run_feed(&e.x.r, vm, COUNT(vm));
	run_feed(&e.x.r, recs, count);
	run_analyze(&e.x.r, NULL);
	ck_assert_int_eq(wall_new(&e.x.w, e.x.r.an), 0);
	ck_assert_int_eq(timeline_new(&e.tl, e.x.w), 0);
	return e;
}

static inline void explained_end(struct explained *e)
{
	timeline_free(e->tl);
	wall_end(&e->x);
}

/* The same for an explanation of a span. */
static inline void explained_span_end(struct explained *x, struct span_choice *c, struct explain *e)
{
	explain_free(e);
	span_choice_free(c);
	explained_end(x);
}

/* Of the thread with this id, in ms since the first event. */
static inline struct stretch stretch_of(const struct explained *e, uint32_t id, uint64_t from_ms, uint64_t to_ms)
{
	return (struct stretch){timeline_thread(e->x.w, id), BASE_NS + from_ms * MS, BASE_NS + to_ms * MS};
}

/* Nodes and parts add up to the stretch. */
static inline void check_explanation(const struct explain *e)
{
	uint64_t all = explain_ns(e), in_nodes = 0, in_parts = 0;

	for (size_t i = 0; i < e->nodes.count; i++) {
		ck_assert_uint_ge(e->nodes.at[i].total_ns, e->nodes.at[i].self_ns);
		ck_assert_uint_le(e->nodes.at[i].depth, EXPLAIN_DEPTH + 1);
		ck_assert_uint_le(e->nodes.at[i].longest.ns, all);
		in_nodes += e->nodes.at[i].self_ns;
	}
	for (size_t i = 0; i < e->parts.count; i++)
		in_parts += e->parts.at[i].ns;
	ck_assert_uint_eq(in_nodes, all);
	ck_assert_uint_eq(in_parts, all);
	ck_assert_uint_eq(e->nodes.at[0].total_ns, all);
	ck_assert_uint_eq(e->nodes.at[0].self_ns, 0);
	ck_assert_uint_le(e->longest.ns, all);
}

static inline struct explain *explain_of(struct explained *x, const struct stretch *s)
{
	struct explain *e;

	ck_assert_int_eq(explain_new(&e, x->tl, s, true), 0);
	check_explanation(e);
	return e;
}

static inline char *explain_report(const struct explain *e, bool json)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	(json ? explain_json : explain_text)(out, e, 10);
	fclose(out);
	return text;
}

/* Does something with two stretches of each thread, for many recordings of such rows. */
static inline void each_hostile(struct trace_rec (*row)(void), void (*fn)(struct explained *x, const struct stretch *s))
{
	for (int round = 0; round < 30; round++) {
		struct trace_rec recs[500];
		struct explained x;

		srand48(round);
		for (size_t i = 0; i < COUNT(recs); i++)
			recs[i] = row();
		x = explained_of(recs, COUNT(recs));
		for (uint32_t t = 0; t < x.x.w->threads.count; t++) {
			fn(&x, &(struct stretch){t, BASE_NS + 50 * MS, BASE_NS + 120 * MS});
			fn(&x, &(struct stretch){t, 0, UINT64_MAX});
		}
		explained_end(&x);
	}
}

#endif
