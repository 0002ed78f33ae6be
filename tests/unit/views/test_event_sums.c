// SPDX-License-Identifier: Apache-2.0
/*
 * Tests of sums: the frames that exceptions leave, those that were only counted, and times that the recorder added up.
 */
#include <check.h>
#include <stdio.h>

#include <views/views.h>

#include "unit/events_fixture.h"
#include "unit/run.h"

Suite *test_event_sums(void);

#define THROWN(count, ...)                                                                                             \
	JVM(AT(95), .kind = BRAID_JVM_EXCEPTION, .thread = 1, .node = ON_INLINE, .name = C_HTML, .value = count,       \
	    __VA_ARGS__)

static const struct trace_rec thrown[] = {
	THROWN(3, .detail = M_WORK),
	THROWN(1, .detail = C_QUEUE), /* not on the stack */
	THROWN(1, .detail = 0),
};

/* From the innermost Java frame to the method that catches; those that nobody catches on the stack do not count. */
START_TEST(frames_that_exceptions_leave)
{
	struct run r = run_begin(NULL);
	const struct kind_view *k;

	run_feed(&r, more, sizeof(more) / sizeof(more[0]));
	run_feed(&r, thrown, sizeof(thrown) / sizeof(thrown[0]));
	run_analyze(&r, NULL);
	k = &r.v->events->kinds[BRAID_JVM_EXCEPTION];
	ck_assert_uint_eq(k->by[BY_NAME].sums.count, 1);
	ck_assert_uint_eq(k->by[BY_NAME].sums.at[0].weight, 5);
	ck_assert_uint_eq(k->by[BY_NAME].sums.at[0].caught, 3);
	ck_assert_uint_eq(k->by[BY_NAME].sums.at[0].left, 3);
	ck_assert_str_eq(k->by[BY_DETAIL].sums.at[0].name, "demo.Main.work");
	ck_assert_uint_eq(k->by[BY_DETAIL].sums.at[0].left, 3);
	ck_assert_uint_eq(k->by[BY_DETAIL].sums.at[1].caught, 0);
	run_free(&r);
}
END_TEST

/* Exceptions above the rate are in the sums by class, and a row of their own in the others. */
START_TEST(exceptions_without_a_stack)
{
	static const struct trace_rec counted = JVM(AT(96), .kind = BRAID_JVM_EXCEPTION, .name = C_HTML, .value = 50);
	const enum event_by without[] = {BY_DETAIL, BY_SITE, BY_THREAD};
	struct run r = run_begin(NULL);
	const struct kind_view *k;

	run_feed(&r, more, sizeof(more) / sizeof(more[0]));
	run_feed(&r, thrown, 1);
	run_feed(&r, &counted, 1);
	run_analyze(&r, NULL);
	k = &r.v->events->kinds[BRAID_JVM_EXCEPTION];
	ck_assert_uint_eq(k->by[BY_NAME].sums.count, 1);
	ck_assert_uint_eq(k->by[BY_NAME].sums.at[0].weight, 53);
	for (size_t i = 0; i < sizeof(without) / sizeof(*without); i++) {
		const struct event_table *t = &k->by[without[i]];

		ck_assert_uint_eq(t->sums.count, 2);
		ck_assert_str_eq(t->sums.at[0].name, "[only counted]");
		ck_assert(t->sums.at[0].only_counted && !t->sums.at[1].only_counted);
		ck_assert_uint_eq(t->sums.at[0].weight, 50);
	}
	run_free(&r);
}
END_TEST

#define SUMMED(ns, class)                                                                                              \
	JVM(AT(97), .kind = BRAID_JVM_COUNTED, .thread = 1, .node = ON_INLINE, .value = 3, .weight = ns,               \
	    .number = BRAID_JVM_OFFCPU, .flags = BRAID_OFFCPU_##class << BRAID_OFFCPU_CLASS_SHIFT)

/* Of the main thread, by the table of lives. */
static uint64_t blocked_ns(const struct run *r)
{
	for (size_t i = 0; i < r->v->events->lives.count; i++)
		if (strcmp(analysis_thread_name(r->an, r->v->events->lives.at[i].thread), "main") == 0)
			return r->v->events->lives.at[i].blocked_ns;
	ck_abort_msg("main is in no row");
}

START_TEST(times_off_the_cpu_of_a_thread)
{
	static const struct trace_rec summed[] = {
		JVM(AT(5), .kind = BRAID_JVM_THREAD_START, .thread = 1), SUMMED(7 * MS, FUTEX),
		SUMMED(9 * MS, RUNNABLE), /* it could run */
	};
	struct run r = run_begin(NULL);
	struct profile p;

	run_feed(&r, summed, sizeof(summed) / sizeof(summed[0]));
	run_analyze(&r, NULL);
	ck_assert_uint_eq(blocked_ns(&r), 7 * MS);
	ck_assert_int_eq(events_profile(r.an, BRAID_JVM_OFFCPU, &p), 0);
	ck_assert_uint_eq(p.quality.total, 16 * MS);
	profile_free(&p);
	/* they are no events of another kind, too */
	ck_assert_int_eq(events_profile(r.an, BRAID_JVM_COUNTED, &p), 0);
	ck_assert_uint_eq(p.quality.total, 0);
	profile_free(&p);
	run_free(&r);
}
END_TEST

/* The thread waits from 40 to 70, and could run from 60 on; windows are from 50 on. */
START_TEST(windows_cut_times_off_the_cpu)
{
	static const struct trace_rec waits[] = {
		JVM(AT(50), .kind = BRAID_JVM_THREAD_START, .thread = 1),
		JVM(AT(40), .kind = BRAID_JVM_OFFCPU, .thread = 1, .duration_ns = 30 * MS, .value = 10 * MS),
	};
	static const uint64_t windows[][2] = {
		{55, 5}, {65, 10}, {70, 10}, {80, 10}}; /* until when, and what is blocked */

	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		struct filter f = {.has_from = true,
				   .from = {MOMENT_SINCE_START, 51 * MS},
				   .has_to = true,
				   .to = {MOMENT_SINCE_START, (windows[i][0] + 1) * MS}};
		struct run r = run_begin(&f);

		run_feed(&r, waits, sizeof(waits) / sizeof(waits[0]));
		run_analyze(&r, &f);
		ck_assert_uint_eq(blocked_ns(&r), windows[i][1] * MS);
		run_free(&r);
	}
}
END_TEST

