// SPDX-License-Identifier: Apache-2.0
/* Tests of spans that are made of a trace's events: of pairs of them, and of the calls of functions and methods. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <views/span_calls.h>
#include <views/span_functions.h>
#include <views/span_pairs.h>

#include "unit/spans_fixture.h"

Suite *test_span_make(void);

#define HIT(time, thread, event)                                                                                       \
	{                                                                                                              \
		.kind = TRACE_SAMPLE, .sample = { time, thread, 0, 0, 1, 0, event, 0 }                                 \
	}

/* In the first thread two requests, between which another begins that has no end; in the other one, one request. */
static const struct trace_rec pairs[] = {
	REC(TRACE_PROCESS, process, 1, 100, 0, 0, S("a"), S("/a")),
	REC(TRACE_THREAD, thread, 1, 1, 101, 101, 0, 0, S("first"), S("")),
	REC(TRACE_THREAD, thread, 2, 1, 102, 102, 0, 0, S("second"), S("")),
	REC(TRACE_NAME, name, 1, S("uprobe:/a:begin/arg0 > 3/")),
	REC(TRACE_NAME, name, 2, S("uprobe:/a:end")),
	REC(TRACE_NAME, name, 3, S("uprobe:/b:end")),
	HIT(1000, 1, 1),
	HIT(1500, 2, 1),
	TICK(2000, 1, 3, 7), /* as recorded, it is in another one */
	HIT(2000, 1, 2),
	TICK(2500, 1, 5, 0),
	HIT(2600, 1, 2), /* belongs to none */
	HIT(3000, 1, 1),
	HIT(4000, 1, 1),
	HIT(9000, 1, 2),
	HIT(9000, 1, 1),
	OFFCPU(5000, 1, 2000, 0),
	OFFCPU(6000, 2, 100, 0),
	TICK(6000, 2, 1, 0),
	HIT(6100, 2, 2),
	HIT(7000, 2, 3),
};

START_TEST(pairs_of_events)
{
	struct analyzer *a = fed(pairs, sizeof(pairs) / sizeof(pairs[0]));
	struct filter only = {0};
	struct span_pairs out;
	struct analysis *an;
	struct span_view *v;
	const struct span_sum *s;

	ck_assert_int_eq(span_pairs_define(a, "begin..uprobe:/a:end", &out), 0);
	ck_assert_uint_eq(out.spans, 3);
	ck_assert_uint_eq(out.unfinished, 2);
	v = view_of(&an, a, NULL);
	s = v->sums.at;
	ck_assert_uint_eq(v->sums.count, 3);
	ck_assert(s[0].row->span_id == 1 && s[0].first_ns == 1000 && s[0].last_ns == 2000 && s[0].samples == 3);
	ck_assert(s[1].row->span_id == 2 && s[1].first_ns == 1500 && s[1].last_ns == 6100 && s[1].offcpu_ns == 100);
	ck_assert(s[2].row->span_id == 3 && s[2].first_ns == 4000 && s[2].last_ns == 9000 && s[2].offcpu_ns == 2000);
	ck_assert(s[1].pid == 100 && s[1].samples == 1 && s[2].samples == 0 && !s[0].others);
	span_view_free(v);
	analysis_free(an);

	ck_assert_int_eq(filter_add_spans(&only, "begin..end"), 0);
	ck_assert_int_eq(filter_add_spans(&only, "begin..end"), -EINVAL);
	v = view_of(&an, a, &only);
	ck_assert_uint_eq(an->samples.quality.total, 4);
	span_view_free(v);
	analysis_free(an);
	ck_assert_int_eq(filter_add_spans(&only, "2"), 0);
	v = view_of(&an, a, &only);
	ck_assert_uint_eq(an->samples.quality.total, 1);
	span_view_free(v);
	analysis_free(an);
	filter_free(&only);
	analyzer_free(a);
}
END_TEST

START_TEST(pairs_that_are_none)
{
	static const struct {
		const char *pair, *missing;
		int err;
	} cases[] = {
		{"begin", "", -EINVAL},		  {"begin..", "", -EINVAL},
		{"..end", "", -EINVAL},		  {"", "", -EINVAL},
		{"begi..end", "begi", -ENOENT},	  {"begin..nd", "nd", -ENOENT},
		{"begin..end", "end", -ENOTUNIQ}, {"begin..a:end", "a:end", -ENOENT},
	};
	struct analyzer *a = fed(pairs, sizeof(pairs) / sizeof(pairs[0]));
	struct span_pairs out;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_int_eq(span_pairs_define(a, cases[i].pair, &out), cases[i].err);
		if (cases[i].err != -EINVAL)
			ck_assert_str_eq(out.missing, cases[i].missing);
	}
	analyzer_free(a);
}
END_TEST

