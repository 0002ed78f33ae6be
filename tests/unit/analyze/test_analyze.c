// SPDX-License-Identifier: Apache-2.0
/* Tests of the analyzer: its look-up structures, independence of order, hostile records. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <views/views.h>
#include <export/export.h>
#include <report/report.h>
#include <page/html.h>

#include "unit/synthetic.h"

Suite *test_analyze(void);

static const struct trace_damage no_damage;
static const struct report_source source = {&no_damage, 1, false};

/* Everything that the outputs show of the records fed, as one text. The page also shows samples, if they are kept. */
static char *render(struct analyzer *a, bool page)
{
	const struct collapsed_options options = {.annotate = true, .threads = true, .lines = true};
	struct analysis *an;
	struct views *v;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	ck_assert_int_eq(analysis_new(&an, a, NULL), 0);
	ck_assert_int_eq(views_new(&v, an), 0);
	report_text(out, v, &source, 100);
	info_json(out, v, &source);
	ck_assert_int_eq(collapsed_write(out, an, &an->samples, &options), 0);
	if (page)
		ck_assert_int_eq(report_html(out, v, &(struct page_request){.titles = {"x"}}), 0);
	for (size_t i = 0; i < SYNTHETIC_COUNT; i++)
		script_print(out, an, &synthetic[i], NULL, &(struct script_options){0});
	fclose(out);
	views_free(v);
	analysis_free(an);
	return text;
}

static char *render_all(const struct trace_rec *recs, size_t count, bool keep_samples, bool page)
{
	struct analyzer *a;
	char *text;

	ck_assert_int_eq(analyzer_new(&a), 0);
	if (keep_samples)
		analyzer_keep_samples(a);
	for (size_t i = 0; i < count; i++)
		ck_assert_int_eq(analyzer_feed(a, &recs[i]), 0);
	text = render(a, page);
	analyzer_free(a);
	return text;
}

/* Splits the synthetic trace into events and definitions, events first; returns the number of events. */
static size_t events_first(struct trace_rec *recs)
{
	size_t n = 0, events;

	/* Names are looked up when an event is read, so they stay in front. */
	for (size_t i = 0; i < SYNTHETIC_COUNT; i++)
		if (synthetic[i].kind >= TRACE_FIRST_EVENT || synthetic[i].kind == TRACE_NAME)
			recs[n++] = synthetic[i];
	events = n;
	for (size_t i = 0; i < SYNTHETIC_COUNT; i++)
		if (synthetic[i].kind < TRACE_FIRST_EVENT && synthetic[i].kind != TRACE_NAME)
			recs[n++] = synthetic[i];
	return events;
}

START_TEST(order_does_not_matter)
{
	struct trace_rec recs[SYNTHETIC_COUNT];
	char *expected = render_all(synthetic, SYNTHETIC_COUNT, _i & 1, true);
	char *sums = render_all(synthetic, SYNTHETIC_COUNT, false, false);
	size_t events = events_first(recs);
	unsigned seed = (unsigned)_i + 1;
	char *text;

	/* Definitions in any order after the events, except facts, which are listed as they come. */
	for (size_t i = SYNTHETIC_COUNT - 1; _i && i > events + 5; i--) {
		size_t j = events + 5 + (size_t)rand_r(&seed) % (i - events - 4);
		struct trace_rec t = recs[i];

		recs[i] = recs[j];
		recs[j] = t;
	}
	text = render_all(recs, SYNTHETIC_COUNT, _i & 1, true);
	ck_assert_str_eq(text, expected);
	free(text);
	text = render_all(recs, SYNTHETIC_COUNT, _i & 1, false);
	ck_assert_str_eq(text, sums);
	free(text);
	free(sums);
	free(expected);
}
END_TEST

START_TEST(later_definition_wins)
{
	static const struct trace_rec again[] = {
		REC(TRACE_THREAD, thread, 1, 1, 101, 101, 0, 0, S("renamed"), S("")),
		REC(TRACE_FRAME, frame, 11, BRAID_FRAME_CODE_CACHE, 1, 1, CODE_AT + 9999, 0, 0, 2, 0, NULL),
	};
	struct trace_rec recs[SYNTHETIC_COUNT + 2];
	char *text;

	memcpy(recs, synthetic, sizeof(synthetic));
	memcpy(recs + SYNTHETIC_COUNT, again, sizeof(again));
	text = render_all(recs, SYNTHETIC_COUNT + 2, false, true);
	ck_assert_ptr_nonnull(strstr(text, "[renamed tid=101];"));
	ck_assert_ptr_null(strstr(text, "[main tid=101]"));
	ck_assert_ptr_null(strstr(text, "[unknown code]"));
	ck_assert_ptr_nonnull(strstr(text, "\"java_samples\":{\"total\":3,"));
	free(text);
}
END_TEST

