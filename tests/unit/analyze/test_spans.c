// SPDX-License-Identifier: Apache-2.0
/* Tests of spans in an analyzer: repeated definitions, what belongs to them, filters, records without sense. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <report/info.h>
#include <report/spans.h>

#include "unit/spans_fixture.h"

Suite *test_spans(void);

/* Span 0xa1 of trace LO is defined twice; 4 has the same ids in another process. */
static const struct trace_rec recs[] = {
	REC(TRACE_PROCESS, process, 1, 100, 0, 0, S("a"), S("/a")),
	REC(TRACE_PROCESS, process, 2, 200, 0, 0, S("b"), S("/b")),
	REC(TRACE_THREAD, thread, 1, 1, 101, 101, 0, 0, S("first"), S("")),
	REC(TRACE_THREAD, thread, 2, 1, 102, 102, 0, 0, S("second"), S("")),
	REC(TRACE_THREAD, thread, 3, 2, 201, 201, 0, 0, S("other"), S("")),
	SPAN(1, 1, LO, 0xa1),
	SPAN(2, 1, LO, 0xa2),
	SPAN(3, 1, LO, 0xa1),
	SPAN(4, 2, LO, 0xa1),
	SPAN(5, 1, 7, 0xa5),
	TICK(1000, 1, 3, 1),
	TICK(2000, 1, 2, 2),
	TICK(3000, 2, 4, 3),
	TICK(4000, 3, 1, 4),
	TICK(5000, 1, 10, 0),
	TICK(6000, 1, 10, 99),
	OFFCPU(7000, 1, 500, 2),
	OFFCPU(8000, 2, 900, 0),
};

START_TEST(sums)
{
	struct analyzer *a = fed(recs, sizeof(recs) / sizeof(recs[0]));
	struct analysis *an;
	struct span_view *v = view_of(&an, a, NULL);
	const struct span_sum *s = v->sums.at;

	ck_assert_uint_eq(a->ignored, 0);
	ck_assert_uint_eq(v->sums.count, 3);
	ck_assert_uint_eq(v->samples, 10);
	ck_assert_uint_eq(v->offcpu_ns, 500);
	ck_assert(s[0].row->span_id == 0xa1 && s[0].pid == 100 && s[0].samples == 7 && s[0].others);
	ck_assert(s[0].first_ns == 1000 && s[0].last_ns == 3000 && !s[0].offcpu_ns);
	ck_assert(s[1].row->span_id == 0xa2 && s[1].samples == 2 && s[1].offcpu_ns == 500 && !s[1].others);
	ck_assert(s[1].first_ns == 2000 && s[1].last_ns == 7500 && s[1].events == 1);
	ck_assert(s[2].row->span_id == 0xa1 && s[2].pid == 200 && s[2].samples == 1);
	span_view_sort(v, SPANS_BY_DURATION);
	ck_assert(s[0].row->span_id == 0xa2 && s[1].pid == 100 && s[2].pid == 200);
	span_view_sort(v, SPANS_BY_SAMPLES);
	ck_assert(s[0].pid == 100 && s[1].row->span_id == 0xa2 && s[2].pid == 200);
	span_view_free(v);
	analysis_free(an);
	analyzer_free(a);
}
END_TEST

#define COUNTED(time, of, on, many, ns)                                                                                \
	{                                                                                                              \
		.kind = TRACE_JVM_EVENT, .jvm_event = {                                                                \
			.time_ns = time,                                                                               \
			.kind = BRAID_JVM_COUNTED,                                                                     \
			.process = 1,                                                                                  \
			.thread = 1,                                                                                   \
			.duration_ns = 10,                                                                             \
			.node = on,                                                                                    \
			.number = BRAID_JVM_OFFCPU,                                                                    \
			.value = many,                                                                                 \
			.weight = ns,                                                                                  \
			.span = of,                                                                                    \
			.source = BRAID_SOURCE_KERNEL                                                                  \
		}                                                                                                      \
	}

/* Times that were added up in spans, without one, and counted; losses of spans, and others. */
START_TEST(times_added_up)
{
	static const struct trace_rec added[] = {
		REC(TRACE_PROCESS, process, 1, 100, 0, 0, S("a"), S("/a")),
		REC(TRACE_THREAD, thread, 1, 1, 101, 101, 0, 0, S("first"), S("")),
		SPAN(1, 1, LO, 0xa1),
		COUNTED(1000, 1, 5, 7, 700),
		COUNTED(2000, 1, 6, 2, 50),
		COUNTED(3000, 0, 5, 9, 900),
		COUNTED(4000, 0, 0, 3, 33),
		REC(TRACE_LOSS, loss, 5000, 1, S("bpf"), S("span"), 4),
		REC(TRACE_LOSS, loss, 5000, 1, S("collector"), S("span"), 1),
		REC(TRACE_LOSS, loss, 5000, 1, S("bpf"), S("sample"), 100),
	};
	struct analyzer *a = fed(added, sizeof(added) / sizeof(added[0]));
	struct analysis *an;
	struct span_view *v = view_of(&an, a, NULL);

	ck_assert_uint_eq(v->sums.count, 1);
	ck_assert(v->sums.at[0].offcpu_ns == 750 && v->sums.at[0].events == 9);
	ck_assert(v->sums.at[0].first_ns == 1000 && v->sums.at[0].last_ns == 2010);
	ck_assert(v->offcpu_ns == 750 && v->counted_ns == 33 && v->lost == 5);
	span_view_free(v);
	analysis_free(an);
	analyzer_free(a);
}
END_TEST