static bool has(const struct analyzer *a, const struct span_row *s, const char *attribute)
{
	struct filter f = {0};
	bool selected;

	ck_assert_int_eq(filter_add_spans(&f, attribute), 0);
	selected = spans_selected(a, &f, s);
	filter_free(&f);
	return selected;
}

/* Calls of a function, one inside another one, one that never returns, and a return whose call was lost. */
static const struct trace_rec functions[] = {
	REC(TRACE_PROCESS, process, 1, 100, 0, 0, S("a"), S("/a")),
	REC(TRACE_THREAD, thread, 1, 1, 101, 101, 0, 0, S("first"), S("")),
	REC(TRACE_THREAD, thread, 2, 1, 102, 102, 0, 0, S("second"), S("")),
	REC(TRACE_NAME, name, 1, S("uprobe:/a:find/arg0 > 3/")),
	REC(TRACE_NAME, name, 2, S("uretprobe:/a:find{retval}")),
	REC(TRACE_NAME, name, 3, S("uprobe:/a:find_all")),
	HIT(900, 1, 2),
	HIT(1000, 1, 1),
	HIT(1100, 1, 1),
	HIT(1200, 2, 1),
	HIT(1400, 1, 2),
	HIT(1500, 1, 2),
	HIT(1600, 2, 2),
	HIT(2000, 1, 1),
	HIT(2100, 1, 1),
	HIT(2200, 1, 2),
	HIT(3000, 1, 3),
};

START_TEST(functions_are_spans)
{
	static const uint64_t times[][2] = {{1000, 1500}, {1200, 1600}, {2100, 2200}};
	struct analyzer *a = fed(functions, sizeof(functions) / sizeof(functions[0]));
	uint64_t spans;

	ck_assert_int_eq(span_functions_define(a, "uprobe:find_all", &spans), -ENOENT);
	ck_assert_int_eq(span_functions_define(a, "uprobe:fin", &spans), -ENOENT);
	ck_assert_int_eq(span_functions_define(a, "uprobe:/a:find", &spans), 0);
	ck_assert_uint_eq(spans, 3);
	ck_assert_int_eq(spans_measure(a), 0);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(a->span_times.at[table_row_of(&a->spans, (uint32_t)i + 1)].first_ns, times[i][0]);
		ck_assert_uint_eq(a->span_times.at[table_row_of(&a->spans, (uint32_t)i + 1)].last_ns, times[i][1]);
	}
	ck_assert_uint_eq(samples_with(a, "function=find"), 0);
	ck_assert(has(a, table_row(&a->spans, 0), "name~f*d"));
	analyzer_free(a);
}
END_TEST

/* Without the calls, returns do not say since when. */
START_TEST(functions_without_calls)
{
	struct analyzer *a = fed(functions + 4, 7 - 4);
	uint64_t spans;

	ck_assert_int_eq(span_functions_define(a, "uprobe:find", &spans), -ENODATA);
	ck_assert_uint_eq(spans, 0);
	analyzer_free(a);
}
END_TEST

#define CALLED(who, from, to, ...)                                                                                     \
	{                                                                                                              \
		.kind = TRACE_JVM_EVENT, .jvm_event = {                                                                \
			.time_ns = from,                                                                               \
			.kind = BRAID_JVM_METHOD,                                                                      \
			.process = 1,                                                                                  \
			.thread = who,                                                                                 \
			.duration_ns = (to) - (from),                                                                  \
			.source = BRAID_SOURCE_AGENT,                                                                  \
			__VA_ARGS__                                                                                    \
		}                                                                                                      \
	}

#define SUMMED(who, from, ns, ...)                                                                                     \
	{                                                                                                              \
		.kind = TRACE_JVM_EVENT, .jvm_event = {                                                                \
			.time_ns = from,                                                                               \
			.kind = BRAID_JVM_COUNTED,                                                                     \
			.process = 1,                                                                                  \
			.thread = who,                                                                                 \
			.duration_ns = ns,                                                                             \
			.node = 1,                                                                                     \
			.number = BRAID_JVM_OFFCPU,                                                                    \
			.source = BRAID_SOURCE_KERNEL,                                                                 \
			__VA_ARGS__                                                                                    \
		}                                                                                                      \
	}