/* ---- hostile records ---- */

START_TEST(ids_and_references_without_sense)
{
	static const struct trace_rec hostile[] = {
		REC(TRACE_NODE, node, 5, 5, 1),
		REC(TRACE_NODE, node, 6, 9, 1),
		REC(TRACE_NODE, node, 0, 0, 1),
		REC(TRACE_NODE, node, UINT32_MAX, UINT32_MAX - 1, UINT32_MAX),
		REC(TRACE_NODE, node, 8, 7, 77),
		REC(TRACE_NODE, node, 4, 0, 77),
		REC(TRACE_FRAME, frame, UINT32_MAX, 99, 1, 2, 3, 4, 5, 6, UINT32_MAX, NULL),
		REC(TRACE_FRAME, frame, 1, BRAID_FRAME_END, 0, 0, UINT64_MAX, 0, 0, 0, 0, NULL),
		REC(TRACE_NODE, node, 2, 0, 1),
		REC(TRACE_THREAD, thread, 0x80000000U, 0x70000000U, 1, 1, UINT32_MAX, 0, S("t"), S("")),
		REC(TRACE_METHOD, method, UINT32_MAX, UINT32_MAX, 0, S("c"), S("m"), S(""), S("")),
		REC(TRACE_LINES, lines, UINT32_MAX, 0, NULL),
		REC(TRACE_MAPPING, mapping, 1, 1, 9, 3, 0, 0, 0),
		REC(TRACE_SAMPLE, sample, 1, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT64_MAX),
		REC(TRACE_SAMPLE, sample, UINT64_MAX, 0x80000000U, 0, 8, UINT64_MAX),
		REC(TRACE_SAMPLE, sample, 5, 0x80000000U, 0, 12345, 1),
		REC(TRACE_SAMPLE, sample, 5, 0, 0, 4, 1),
		REC(TRACE_SAMPLE, sample, 5, 0, 0, 2, 1),
		REC(TRACE_SAMPLE, sample, 5, 0, 0, 2, 0),
		{.kind = TRACE_JVM_EVENT,
		 .jvm_event = {1, BRAID_JVM_GC_PAUSE, UINT32_MAX, 7, UINT64_MAX, .value = UINT64_MAX, .flags = 1}},
		{.kind = TRACE_JVM_EVENT, .jvm_event = {9, BRAID_JVM_GC_PAUSE, 0, 0, UINT64_MAX, .name = 77}},
		{.kind = TRACE_JVM_EVENT, .jvm_event = {1, BRAID_JVM_GC_CYCLE, 0, .duration_ns = UINT64_MAX}},
		{.kind = TRACE_JVM_EVENT, .jvm_event = {1, BRAID_JVM_GC_CYCLE, 0, .duration_ns = UINT64_MAX}},
		EVENT(THREAD_START, 0, 0, 0),
		EVENT(THREAD_END, 0, 0, UINT32_MAX),
		EVENT(CLASS_UNLOAD, 0, UINT32_MAX, 0),
		REC(TRACE_LOSS, loss, 0, 0, S(""), S(""), UINT64_MAX),
		REC(TRACE_LOSS, loss, 0, 0, S(""), S(""), UINT64_MAX),
		REC(TRACE_STAT, stat, 0, UINT32_MAX, S(""), UINT64_MAX),
		REC(TRACE_NOTICE, notice, 0, UINT32_MAX, 99, {NULL, 17}),
		REC(TRACE_JVM, jvm, UINT32_MAX, 99, 0, 0, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, S("\xff\xfe"),
		    S(""), S(""), S("")),
		REC(TRACE_CODE_LOAD, code_load, 1, 0, 0, 0, 0, 0, 0),
		{.kind = 0},
		{.kind = UINT32_MAX},
	};
	size_t count = sizeof(hostile) / sizeof(hostile[0]);
	char *text = render_all(hostile, count, _i, true);

	ck_assert_ptr_nonnull(strstr(text, "\"by_cause\":{\"unknown\":1,\"damaged\":18446744073709551615}"));
	ck_assert_ptr_nonnull(strstr(text, "[t tid=1];[incomplete: damaged] "));
	ck_assert_ptr_nonnull(strstr(text, "\"lost\":{\"\":{\"\":18446744073709551615}}"));
	free(text);
}
END_TEST