START_TEST(filters)
{
	static const struct {
		const char *spans, *traces;
		uint64_t samples;
	} cases[] = {
		{"a1", NULL, 8},
		{"00000000000000A1,a2", NULL, 10},
		{"a5", NULL, 0},
		{NULL, "4bf92f3577b34da6a3ce929d0e0e4736", 10},
		{NULL, "4bf92f3577b34da60000000000000007", 0},
		{"a2", "4BF92F3577B34DA6A3CE929D0E0E4736,1", 2},
		/* the one of a1's is seen for 2 us, the other one at one moment, a2 for 5.5 us */
		{"duration>2us", NULL, 2},
		{"duration>=2us", NULL, 9},
		{"duration<2us", NULL, 1},
		{"duration<=2us", NULL, 8},
		{"duration=1us..2us", NULL, 7},
		{"duration=0..0", "4bf92f3577b34da6a3ce929d0e0e4736", 1},
		{"duration>5.5us", NULL, 0},
	};
	struct analyzer *a = fed(recs, sizeof(recs) / sizeof(recs[0]));
	struct analysis *an;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct filter f = {0};
		struct span_view *v;

		ck_assert_int_eq(cases[i].spans ? filter_add_spans(&f, cases[i].spans) : 0, 0);
		ck_assert_int_eq(cases[i].traces ? filter_add_traces(&f, cases[i].traces) : 0, 0);
		ck_assert_int_eq(spans_measure(a), 0);
		v = view_of(&an, a, &f);
		ck_assert_uint_eq(an->samples.quality.total, cases[i].samples);
		ck_assert_uint_eq(v->samples, cases[i].samples);
		span_view_free(v);
		analysis_free(an);
		filter_free(&f);
	}
	analyzer_free(a);
}
END_TEST

START_TEST(ids_that_are_none)
{
	static const char *const none[] = {"",
					   "0",
					   "x",
					   "a1,",
					   ",a1",
					   "a1 ",
					   "12345678901234567",
					   "-1",
					   "duration>50",
					   "duration>",
					   "duration",
					   "duration<0",
					   "duration=1ms",
					   "duration=2ms..1ms",
					   "duration>1ms..2ms",
					   "duration~",
					   "name~",
					   "uprobe:"};
	struct filter f = {0};

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		ck_assert_int_eq(filter_add_spans(&f, none[i]), -EINVAL);
	ck_assert_int_eq(filter_add_traces(&f, "4bf92f3577b34da6a3ce929d0e0e47361"), -EINVAL);
	ck_assert_int_eq(filter_add_traces(&f, "00000000000000000000000000000000"), -EINVAL);
	filter_free(&f);
}
END_TEST

/* What the spans are as text and as JSON, and the attributes of processes between. */
static char *rendered(const struct analyzer *a, struct span_view *v)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	spans_text(out, v, NULL, 10);
	text_resources(out, a);
	spans_json(out, v, NULL, 10);
	fclose(out);
	return text;
}

/* A definition without an id, one that is replaced, and events of spans that nothing defines. */
START_TEST(hostile_records)
{
	static const struct trace_rec hostile[] = {
		SPAN(0, 1, LO, 1),
		SPAN(UINT32_MAX, 77, LO, 1),
		SPAN(2, 1, LO, 2),
		SPAN(3, 1, LO, 2),
		SPAN(2, 1, LO, 3), /* what stood for 3 is another span now */
		TICK(1, 9, UINT64_MAX, 2),
		TICK(2, 9, UINT64_MAX, 3),
		TICK(0, 0, 1, UINT32_MAX),
		TICK(UINT64_MAX, 0, 1, 4),
		OFFCPU(UINT64_MAX, UINT32_MAX, UINT64_MAX, 3),
	};
	struct analyzer *a = fed(hostile, sizeof(hostile) / sizeof(hostile[0]));
	struct analysis *an;
	struct span_view *v = view_of(&an, a, NULL);

	free(rendered(a, v));
	ck_assert_uint_eq(a->ignored, 1);
	ck_assert(v->sums.count && v->samples == UINT64_MAX);
	span_view_free(v);
	analysis_free(an);
	analyzer_free(a);
}
END_TEST