/* Calls end before those around them, and are recorded then. */
static const struct trace_rec calls[] = {
	REC(TRACE_PROCESS, process, 1, 100, 0, 0, S("a"), S("/a")),
	REC(TRACE_THREAD, thread, 1, 1, 101, 101, 0, 0, S("first"), S("")),
	REC(TRACE_THREAD, thread, 2, 1, 102, 102, 0, 0, S("second"), S("")),
	REC(TRACE_NAME, name, 1, S("a.B.find")),
	REC(TRACE_NAME, name, 2, S("a.B.main")),
	REC(TRACE_NAME, name, 3, S("x.Failure")),
	TICK(1500, 1, 3, 7),
	TICK(2500, 1, 5, 0),
	TICK(1600, 2, 1, 0),
	CALLED(1, 1200, 1800, .name = 1),
	CALLED(1, 1000, 2000, .name = 1, .text = {"arg1=1", 6}, .detail = 3, .flags = BRAID_METHOD_THROWN),
	CALLED(1, 2000, 2400, .name = 1),
	CALLED(2, 900, 1700, .name = 1),
	/* of two virtual threads on one carrier, one of which changes it */
	REC(TRACE_VTHREAD, vthread, 5, 1, 50, S("request-5")),
	REC(TRACE_VTHREAD, vthread, 6, 1, 60, S("request-6")),
	CALLED(1, 3000, 4000, .name = 1, .vthread = 5),
	CALLED(1, 3100, 3900, .name = 1, .vthread = 6),
	REC(TRACE_SAMPLE, sample, 3200, 1, 0, 0, 2, 5),
	REC(TRACE_SAMPLE, sample, 3300, 2, 0, 0, 4, 5),
	REC(TRACE_SAMPLE, sample, 3400, 1, 0, 0, 8, 6),
	REC(TRACE_SAMPLE, sample, 3500, 1, 0, 0, 16, 0),
	CALLED(1, 100, 9000, .name = 2),
	OFFCPU(1300, 1, 400, 0),
	OFFCPU(1850, 1, 400, 0), /* said to begin too early */
	/* added up: one time, and several, of which the longest has its place */
	SUMMED(1, 2300, 20, .value = 1, .weight = 20),
	SUMMED(1, 2310, 50, .value = 9, .weight = 300),
	SUMMED(2, 2310, 50, .value = 9, .weight = 7000),
};

/* A park for a lock has the times of the kernel, too. */
static const struct trace_rec park = {
	.kind = TRACE_JVM_EVENT,
	.jvm_event = {.time_ns = 890,
		      .kind = BRAID_JVM_LOCK,
		      .process = 1,
		      .thread = 2,
		      .duration_ns = 100,
		      .flags = BRAID_LOCK_PARKED,
		      .source = BRAID_SOURCE_KERNEL},
};

START_TEST(calls_are_spans)
{
	struct analyzer *a = fed(calls, sizeof(calls) / sizeof(calls[0]));
	struct analysis *an;
	struct span_view *v;
	const struct span_sum *s;
	uint64_t spans;

	ck_assert_int_eq(span_calls_define(a, "*.f?nd", &spans), 0);
	ck_assert_uint_eq(spans, 5);
	v = view_of(&an, a, NULL);
	s = v->sums.at;
	ck_assert_uint_eq(v->sums.count, 5);
	ck_assert(s[0].row->span_id == 5 && s[0].samples == 8 && s[0].vthread == 6 && !s[0].others);
	ck_assert(s[0].first_ns == 3100 && s[0].last_ns == 3900);
	ck_assert(s[1].row->span_id == 4 && s[1].samples == 6 && s[1].vthread == 5 && !s[1].others);
	ck_assert(s[1].first_ns == 3000 && s[1].last_ns == 4000 && s[1].pid == 100);
	s += 2;
	ck_assert(s[0].row->span_id == 2 && s[0].first_ns == 1000 && s[0].last_ns == 2000);
	ck_assert(s[0].samples == 3 && s[0].offcpu_ns == 400 && s[0].events == 3);
	ck_assert(s[1].row->span_id == 1 && s[1].first_ns == 900 && s[1].last_ns == 1700 && s[1].samples == 1);
	ck_assert(s[2].row->span_id == 3 && s[2].first_ns == 2000 && s[2].last_ns == 2400 && s[2].samples == 0);
	ck_assert(s[2].offcpu_ns == 420 && s[2].events == 3);
	ck_assert_uint_eq(v->counted_ns, 7300);
	ck_assert(has(a, s[0].row, "method=a.B.find") && has(a, s[0].row, "values=arg1=1"));
	ck_assert(has(a, s[0].row, "exception=x.Failure") && !has(a, s[1].row, "exception=x.Failure"));
	span_view_free(v);
	analysis_free(an);

	ck_assert_int_eq(span_calls_define(a, "find", &spans), 0);
	ck_assert_uint_eq(spans, 0);
	analyzer_free(a);
}
END_TEST