#define DEEP 30000
#define MANY 200000
#define CATCHERS 1000

/* A stack is not gone through for each exception that was thrown on it. */
START_TEST(exceptions_of_a_deep_stack)
{
	struct run r = run_begin(NULL);
	const struct kind_view *k;
	char name[32];

	run_feed(&r, more, sizeof(more) / sizeof(more[0]));
	for (uint32_t i = 0; i < DEEP; i++) {
		struct trace_rec node = REC(TRACE_NODE, node, .node = 1000 + i, .parent = i ? 999 + i : 1, .frame = 3);

		run_feed(&r, &node, 1);
	}
	for (uint32_t i = 0; i < CATCHERS; i++) {
		struct trace_rec catcher = {.kind = TRACE_NAME, .name = {.name = 1000 + i}};

		snprintf(name, sizeof(name), "demo.Main.catch%u", i);
		catcher.name.text = str_of(name);
		run_feed(&r, &catcher, 1);
	}
	for (uint32_t i = 0; i < MANY; i++) {
		struct trace_rec one = THROWN(1, .detail = 1000 + i % CATCHERS);

		one.jvm_event.node = 1000 + DEEP - 1;
		run_feed(&r, &one, 1);
	}
	run_feed(&r, thrown, 1);
	run_analyze(&r, NULL);
	k = &r.v->events->kinds[BRAID_JVM_EXCEPTION];
	ck_assert_uint_eq(k->by[BY_NAME].sums.at[0].weight, MANY + 3);
	run_free(&r);
}
END_TEST

/* The rank is among all times. Of those in sums, the longest is known. */
START_TEST(percentile_with_sums)
{
	static const struct {
		uint64_t summed, longest_ms, p99_ms;
	} cases[] = {
		{0, 0, 99},		     /* of 1, 2, ... 100 ms: the 99th, */
		{100, 1, 98},		     /* of 200 times the 198th, */
		{9899, 1, 1},		     /* of 9999 the 9900th, the first that is in no sum, */
		{9900, 1, 0},		     /* and of 10000 the 9900th, which is in one */
		{100, 98, 98}, {100, 99, 0}, /* others in the sum may be as long */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct run r = run_begin(NULL);
		const struct trace_rec sum =
			JVM(AT(0), .kind = BRAID_JVM_COUNTED, .thread = 1, .node = ON_INLINE, .value = cases[i].summed,
			    .weight = 1, .number = BRAID_JVM_OFFCPU, .duration_ns = cases[i].longest_ms * MS);

		run_feed(&r, more, sizeof(more) / sizeof(more[0]));
		for (uint64_t ms = 1; ms <= 100; ms++)
			run_feed(&r,
				 &(const struct trace_rec)JVM(AT(ms), .kind = BRAID_JVM_OFFCPU, .thread = 1,
							      .node = SLEEPING, .duration_ns = ms * MS),
				 1);
		if (cases[i].summed)
			run_feed(&r, &sum, 1);
		run_analyze(&r, NULL);
		ck_assert_uint_eq(r.v->events->kinds[BRAID_JVM_OFFCPU].p99, cases[i].p99_ms * MS);
		run_free(&r);
	}
}
END_TEST

Suite *test_event_sums(void)
{
	Suite *s = suite_create("event sums");
	TCase *t = tcase_create("event sums");

	tcase_add_test(t, frames_that_exceptions_leave);
	tcase_add_test(t, exceptions_without_a_stack);
	tcase_add_test(t, times_off_the_cpu_of_a_thread);
	tcase_add_test(t, windows_cut_times_off_the_cpu);
	tcase_add_test(t, exceptions_of_a_deep_stack);
	tcase_add_test(t, percentile_with_sums);
	suite_add_tcase(s, t);
	return s;
}
