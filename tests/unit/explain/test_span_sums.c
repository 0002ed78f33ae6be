// SPDX-License-Identifier: Apache-2.0
/* Tests of explanations of times that were added up by span: a stretch has those of its spans, and shares of others. */
#include "unit/explain_fixture.h"

Suite *test_span_sums(void);

#define SPAN(n) (50 + (n))
#define ID(n) (0xa0 + (uint64_t)(n))
#define IS_SPAN(n) REC(TRACE_SPAN, span, SPAN(n), 1, 1, 2, ID(n))
/* An interval in a span, or in none (0). */
#define IN(n, t, from, to) OFF(t, from, to, SLEEPING, CLASS(SLEEP), .span = (n) ? SPAN(n) : 0)
/* `times` times added up, with a longest one at `at`. */
#define SUM(n, t, at, longest_ms, times, ms, ...)                                                                      \
	JVM(AT(at), .kind = BRAID_JVM_COUNTED, .number = BRAID_JVM_OFFCPU, .thread = t, .value = times,                \
	    .weight = (ms)*MS, .duration_ns = (longest_ms)*MS, .span = (n) ? SPAN(n) : 0, __VA_ARGS__)
#define DISK .node = ON_INLINE, CLASS(BLOCK)
#define SCRIPT .node = ON_SCRIPT, CLASS(BLOCK)

/* The part of that place, state and kind; NULL: there is none. */
static const struct explain_part *part_in(const struct explain *e, const char *site, bool shared)
{
	for (size_t i = 0; i < e->parts.count; i++) {
		const struct explain_node *n = &e->nodes.at[e->parts.at[i].node];

		if (n->state == WALL_BLOCK_IO && n->shared == shared &&
		    (site ? n->site != ROW_NONE && strcmp(events_site_name(e->wall->an, n->site), site) == 0
			  : n->site == ROW_NONE))
			return &e->parts.at[i];
	}
	return NULL;
}

static uint64_t ns_in(const struct explain *e, const char *site, bool shared)
{
	const struct explain_part *p = part_in(e, site, shared);

	return p ? p->ns : 0;
}

/* The stretch of the span with that number; explanations add up. */
static struct explain *explained_span(struct explained *x, struct span_choice *c, unsigned n)
{
	const struct filter all = {.has_from = false};
	const struct span_sum *span;
	struct stretch s;

	ck_assert_int_eq(span_choice_new(c, x->x.w, &all), 0);
	span = span_choice_find(c, ID(n));
	ck_assert_ptr_nonnull(span);
	ck_assert_int_eq(span_choice_stretch(c, span, &s), 0);
	return explain_of(x, &s);
}

/* Span 1 is from 100 to 140, span 2 from 140 to 180; what is added up without a span may be anywhere in the life. */
static const struct trace_rec two[] = {
	LIFE(1, 0, 200, 100),
	IS_SPAN(1),
	IS_SPAN(2),
	IN(1, 1, 100, 105),
	IN(1, 1, 135, 140),
	IN(2, 1, 140, 145),
	IN(2, 1, 175, 180),
	SUM(1, 1, 110, 2, 30, 20, DISK),
	SUM(2, 1, 150, 3, 5, 6, SCRIPT),
	SUM(0, 1, 10, 1, 40, 18, SCRIPT),
	COUNTED(1, 9 * MS, CLASS(BLOCK)),
};

START_TEST(a_span_has_its_own_sums)
{
	struct explained x = explained_of(two, COUNT(two));
	struct span_choice c;
	struct explain *e = explained_span(&x, &c, 1);
	const struct explain_part *own = part_in(e, "demo.Util.inline", false);
	char *text = explain_report(e, false), *json = explain_report(e, true);

	/* all of its own; of the others' 27 ms in 180 ms between records, what is in 30 ms */
	ck_assert_ptr_nonnull(own);
	ck_assert_uint_eq(own->ns, 20 * MS);
	ck_assert_uint_eq(own->count, 30);
	ck_assert_uint_eq(own->longest.ns, 2 * MS);
	ck_assert_uint_eq(ns_in(e, "<script>alert(1)</script>.run", false), 0);
	ck_assert_uint_eq(ns_in(e, "<script>alert(1)</script>.run", true), 3 * MS);
	ck_assert_uint_eq(ns_in(e, NULL, true), 3 * MS / 2);
	ck_assert_ptr_nonnull(strstr(text, "20.00 ms        30     2.00 ms  waiting for the disk in demo.Util.inline, "
					   "in times that were added up\n"));
	ck_assert_ptr_nonnull(strstr(text, " 3.00 ms         -           -  waiting for the disk in "
					   "<script>alert(1)</script>.run, as a share of times that were added up\n"));
	ck_assert_ptr_nonnull(strstr(json, "\"added_up\":true,\"share\":false,\"node\":"));
	ck_assert_ptr_nonnull(strstr(json, "\"added_up\":true,\"share\":true,\"node\":"));
	free(text);
	free(json);
	explained_span_end(&x, &c, e);
}
END_TEST