/* Large sparse ids cost as much as their records, not as much as the ids' range. */
START_TEST(sparse_ids_are_cheap)
{
	struct analyzer *a;
	struct trace_rec rec = {.kind = TRACE_NODE};
	char *text;

	ck_assert_int_eq(analyzer_new(&a), 0);
	for (uint32_t i = 1; i <= 200000; i++) {
		rec.node = (struct trace_node){i * 20000U + 1, (i - 1) * 20000U + (i > 1), 3};
		ck_assert_int_eq(analyzer_feed(a, &rec), 0);
	}
	rec = (struct trace_rec){.kind = TRACE_SAMPLE, .sample = {5, 1, 0, 200000 * 20000U + 1, 1}};
	ck_assert_int_eq(analyzer_feed(a, &rec), 0);
	text = render(a, true);
	ck_assert_ptr_nonnull(strstr(text, "\"samples\":{\"total\":1,\"complete\":0,\"by_cause\":{\"damaged\":1}}"));
	free(text);
	analyzer_free(a);
}
END_TEST

START_TEST(random_records)
{
	static const struct trace_scope scopes[] = {{1, 0}, {2, -1}, {3, INT32_MAX}};
	struct analyzer *a;
	unsigned seed = 7u + (unsigned)_i;

	ck_assert_int_eq(analyzer_new(&a), 0);
	for (int i = 0; i < 20000; i++) {
		struct trace_rec rec = {.kind = (uint32_t)rand_r(&seed) % (TRACE_KINDS + 2)};
		uint32_t *words = (uint32_t *)(void *)((char *)&rec + 8);

		/* Only kinds without pointers can be filled with random bytes. */
		if (rec.kind != TRACE_NODE && rec.kind != TRACE_SAMPLE && rec.kind != TRACE_CLOCK &&
		    rec.kind != TRACE_MAPPING && rec.kind != TRACE_FRAME)
			continue;
		for (size_t w = 0; w < 14; w++)
			words[w] = rand_r(&seed) % 3 ? (uint32_t)rand_r(&seed) % 64 : (uint32_t)rand_r(&seed) << 1;
		if (rec.kind == TRACE_FRAME) {
			rec.frame.scope_count = words[0] % 4;
			rec.frame.scopes = rec.frame.scope_count < 4 && rec.frame.scope_count ? scopes : NULL;
			rec.frame.kind %= 17;
		}
		ck_assert_int_eq(analyzer_feed(a, &rec), 0);
	}
	free(render(a, true));
	analyzer_free(a);
}
END_TEST

START_TEST(endless_stack_is_cut)
{
	struct analyzer *a;
	struct trace_rec rec = {.kind = TRACE_FRAME, .frame = {.frame = 1, .kind = BRAID_FRAME_NATIVE}};
	char *text;

	ck_assert_int_eq(analyzer_new(&a), 0);
	ck_assert_int_eq(analyzer_feed(a, &rec), 0);
	for (uint32_t i = 1; i <= STACK_DEPTH_MAX + 10; i++) {
		rec = (struct trace_rec){.kind = TRACE_NODE, .node = {i, i - 1, 1}};
		ck_assert_int_eq(analyzer_feed(a, &rec), 0);
	}
	rec = (struct trace_rec){.kind = TRACE_SAMPLE, .sample = {5, 1, 0, STACK_DEPTH_MAX, 1}};
	ck_assert_int_eq(analyzer_feed(a, &rec), 0);
	rec.sample.node = STACK_DEPTH_MAX + 2;
	ck_assert_int_eq(analyzer_feed(a, &rec), 0);
	text = render(a, true);
	ck_assert_ptr_nonnull(strstr(text, "\"samples\":{\"total\":2,\"complete\":1,\"by_cause\":{\"damaged\":1}}"));
	ck_assert_ptr_nonnull(strstr(text, ";[incomplete: damaged];[unknown];[unknown] 1\n"));
	free(text);
	analyzer_free(a);
}
END_TEST

