// SPDX-License-Identifier: Apache-2.0
/* Tests of spans on several threads: who had them when, and what explains that; with hostile records, too. */
#include "unit/explain_fixture.h"

Suite *test_span_path(void);

/* The fixture has samples of thread 1 that are in no span. */
#define SPAN 50
#define IN(t, from, to, ...) OFF(t, from, to, SLEEPING, CLASS(SLEEP), .span = SPAN, __VA_ARGS__)
#define LIVES                                                                                                          \
	LIFE(1, 0, 200, 200), LIFE(2, 0, 200, 200), LIFE(3, 0, 200, 200), REC(TRACE_SPAN, span, SPAN, 1, 1, 2, 0xa1)

/* The stretch of the span with that id; explanations add up. */
static struct explain *explained(struct explained *x, struct span_choice *c)
{
	const struct filter all = {.has_from = false};
	const struct span_sum *span;
	struct stretch s;

	ck_assert_int_eq(span_choice_new(c, x->x.w, &all), 0);
	span = span_choice_find(c, 0xa1);
	ck_assert_ptr_nonnull(span);
	ck_assert_int_eq(span_choice_stretch(c, span, &s), 0);
	return explain_of(x, &s);
}

/* The legs as "1:10-31 2:31-60": threads' ids and ms. */
static const char *legs_of(const struct explained *x, const struct explain *e)
{
	static char text[256];
	const struct span_path *p = e->stretch.path;
	size_t used = 0;

	ck_assert_ptr_nonnull(p);
	for (size_t i = 0; i < p->legs.count; i++) {
		const struct span_leg *l = &p->legs.at[i];

		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u:%u-%u", i ? " " : "",
					 (unsigned)x->x.r.a->threads.ids[x->x.w->threads.at[l->thread].thread],
					 (unsigned)((l->from_ns - BASE_NS) / MS),
					 (unsigned)((l->to_ns - BASE_NS) / MS));
		ck_assert_uint_lt(used, sizeof(text));
	}
	return text;
}

static void check_legs(const struct trace_rec *recs, size_t count, const char *legs, size_t guesses,
		       uint64_t not_known_ms)
{
	struct explained x = explained_of(recs, count);
	struct span_choice c;
	struct explain *e = explained(&x, &c);
	uint64_t unknown_ns = 0;

	ck_assert_str_eq(legs_of(&x, e), legs);
	ck_assert_uint_eq(e->stretch.path->guesses, guesses);
	for (size_t i = 0; i < e->parts.count; i++)
		if (e->nodes.at[e->parts.at[i].node].state == WALL_UNKNOWN)
			unknown_ns += e->parts.at[i].ns;
	ck_assert_uint_eq(unknown_ns, not_known_ms * MS);
	explained_span_end(&x, &c, e);
}

START_TEST(who_is_woken_has_it_then)
{
	const struct trace_rec recs[] = {LIVES, IN(3, 10, 30), OFF(2, 0, 31, IN_POOL, CLASS(FUTEX), .other = 3),
					 IN(2, 35, 60)};

	check_legs(recs, COUNT(recs), "3:10-31 2:31-60", 0, 0);
}
END_TEST

/* Thread 2 was woken when thread 3 had been elsewhere: that is not how it got the span. */
START_TEST(nobody_is_seen_in_between)
{
	const struct trace_rec recs[] = {LIVES, IN(3, 10, 30), OFF(3, 30, 32, SLEEPING, CLASS(SLEEP)),
					 OFF(2, 0, 33, IN_POOL, CLASS(FUTEX), .other = 3), IN(2, 35, 60)};

	check_legs(recs, COUNT(recs), "3:10-30 2:35-60", 0, 5);
}
END_TEST

START_TEST(several_may_have_handed_it_over)
{
	const struct trace_rec recs[] = {LIVES, IN(1, 10, 50), IN(3, 12, 40), IN(2, 35, 60)};
	struct explained x = explained_of(recs, COUNT(recs));
	struct span_choice c;
	struct explain *e = explained(&x, &c);
	char *text = explain_report(e, false), *json = explain_report(e, true);

	ck_assert_str_eq(legs_of(&x, e), "1:10-12 3:12-35 2:35-60");
	ck_assert_ptr_nonnull(strstr(text,
				     "http nio 8080 (102), and other threads before it, took 50.00 ms: 50% http nio "
				     "8080 sleeping"));
	ck_assert_ptr_nonnull(strstr(text, "  1 time several threads were in the span, and no wake-up says which"));
	ck_assert_ptr_nonnull(strstr(json, "\"order_known\":false"));
	free(text);
	free(json);
	explained_span_end(&x, &c, e);
}
END_TEST

/* What thread 1 does in between is not the span's. */
START_TEST(a_thread_comes_back)
{
	const struct trace_rec recs[] = {LIVES, IN(1, 10, 20), OFF(1, 22, 35, SLEEPING, CLASS(SLEEP)), IN(2, 20, 40),
					 IN(1, 40, 60)};

	check_legs(recs, COUNT(recs), "1:10-20 2:20-40 1:40-60", 0, 0);
}
END_TEST

/* Rows in the span and outside of it, at any times and on any threads. */
START_TEST(hostile_rows)
{
	for (int round = 0; round < 50; round++) {
		struct trace_rec recs[300] = {LIVES, IN(1, 10, 30), IN(2, 35, 60)};
		struct explained x;
		struct span_choice c;
		struct explain *e;

		srand48(round);
		for (size_t i = 6; i < COUNT(recs); i++) {
			recs[i] = odd_row();
			recs[i].jvm_event.process = 1;
			recs[i].jvm_event.thread = 1 + (uint32_t)lrand48() % 3;
			recs[i].jvm_event.span = lrand48() % 2 ? SPAN : 0;
		}
		x = explained_of(recs, COUNT(recs));
		e = explained(&x, &c);
		free(explain_report(e, true));
		explained_span_end(&x, &c, e);
	}
}
END_TEST

Suite *test_span_path(void)
{
	Suite *s = suite_create("span_path");
	TCase *tc = tcase_create("span_path");

	tcase_add_test(tc, who_is_woken_has_it_then);
	tcase_add_test(tc, nobody_is_seen_in_between);
	tcase_add_test(tc, several_may_have_handed_it_over);
	tcase_add_test(tc, a_thread_comes_back);
	tcase_add_test(tc, hostile_rows);
	suite_add_tcase(s, tc);
	return s;
}