/* A thread's stretch has the spans in it, and the time of a span that it has. */
START_TEST(a_stretch_has_its_spans)
{
	struct explained x = explained_of(two, COUNT(two));
	struct stretch before = stretch_of(&x, 1, 0, 100), within = stretch_of(&x, 1, 90, 150),
		       all = stretch_of(&x, 1, 0, 200);
	struct explain *e = explain_of(&x, &before);

	ck_assert_uint_eq(ns_in(e, "demo.Util.inline", false) + ns_in(e, "demo.Util.inline", true), 0);
	ck_assert_uint_eq(ns_in(e, "<script>alert(1)</script>.run", true), 10 * MS);
	explain_free(e);
	e = explain_of(&x, &within);
	/* span 1, and 5 of the 30 ms between records of span 2; 45 of 180 ms */
	ck_assert_uint_eq(ns_in(e, "demo.Util.inline", false), 20 * MS);
	ck_assert_uint_eq(ns_in(e, "<script>alert(1)</script>.run", true), 6 * MS * 5 / 30 + 18 * MS * 45 / 180);
	explain_free(e);
	e = explain_of(&x, &all);
	ck_assert_uint_eq(ns_in(e, "demo.Util.inline", false), 20 * MS);
	ck_assert_uint_eq(ns_in(e, "<script>alert(1)</script>.run", false), 24 * MS);
	ck_assert_uint_eq(part_in(e, "<script>alert(1)</script>.run", false)->count, 45);
	explain_free(e);
	explained_end(&x);
}
END_TEST

/* The inner span's times are within the outer one, too. */
START_TEST(spans_within_spans)
{
	const struct trace_rec recs[] = {
		LIFE(1, 0, 200, 150),
		IS_SPAN(1),
		IS_SPAN(2),
		IN(1, 1, 100, 105),
		IN(2, 1, 110, 112),
		IN(2, 1, 128, 130),
		IN(1, 1, 135, 140),
		SUM(1, 1, 106, 1, 3, 2, DISK),
		SUM(2, 1, 115, 2, 4, 6, SCRIPT),
	};
	struct explained x = explained_of(recs, COUNT(recs));
	struct span_choice c;
	struct explain *e = explained_span(&x, &c, 1);

	ck_assert_uint_eq(ns_in(e, "demo.Util.inline", false), 2 * MS);
	ck_assert_uint_eq(ns_in(e, "<script>alert(1)</script>.run", false), 6 * MS);
	explain_free(e);
	span_choice_free(&c);
	e = explained_span(&x, &c, 2);
	ck_assert_uint_eq(ns_in(e, "<script>alert(1)</script>.run", false), 6 * MS);
	/* those of the outer span may be anywhere in it */
	ck_assert_uint_eq(ns_in(e, "demo.Util.inline", true), 2 * MS * 16 / 26);
	explained_span_end(&x, &c, e);
}
END_TEST

/* More than what is seen of the span has room for: the rest of it is anywhere in the life. */
START_TEST(more_than_is_seen)
{
	const struct trace_rec recs[] = {
		LIFE(1, 0, 200, 150),
		IS_SPAN(1),
		IN(1, 1, 100, 101),
		SUM(1, 1, 101, 10, 9, 40, DISK),
	};
	struct explained x = explained_of(recs, COUNT(recs));
	struct span_choice c;
	struct explain *e = explained_span(&x, &c, 1);
	struct stretch all = stretch_of(&x, 1, 0, 200);

	ck_assert_uint_eq(explain_ns(e), 11 * MS);
	ck_assert_uint_eq(ns_in(e, "demo.Util.inline", false), 10 * MS);
	explain_free(e);
	span_choice_free(&c);
	e = explain_of(&x, &all);
	ck_assert_uint_eq(ns_in(e, "demo.Util.inline", false), 40 * MS);
	explain_free(e);
	explained_end(&x);
}
END_TEST