/* ---- recursion, empty ---- */

START_TEST(recursion_counts_once)
{
	static const struct trace_rec recs[] = {
		REC(TRACE_METHOD, method, 1, 1, 9, S("a.B"), S("f"), S("()V"), S("")),
		REC(TRACE_CODE, code, 1, 1, TRACE_CODE_METHOD, 1, 4, 7, 0, 1, 1, 1, S("")),
		REC(TRACE_FRAME, frame, 1, BRAID_FRAME_CODE_CACHE, 1, 0, 16, 0, 0, 1, 0, NULL),
		REC(TRACE_FRAME, frame, 2, BRAID_FRAME_INTERPRETED, 1, 0, 16, 0, 0, 0, 1, main_scope),
		REC(TRACE_NODE, node, 1, 0, 1),
		REC(TRACE_NODE, node, 2, 1, 2),
		REC(TRACE_NODE, node, 3, 2, 1),
		REC(TRACE_SAMPLE, sample, 5, 1, 0, 3, 4),
		REC(TRACE_SAMPLE, sample, 5, 1, 0, 1, 1),
	};
	struct analyzer *a;
	struct analysis *an;
	struct views *v;

	ck_assert_int_eq(analyzer_new(&a), 0);
	for (size_t i = 0; i < sizeof(recs) / sizeof(recs[0]); i++)
		ck_assert_int_eq(analyzer_feed(a, &recs[i]), 0);
	ck_assert_int_eq(analysis_new(&an, a, NULL), 0);
	ck_assert_int_eq(views_new(&v, an), 0);
	ck_assert_uint_eq(v->methods.count, 1);
	ck_assert_str_eq(v->methods.at[0].name, "a.B.f");
	ck_assert_uint_eq(v->methods.at[0].self, 5);
	ck_assert_uint_eq(v->methods.at[0].total, 5);
	ck_assert_int_eq(v->methods.at[0].kind, KIND_C2);
	ck_assert_uint_eq(v->methods.at[0].kind_weight[KIND_INTERPRETED], 4);
	ck_assert_uint_eq(v->methods.at[0].kind_weight[KIND_C2], 9);
	views_free(v);
	analysis_free(an);
	analyzer_free(a);
}
END_TEST

START_TEST(nothing_fed)
{
	char *text = render_all(NULL, 0, false, true);

	ck_assert_ptr_nonnull(strstr(text, "samples    0 in 0 stacks"));
	ck_assert_ptr_nonnull(strstr(text, "nothing lost"));
	free(text);
	views_free(NULL);
	analysis_free(NULL);
	analyzer_free(NULL);
}
END_TEST

START_TEST(window_needs_samples)
{
	struct filter f = {.has_from = true};
	struct analyzer *a;
	struct analysis *an;

	ck_assert_int_eq(analyzer_new(&a), 0);
	ck_assert_int_eq(analysis_new(&an, a, &f), -EINVAL);
	ck_assert_ptr_null(an);
	analyzer_free(a);
}
END_TEST

/* Without a window, a trace is analyzed whatever its clock says. */
START_TEST(clock_without_sense)
{
	const struct trace_rec clock = {.kind = TRACE_CLOCK, .clock = {UINT64_MAX, 0, 0}};
	struct analyzer *a;
	struct analysis *an;

	ck_assert_int_eq(analyzer_new(&a), 0);
	ck_assert_int_eq(analyzer_feed(a, &clock), 0);
	ck_assert_int_eq(analysis_new(&an, a, NULL), 0);
	analysis_free(an);
	analyzer_free(a);
}
END_TEST

/* The time between two samples is not known if the frequency is not, or makes no sense. */
START_TEST(period_of_samples)
{
	static const struct {
		const char *frequency;
		uint64_t period_ns;
	} cases[] = {{NULL, 0},	       {"0", 0},	  {"many", 0},
		     {"99", 10101010}, {"1000000", 1000}, {"18446744073709551615", 0}};
	struct trace_rec info = REC(TRACE_INFO, info, S("record.frequency_hz"), S(""));
	struct analyzer *a;

	ck_assert_int_eq(analyzer_new(&a), 0);
	if (cases[_i].frequency) {
		info.info.value = str_of(cases[_i].frequency);
		ck_assert_int_eq(analyzer_feed(a, &info), 0);
	}
	ck_assert_uint_eq(analyzer_period_ns(a), cases[_i].period_ns);
	analyzer_free(a);
}
END_TEST

