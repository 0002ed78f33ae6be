// SPDX-License-Identifier: Apache-2.0
/* Tests of the tables of timed methods: all calls by method, and the slowest ones with the time of their own. */
#include <check.h>

#include <views/event_views.h>
#include <views/views.h>

#include "unit/events_fixture.h"
#include "unit/run.h"

Suite *test_event_methods(void);

#define CALLS(method, exponent, calls, time, longest)                                                                  \
	JVM(AT(100), .kind = BRAID_JVM_METHOD_CALLS, .name = method, .number = exponent, .value = calls,               \
	    .weight = time, .duration_ns = longest)
#define CALL(t, method, from, to, ...)                                                                                 \
	JVM(AT(from), .kind = BRAID_JVM_METHOD, .thread = t, .name = method, .node = ON_INLINE,                        \
	    .duration_ns = ((to) - (from)) * MS, __VA_ARGS__)

static const struct trace_rec recs[] = {
	CALLS(M_OTHER, 6, 3, 300, 9 * MS),
	CALLS(M_WORK, 6, 90, 9000, 100 * MS),
	CALLS(M_WORK, 26, 9, 9 * 80 * MS, 100 * MS),
	CALLS(M_WORK, 6, 1, 50, 50),
	CALLS(M_WORK, 200, 1, 100 * MS, 0), /* no such number: with the longest ones */
	/* work(100) calls other(30), which calls work(10), and other(20); another thread is beside them */
	CALL(1, M_OTHER, 20, 50, .flags = BRAID_METHOD_THROWN, .detail = M_WORK, .text = {"arg1=1", 6}),
	CALL(1, M_WORK, 30, 40),
	CALL(1, M_OTHER, 60, 80),
	CALL(1, M_WORK, 10, 110),
	CALL(2, M_WORK, 15, 75),
};

START_TEST(all_calls_by_method)
{
	struct run r = run_begin(NULL);
	const struct timed_view *m;

	run_feed(&r, more, sizeof(more) / sizeof(more[0]));
	run_feed(&r, recs, sizeof(recs) / sizeof(recs[0]));
	run_analyze(&r, NULL);
	m = r.v->events->methods.at;
	ck_assert_uint_eq(r.v->events->methods.count, 2);
	ck_assert_str_eq(m[0].method, "demo.Main.work");
	ck_assert_uint_eq(m[0].calls, 101);
	ck_assert_uint_eq(m[0].ns, 820 * MS + 9050);
	ck_assert_uint_eq(m[0].longest_ns, 100 * MS);
	ck_assert_uint_eq(m[0].p50_ns, 99); /* 9050 ns in 91 calls */
	ck_assert_uint_eq(r.v->events->distributions.at[m[0].distribution].calls[6], 91);
	ck_assert_uint_eq(r.v->events->distributions.at[m[0].distribution].ns[26], 720 * MS);
	ck_assert_uint_eq(r.v->events->distributions.at[m[0].distribution].calls[DISTRIBUTION_POWERS - 1], 1);
	ck_assert_uint_eq(m[0].p99_ns, 80 * MS);
	ck_assert_uint_eq(m[1].calls, 3);
	ck_assert_uint_eq(m[1].p99_ns, 100);
	run_free(&r);
}
END_TEST

START_TEST(slowest_calls)
{
	static const struct {
		uint64_t ms, self_ms;
		const char *method;
		bool thrown;
		const char *exception, *values;
	} expected[] = {{100, 50, "demo.Main.work", false, "", ""},
			{60, 60, "demo.Main.work", false, "", ""},
			{30, 20, "demo.Main.other", true, "demo.Main.work", "arg1=1"},
			{20, 20, "demo.Main.other", false, "", ""},
			{10, 10, "demo.Main.work", false, "", ""}};
	struct run r = run_begin(NULL);

	run_feed(&r, more, sizeof(more) / sizeof(more[0]));
	run_feed(&r, recs, sizeof(recs) / sizeof(recs[0]));
	run_analyze(&r, NULL);
	ck_assert_uint_eq(r.v->events->calls.count, 5);
	for (size_t i = 0; i < 5; i++) {
		const struct call_view *c = &r.v->events->calls.at[i];

		ck_assert_uint_eq(c->ns, expected[i].ms * MS);
		ck_assert_uint_eq(c->self_ns, expected[i].self_ms * MS);
		ck_assert_str_eq(c->method, expected[i].method);
		ck_assert_int_eq(c->thrown, expected[i].thrown);
		ck_assert_str_eq(c->exception, expected[i].exception);
		ck_assert_str_eq(c->values, expected[i].values);
	}
	run_free(&r);
}
END_TEST

Suite *test_event_methods(void)
{
	Suite *s = suite_create("timed methods");
	TCase *t = tcase_create("timed methods");

	tcase_add_test(t, all_calls_by_method);
	tcase_add_test(t, slowest_calls);
	suite_add_tcase(s, t);
	return s;
}