/* Each thread of a span has its own sums, and none of the other one's. */
START_TEST(spans_on_two_threads)
{
	const struct trace_rec recs[] = {
		LIFE(1, 0, 200, 150),
		LIFE(2, 0, 200, 150),
		IS_SPAN(1),
		IN(1, 1, 100, 105),
		IN(1, 1, 115, 120),
		IN(1, 2, 120, 125),
		IN(1, 2, 135, 140),
		SUM(1, 1, 106, 1, 7, 4, DISK),
		SUM(1, 2, 126, 2, 8, 5, SCRIPT),
	};
	struct explained x = explained_of(recs, COUNT(recs));
	struct span_choice c;
	struct explain *e = explained_span(&x, &c, 1);

	ck_assert_ptr_nonnull(e->stretch.path);
	ck_assert_uint_eq(ns_in(e, "demo.Util.inline", false), 4 * MS);
	ck_assert_uint_eq(part_in(e, "demo.Util.inline", false)->count, 7);
	ck_assert_uint_eq(ns_in(e, "<script>alert(1)</script>.run", false), 5 * MS);
	explained_span_end(&x, &c, e);
}
END_TEST

/* A sum in a span or in none, of any length and at any time, or something else of a span. */
static struct trace_rec odd_sum(void)
{
	uint32_t span = (uint32_t)lrand48() % 4, thread = 1 + (uint32_t)lrand48() % 3;
	uint64_t at = (uint64_t)lrand48() % 300, ns = lrand48() % 9 ? (uint64_t)lrand48() % (20 * MS) : UINT64_MAX;
	struct trace_rec sum = SUM(span, thread, at, 0, (uint64_t)lrand48(), 0, .node = 1 + (uint32_t)lrand48() % 11,
				   .flags = (uint32_t)lrand48() << 16);
	struct trace_rec in = IN(span, thread, at, at + 1);

	sum.jvm_event.weight = ns;
	sum.jvm_event.duration_ns = lrand48() % 9 ? ns / 3 : UINT64_MAX;
	in.jvm_event.duration_ns = lrand48() % 9 ? ns : UINT64_MAX;
	return lrand48() % 3 ? sum : in;
}

START_TEST(hostile_sums)
{
	for (int round = 0; round < 30; round++) {
		struct trace_rec recs[300] = {IS_SPAN(1),	    IS_SPAN(2),		 IS_SPAN(3),
					      LIFE(1, 0, 200, 200), LIFE(2, 0, 200, 20), IN(1, 1, 10, 30)};
		struct explained x;
		struct span_choice c;

		srand48(round);
		for (size_t i = 6; i < COUNT(recs); i++)
			recs[i] = odd_sum();
		x = explained_of(recs, COUNT(recs));
		explain_free(explained_span(&x, &c, 1));
		span_choice_free(&c);
		for (uint32_t t = 0; t < x.x.w->threads.count; t++) {
			explain_free(explain_of(&x, &(struct stretch){t, BASE_NS + 50 * MS, BASE_NS + 120 * MS}));
			explain_free(explain_of(&x, &(struct stretch){t, 0, UINT64_MAX}));
		}
		explained_end(&x);
	}
}
END_TEST

/* Of more than TIMELINE_SPAN_SUMS places, none is lost. */
START_TEST(many_spans)
{
	struct trace_rec recs[2003] = {LIFE(1, 0, 3000, 100)};
	struct explained x;
	struct stretch all;
	struct explain *e;
	uint64_t ns = 0;

	for (unsigned i = 0; i < 1000; i++) {
		recs[1 + 2 * i] = (struct trace_rec)REC(TRACE_SPAN, span, 50 + i, 1, 1, 2, 1000 + i);
		recs[2 + 2 * i] = (struct trace_rec)SUM(i, 1, 2 * i, 1, 1, 1, .node = 1 + i % 11, CLASS(BLOCK));
	}
	recs[2001] = recs[2002] = (struct trace_rec)IS_SPAN(0);
	x = explained_of(recs, COUNT(recs));
	all = stretch_of(&x, 1, 0, 3000);
	e = explain_of(&x, &all);
	for (size_t i = 0; i < e->parts.count; i++)
		if (e->nodes.at[e->parts.at[i].node].state == WALL_BLOCK_IO)
			ns += e->parts.at[i].ns;
	ck_assert_uint_eq(ns, 1000 * MS);
	explain_free(e);
	explained_end(&x);
}
END_TEST

Suite *test_span_sums(void)
{
	Suite *s = suite_create("span_sums");
	TCase *tc = tcase_create("span_sums");

	tcase_add_test(tc, a_span_has_its_own_sums);
	tcase_add_test(tc, a_stretch_has_its_spans);
	tcase_add_test(tc, spans_within_spans);
	tcase_add_test(tc, more_than_is_seen);
	tcase_add_test(tc, spans_on_two_threads);
	tcase_add_test(tc, hostile_sums);
	tcase_add_test(tc, many_spans);
	suite_add_tcase(s, tc);
	return s;
}