/* It is as long as its call was, although a time off the CPU is said to begin before it. */
START_TEST(calls_last_as_long_as_they_took)
{
	struct analyzer *a = fed(calls, sizeof(calls) / sizeof(calls[0]));
	struct filter f = {0};
	struct analysis *an;
	struct span_view *v;
	uint64_t spans;

	ck_assert_int_eq(analyzer_feed(a, &park), 0);
	ck_assert_int_eq(span_calls_define(a, "*.f?nd", &spans), 0);
	ck_assert_int_eq(spans_measure(a), 0);
	ck_assert_int_eq(filter_add_spans(&f, "duration=400ns..800ns"), 0);
	v = view_of(&an, a, &f);
	ck_assert_uint_eq(v->sums.count, 3);
	ck_assert(v->sums.at[1].row->span_id == 1 && v->sums.at[1].offcpu_ns == 100);
	ck_assert(v->sums.at[2].row->span_id == 3 && v->sums.at[2].last_ns - v->sums.at[2].first_ns == 400);
	ck_assert_uint_eq(v->counted_ns, 7300); /* whichever spans these were in */
	span_view_free(v);
	analysis_free(an);
	filter_free(&f);
	analyzer_free(a);
}
END_TEST

/* Samples with values are of the calls in which they were taken, as all others. */
START_TEST(values_are_in_calls)
{
	static const struct trace_rec hits[] = {
		REC(TRACE_SAMPLE, sample, .time_ns = 1500, .thread = 1, .weight = 1, .text = S("retval=1")),
		REC(TRACE_SAMPLE, sample, .time_ns = 1500, .thread = 1, .weight = 1, .event = 3, .text = S("fd=1")),
	};
	struct analyzer *a = fed(calls, sizeof(calls) / sizeof(calls[0]));
	uint64_t spans;

	for (size_t i = 0; i < 2; i++)
		ck_assert_int_eq(analyzer_feed(a, &hits[i]), 0);
	ck_assert_int_eq(span_calls_define(a, "*.f?nd", &spans), 0);
	ck_assert_uint_ne(a->hits.at[0].samples.at[0].span, 0);
	ck_assert_uint_eq(a->hits.at[0].values.at[0].sample.span, a->hits.at[0].samples.at[0].span);
	ck_assert_uint_eq(a->sampling.values.at[0].sample.span, a->hits.at[0].samples.at[0].span);
	analyzer_free(a);
}
END_TEST

START_TEST(spans_are_made_in_one_way)
{
	struct filter f = {0};

	ck_assert_int_eq(filter_add_spans(&f, "method:"), -EINVAL);
	ck_assert(!filter_has_span(&f));
	ck_assert_int_eq(filter_add_spans(&f, "method:a.B.*"), 0);
	ck_assert_str_eq(f.calls, "a.B.*");
	ck_assert(filter_has_span(&f) && filter_needs_samples(&f) && filter_is_set(&f));
	ck_assert_int_eq(filter_add_spans(&f, "begin..end"), -EINVAL);
	filter_free(&f);
}
END_TEST

Suite *test_span_make(void)
{
	Suite *s = suite_create("span_make");
	TCase *t = tcase_create("spans");

	tcase_add_test(t, pairs_of_events);
	tcase_add_test(t, pairs_that_are_none);
	tcase_add_test(t, functions_are_spans);
	tcase_add_test(t, functions_without_calls);
	tcase_add_test(t, calls_are_spans);
	tcase_add_test(t, calls_last_as_long_as_they_took);
	tcase_add_test(t, values_are_in_calls);
	tcase_add_test(t, spans_are_made_in_one_way);
	suite_add_tcase(s, t);
	return s;
}
