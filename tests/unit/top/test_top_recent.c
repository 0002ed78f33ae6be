// SPDX-License-Identifier: Apache-2.0
/* Tests of what is kept of a recording, and of windows of it. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <top/recent.h>

#include "unit/run.h"

Suite *test_top_recent(void);

static struct recent *recent_of_synthetic(void)
{
	struct recent *r;

	ck_assert_int_eq(recent_new(&r), 0);
	for (size_t i = 0; i < SYNTHETIC_COUNT; i++)
		ck_assert_int_eq(recent_take(r, &synthetic[i]), 0);
	return r;
}

static void take(struct recent *r, struct trace_rec rec)
{
	if (recent_take(r, &rec))
		ck_abort_msg("recent_take");
}

/* The analysis of a window. */
static struct run window(struct recent *r, uint64_t from_ns, uint64_t to_ns)
{
	struct run run = {0};

	ck_assert_int_eq(recent_window(r, from_ns, to_ns, &run.a), 0);
	run_analyze(&run, NULL);
	return run;
}

static void check_same_methods(const struct views *x, const struct views *y)
{
	ck_assert_uint_eq(x->methods.count, y->methods.count);
	for (size_t i = 0; i < x->methods.count; i++) {
		ck_assert_str_eq(x->methods.at[i].name, y->methods.at[i].name);
		ck_assert_uint_eq(x->methods.at[i].self, y->methods.at[i].self);
		ck_assert_uint_eq(x->methods.at[i].total, y->methods.at[i].total);
	}
	ck_assert_uint_eq(x->gc.count, y->gc.count);
	ck_assert_uint_eq(x->gc.total_ns, y->gc.total_ns);
	ck_assert_uint_eq(x->threads.count, y->threads.count);
}

START_TEST(all_of_it_is_what_a_report_has)
{
	struct recent *r = recent_of_synthetic();
	struct run all = run_begin(NULL), got = window(r, 0, UINT64_MAX - 1);

	run_analyze(&all, NULL);
	check_same_methods(got.v, all.v);
	ck_assert(!recent_is_cut(r));
	ck_assert_uint_eq(recent_last_ns(r), BASE_NS + 190 * MS);
	run_free(&got);
	run_free(&all);
	recent_free(r);
}
END_TEST

START_TEST(a_window_has_its_events_and_what_they_need)
{
	struct recent *r = recent_of_synthetic();
	struct run run = window(r, BASE_NS + 130 * MS, BASE_NS + 170 * MS);

	ck_assert_uint_eq(run.an->samples.quality.total, 5); /* of the native program */
	ck_assert_uint_eq(run.a->nodes.count, 2);
	ck_assert_uint_eq(run.a->threads.count, 1);
	ck_assert_uint_eq(run.v->methods.at[0].self, 5);
	ck_assert_str_eq(run.v->methods.at[0].name, "foo::bar(int)");
	ck_assert_uint_eq(analysis_shown_ns(run.an), 40 * MS);
	run_free(&run);
	recent_free(r);
}
END_TEST

START_TEST(events_that_began_before_are_cut)
{
	struct recent *r = recent_of_synthetic();
	struct run run = window(r, BASE_NS + 54 * MS, BASE_NS + 60 * MS);

	ck_assert_uint_eq(run.v->gc.count, 1);
	ck_assert_uint_eq(run.v->gc.total_ns, 2 * MS);
	run_free(&run);
	recent_free(r);
}
END_TEST

START_TEST(a_window_without_events)
{
	struct recent *r = recent_of_synthetic();
	struct run run = window(r, BASE_NS + 10000 * MS, BASE_NS + 15000 * MS);

	ck_assert_uint_eq(run.an->samples.quality.total, 0);
	ck_assert_uint_eq(run.v->methods.count, 0);
	run_free(&run);
	recent_free(r);
}
END_TEST

#define AGE 60000 /* stacks and samples of the long recording */

/* Every sample has a stack of its own; samples come every 10 ms. */
static void grow(struct recent *r, uint32_t from, uint32_t count)
{
	for (uint32_t i = from; i < from + count; i++) {
		char name[32];
		int length = snprintf(name, sizeof(name), "name%u", i);

		take(r, (struct trace_rec){.kind = TRACE_NODE, .node = {100 + 2 * i, 3, 3}});
		take(r, (struct trace_rec){.kind = TRACE_NODE, .node = {101 + 2 * i, 100 + 2 * i, 5}});
		take(r, (struct trace_rec){.kind = TRACE_NAME, .name = {10 + i, {name, (uint32_t)length}}});
		take(r, (struct trace_rec){.kind = TRACE_SAMPLE,
					   .sample = {BASE_NS + 200 * MS + i * 10 * MS, 1, 0, 101 + 2 * i, 1}});
	}
}