/* ---- parts ---- */

START_TEST(texts_are_clean)
{
	static const char *const cases[][2] = {
		{"plain", "plain"},
		{"a\033[2Jb", "a?[2Jb"},
		{"\xc3\xa4\xe2\x82\xac", "\xc3\xa4\xe2\x82\xac"},
		{"\xc2\x9b", "?"},
		{"\xe2\x80\xae"
		 "x",
		 "?x"},
		{"\xff\xc3", "??"},
		{"\xc0\x80", "??"},
		{"\xed\xa0\x80", "???"},
		{"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
		{"\xe2\x80\xa8", "?"},
		{"\xf5\x80\x80\x80", "????"},
		{"\x7f\n", "??"},
	};
	char buf[32];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t len = text_clean(buf, cases[i][0], strlen(cases[i][0]));

		buf[len] = '\0';
		ck_assert_str_eq(buf, cases[i][1]);
	}
}
END_TEST

START_TEST(maps_and_pools)
{
	struct u64map m = {0};
	struct strpool p = {0};
	char text[32];

	ck_assert_uint_eq(u64map_get(&m, 0), 0);
	ck_assert_uint_eq(strpool_find(&p, "absent"), STRPOOL_FAILED);
	for (uint32_t i = 0; i < 5000; i++) {
		uint32_t *at = u64map_put(&m, (uint64_t)i << 33);

		ck_assert_ptr_nonnull(at);
		ck_assert_uint_eq(*at, 0);
		*at = i + 1;
		snprintf(text, sizeof(text), "name %u", i);
		ck_assert_uint_eq(strpool_add(&p, text, strlen(text)), i + 1);
	}
	for (uint32_t i = 0; i < 5000; i++) {
		ck_assert_uint_eq(u64map_get(&m, (uint64_t)i << 33), i + 1);
		snprintf(text, sizeof(text), "name %u", i);
		ck_assert_uint_eq(strpool_add(&p, text, strlen(text)), i + 1);
		ck_assert_uint_eq(strpool_find(&p, text), i + 1);
		ck_assert_str_eq(strpool_get(&p, i + 1), text);
	}
	ck_assert_uint_eq(u64map_get(&m, 12345), 0);
	ck_assert_uint_eq(strpool_add(&p, "", 0), 0);
	ck_assert_str_eq(strpool_get(&p, 0), "");
	u64map_free(&m);
	strpool_free(&p);
}
END_TEST

START_TEST(every_number_has_a_name)
{
	for (uint32_t i = 0; i < CAUSE_COUNT; i++) {
		ck_assert_ptr_nonnull(cause_name(i));
		ck_assert_ptr_nonnull(cause_sentence(i));
	}
	ck_assert_str_eq(cause_name(BRAID_END_NO_PROCESS), "no_process");
	ck_assert_str_eq(cause_name(UINT32_MAX), "unknown");
	for (int i = 0; i < KIND_COUNT; i++)
		ck_assert_ptr_nonnull(kind_name((enum stack_kind)i));
	ck_assert_str_eq(capability_name(44), "can_support_virtual_threads");
	ck_assert_ptr_null(capability_name(45));
}
END_TEST

Suite *test_analyze(void)
{
	Suite *s = suite_create("analyze");
	TCase *t = tcase_create("reducer");
	TCase *parts = tcase_create("parts");

	tcase_add_loop_test(t, order_does_not_matter, 0, 6);
	tcase_add_test(t, later_definition_wins);
	tcase_add_loop_test(t, ids_and_references_without_sense, 0, 2);
	tcase_add_test(t, sparse_ids_are_cheap);
	tcase_add_loop_test(t, random_records, 0, 8);
	tcase_add_test(t, endless_stack_is_cut);
	tcase_add_test(t, recursion_counts_once);
	tcase_add_test(t, nothing_fed);
	tcase_add_test(t, window_needs_samples);
	tcase_add_test(t, clock_without_sense);
	tcase_add_loop_test(t, period_of_samples, 0, 6);
	suite_add_tcase(s, t);
	tcase_add_test(parts, texts_are_clean);
	tcase_add_test(parts, maps_and_pools);
	tcase_add_test(parts, every_number_has_a_name);
	suite_add_tcase(s, parts);
	return s;
}