/* Attributes of processes and of spans; later values replace earlier ones, also those of a repeated definition. */
static const struct trace_rec described[] = {
	REC(TRACE_PROCESS, process, 1, 100, 0, 0, S("a"), S("/a")),
	REC(TRACE_THREAD, thread, 1, 1, 101, 101, 0, 0, S("first"), S("")),
	REC(TRACE_NAME, name, 1, S("http.route")),
	REC(TRACE_NAME, name, 2, S("/cart")),
	REC(TRACE_NAME, name, 3, S("/log\033in")),
	REC(TRACE_NAME, name, 4, S("user")),
	REC(TRACE_RESOURCE, resource, 1, 4, 3),
	REC(TRACE_RESOURCE, resource, 1, 4, 2),
	SPAN(1, 1, LO, 0xa1),
	SPAN(2, 1, LO, 0xa2),
	SPAN(3, 1, LO, 0xa1),
	REC(TRACE_ATTRIBUTE, attribute, 1, 1, 2),
	REC(TRACE_ATTRIBUTE, attribute, 2, 1, 2),
	REC(TRACE_ATTRIBUTE, attribute, 2, 1, 3),
	REC(TRACE_ATTRIBUTE, attribute, 3, 4, 2),
	TICK(1000, 1, 3, 1),
	TICK(2000, 1, 2, 2),
	TICK(3000, 1, 4, 3),
	REC(TRACE_ATTRIBUTE, attribute, 9, 1, 2),  /* of no span */
	REC(TRACE_ATTRIBUTE, attribute, 2, 99, 2), /* without a name */
	REC(TRACE_RESOURCE, resource, 7, 1, 2),
};

START_TEST(attributes)
{
	struct analyzer *a = fed(described, sizeof(described) / sizeof(described[0]));
	struct analysis *an;
	struct span_view *v = view_of(&an, a, NULL);
	char *text = rendered(a, v);

	ck_assert_uint_eq(a->ignored, 3);
	ck_assert_uint_eq(samples_with(a, "http.route=/cart"), 7);
	ck_assert_uint_eq(samples_with(a, "user=/cart"), 7);
	ck_assert_uint_eq(samples_with(a, "http.route=/car"), 0);
	ck_assert_uint_eq(samples_with(a, "http.rout=/cart"), 0);
	ck_assert_uint_eq(samples_with(a, "user="), 0);
	ck_assert_uint_eq(samples_with(a, "http.route~/c*t"), 7);
	ck_assert_uint_eq(samples_with(a, "http.route~\"/c*\""), 7);
	ck_assert_uint_eq(samples_with(a, "http.route~/c"), 0);
	ck_assert_uint_eq(samples_with(a, "name~/*"), 9);
	ck_assert_uint_eq(samples_with(a, "name~/log*"), 2);
	ck_assert_uint_eq(samples_with(a, "user~*"), 7);
	ck_assert_uint_eq(samples_with(a, "none~*"), 0);
	ck_assert_ptr_nonnull(strstr(text, " http.route=\"/cart\" user=\"/cart\"\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n  pid 100  user=\"/cart\"\n"));
	ck_assert_ptr_nonnull(strstr(text, "\"attributes\":{\"http.route\":\"/cart\",\"user\":\"/cart\"}"));
	ck_assert_ptr_null(strchr(text, '\033'));
	free(text);
	span_view_free(v);
	analysis_free(an);
	analyzer_free(a);
}
END_TEST

/* More attributes than a span can have. */
START_TEST(too_many_attributes)
{
	struct analyzer *a = fed(described, 9);

	for (uint32_t i = 0; i < 1000; i++) {
		char key[16];
		struct trace_rec fresh[] = {REC(TRACE_NAME, name, 100 + i, S("")),
					    REC(TRACE_ATTRIBUTE, attribute, 1, 100 + i, 2)};

		snprintf(key, sizeof(key), "key %u", i);
		fresh[0].name.text = (struct trace_str){key, (uint32_t)strlen(key)};
		ck_assert_int_eq(analyzer_feed(a, &fresh[0]), 0);
		ck_assert_int_eq(analyzer_feed(a, &fresh[1]), 0);
	}
	ck_assert_uint_eq(a->ignored, 1000 - 512);
	analyzer_free(a);
}
END_TEST

Suite *test_spans(void)
{
	Suite *s = suite_create("spans");
	TCase *t = tcase_create("analyzer");

	tcase_add_test(t, sums);
	tcase_add_test(t, times_added_up);
	tcase_add_test(t, filters);
	tcase_add_test(t, ids_that_are_none);
	tcase_add_test(t, attributes);
	tcase_add_test(t, too_many_attributes);
	tcase_add_test(t, hostile_records);
	suite_add_tcase(s, t);
	return s;
}