START_TEST(a_window_costs_the_same_at_any_age)
{
	struct recent *r = recent_of_synthetic();
	struct run run;

	grow(r, 0, AGE);
	run = window(r, recent_last_ns(r) - 99 * 10 * MS, recent_last_ns(r));
	ck_assert_uint_eq(run.an->samples.quality.total, 100);
	ck_assert_uint_eq(run.a->nodes.count, 3 + 2 * 100);
	ck_assert_uint_eq(run.an->samples.quality.by_cause[CAUSE_COMPLETE], 100);
	run_free(&run);
	recent_free(r);
}
END_TEST

#define EVENTS_LIMIT (256UL << 10)
#define DEFINITIONS_LIMIT (2UL << 20)

START_TEST(memory_is_bounded)
{
	struct recent *r = recent_of_synthetic();
	struct run run;

	recent_limit(r, EVENTS_LIMIT, DEFINITIONS_LIMIT);
	for (uint32_t i = 0; i < AGE; i += 1000) {
		grow(r, i, 1000);
		ck_assert_uint_le(recent_bytes(r), EVENTS_LIMIT + DEFINITIONS_LIMIT);
	}
	ck_assert(recent_is_cut(r));
	ck_assert_uint_gt(recent_first_ns(r), BASE_NS + 200 * MS);
	run = window(r, recent_first_ns(r), recent_last_ns(r)); /* what is kept has all that it needs */
	ck_assert_uint_gt(run.an->samples.quality.total, 100);
	ck_assert_uint_eq(run.an->samples.quality.by_cause[CAUSE_COMPLETE], run.an->samples.quality.total);
	ck_assert_str_eq(run.v->methods.at[0].name, "do_syscall_64");
	run_free(&run);
	recent_free(r);
}
END_TEST

START_TEST(definitions_that_are_sent_again_take_no_more)
{
	struct recent *r = recent_of_synthetic();
	size_t before = 0;
	struct run run;

	for (uint32_t i = 0; i < 5000; i++) {
		char name[32];
		int length = snprintf(name, sizeof(name), "renamed%05u", i);

		take(r, (struct trace_rec){.kind = TRACE_THREAD,
					   .thread = {.thread = 1,
						      .process = 1,
						      .tid = 101,
						      .flags = TRACE_THREAD_JAVA,
						      .name = {name, (uint32_t)length}}});
		take(r, (struct trace_rec){.kind = TRACE_MAPPING,
					   .mapping = {1, 2, 0x1000 + i, 0x2000 + i, 0, 0x1000, BASE_NS}});
		if (i == 2000)
			before = recent_bytes(r);
	}
	ck_assert_uint_le(recent_bytes(r), before + 1000); /* numbers have more digits */
	run = window(r, 0, BASE_NS + 50 * MS);
	ck_assert_str_eq(run.v->threads.at[0].name, "renamed04999");
	run_free(&run);
	recent_free(r);
}
END_TEST

START_TEST(records_that_no_trace_can_have_are_left_out)
{
	struct recent *r = recent_of_synthetic();
	size_t before = recent_bytes(r);

	take(r, (struct trace_rec){.kind = TRACE_KINDS});
	take(r, (struct trace_rec){.kind = 33});
	ck_assert_uint_eq(recent_bytes(r), before);
	recent_free(r);
}
END_TEST

START_TEST(what_is_saved_is_a_trace)
{
	char path[] = "/tmp/braid-top-XXXXXX";
	struct recent *r = recent_of_synthetic();
	struct run all = run_begin(NULL), got = {0};
	struct trace_reader *reader;
	struct trace_writer *w;
	struct trace_rec rec;
	const char *why;
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(trace_writer_open(&w, path), 0);
	ck_assert_int_eq(recent_save(r, w), 0);
	ck_assert_int_eq(trace_writer_close(w), 0);
	ck_assert_int_eq(trace_reader_open(&reader, path, &why), 0);
	ck_assert_int_eq(analyzer_new(&got.a), 0);
	while (trace_reader_next(reader, &rec) == 1)
		ck_assert_int_eq(analyzer_feed(got.a, &rec), 0);
	ck_assert(!trace_is_damaged(trace_reader_damage(reader)));
	ck_assert_uint_eq(got.a->ignored, 0);
	trace_reader_close(reader);
	run_analyze(&got, NULL);
	run_analyze(&all, NULL);
	check_same_methods(got.v, all.v);
	run_free(&got);
	run_free(&all);
	recent_free(r);
	unlink(path);
}
END_TEST

Suite *test_top_recent(void)
{
	Suite *s = suite_create("top_recent");
	TCase *tc = tcase_create("recent");

	tcase_add_test(tc, all_of_it_is_what_a_report_has);
	tcase_add_test(tc, a_window_has_its_events_and_what_they_need);
	tcase_add_test(tc, events_that_began_before_are_cut);
	tcase_add_test(tc, a_window_without_events);
	tcase_add_test(tc, a_window_costs_the_same_at_any_age);
	tcase_add_test(tc, memory_is_bounded);
	tcase_add_test(tc, definitions_that_are_sent_again_take_no_more);
	tcase_add_test(tc, records_that_no_trace_can_have_are_left_out);
	tcase_add_test(tc, what_is_saved_is_a_trace);
	suite_add_tcase(s, tc);
	return s;
}
