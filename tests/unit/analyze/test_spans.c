// SPDX-License-Identifier: Apache-2.0
/* Tests of spans in an analyzer: repeated definitions, what belongs to them, filters, records without sense. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <views/span_calls.h>
#include <views/span_pairs.h>
#include <analyze/spans.h>
#include <views/span_view.h>
#include <report/info.h>
#include <report/spans.h>

#include "unit/synthetic.h"

Suite *test_spans(void);

#define HI 0x4bf92f3577b34da6
#define LO 0xa3ce929d0e0e4736
#define SPAN(number, process, lo, id) REC(TRACE_SPAN, span, number, process, HI, lo, id)
#define TICK(time, thread, weight, span)                                                                               \
	{                                                                                                              \
		.kind = TRACE_SAMPLE, .sample = { time, thread, 0, 0, weight, 0, 0, span }                             \
	}
#define OFFCPU(time, who, ns, of)                                                                                      \
	{                                                                                                              \
		.kind = TRACE_JVM_EVENT, .jvm_event = {                                                                \
			.time_ns = time,                                                                               \
			.kind = BRAID_JVM_OFFCPU,                                                                      \
			.process = 1,                                                                                  \
			.thread = who,                                                                                 \
			.duration_ns = ns,                                                                             \
			.span = of,                                                                                    \
			.source = BRAID_SOURCE_KERNEL                                                                  \
		}                                                                                                      \
	}

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

static struct analyzer *fed(const struct trace_rec *r, size_t count)
{
	struct analyzer *a;

	ck_assert_int_eq(analyzer_new(&a), 0);
	analyzer_keep_samples(a);
	for (size_t i = 0; i < count; i++)
		ck_assert_int_eq(analyzer_feed(a, &r[i]), 0);
	return a;
}

static struct span_view *view_of(struct analysis **an, const struct analyzer *a, const struct filter *f)
{
	struct span_view *v;

	ck_assert_int_eq(analysis_new(an, a, f), 0);
	ck_assert_int_eq(span_view_new(&v, *an), 0);
	return v;
}

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
	};
	struct analyzer *a = fed(recs, sizeof(recs) / sizeof(recs[0]));
	struct analysis *an;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct filter f = {0};
		struct span_view *v;

		ck_assert_int_eq(cases[i].spans ? filter_add_spans(&f, cases[i].spans) : 0, 0);
		ck_assert_int_eq(cases[i].traces ? filter_add_traces(&f, cases[i].traces) : 0, 0);
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
	static const char *const none[] = {"", "0", "x", "a1,", ",a1", "a1 ", "12345678901234567", "-1"};
	struct filter f = {0};

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		ck_assert_int_eq(filter_add_spans(&f, none[i]), -EINVAL);
	ck_assert_int_eq(filter_add_traces(&f, "4bf92f3577b34da6a3ce929d0e0e47361"), -EINVAL);
	ck_assert_int_eq(filter_add_traces(&f, "00000000000000000000000000000000"), -EINVAL);
	filter_free(&f);
}
END_TEST

/* What the spans are as text and as JSON, and the attributes of processes between. */
static char *rendered(const struct analyzer *a, const struct span_view *v)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	spans_text(out, v, 10);
	text_resources(out, a);
	spans_json(out, v, 10);
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

static uint64_t samples_with(const struct analyzer *a, const char *span)
{
	struct filter f = {0};
	struct analysis *an;
	struct span_view *v;
	uint64_t samples;

	ck_assert_int_eq(filter_add_spans(&f, span), 0);
	v = view_of(&an, a, &f);
	samples = v->samples;
	span_view_free(v);
	analysis_free(an);
	filter_free(&f);
	return samples;
}

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

/* Calls end before those around them, and are recorded then. */
static const struct trace_rec calls[] = {
	REC(TRACE_PROCESS, process, 1, 100, 0, 0, S("a"), S("/a")),
	REC(TRACE_THREAD, thread, 1, 1, 101, 101, 0, 0, S("first"), S("")),
	REC(TRACE_THREAD, thread, 2, 1, 102, 102, 0, 0, S("second"), S("")), REC(TRACE_NAME, name, 1, S("a.B.find")),
	REC(TRACE_NAME, name, 2, S("a.B.main")), REC(TRACE_NAME, name, 3, S("x.Failure")), TICK(1500, 1, 3, 7),
	TICK(2500, 1, 5, 0), TICK(1600, 2, 1, 0), CALLED(1, 1200, 1800, .name = 1),
	CALLED(1, 1000, 2000, .name = 1, .text = {"arg1=1", 6}, .detail = 3, .flags = BRAID_METHOD_THROWN),
	CALLED(1, 2000, 2400, .name = 1), CALLED(2, 900, 1700, .name = 1),
	/* of two virtual threads on one carrier, one of which changes it */
	REC(TRACE_VTHREAD, vthread, 5, 1, 50, S("request-5")), REC(TRACE_VTHREAD, vthread, 6, 1, 60, S("request-6")),
	CALLED(1, 3000, 4000, .name = 1, .vthread = 5), CALLED(1, 3100, 3900, .name = 1, .vthread = 6),
	REC(TRACE_SAMPLE, sample, 3200, 1, 0, 0, 2, 5), REC(TRACE_SAMPLE, sample, 3300, 2, 0, 0, 4, 5),
	REC(TRACE_SAMPLE, sample, 3400, 1, 0, 0, 8, 6), REC(TRACE_SAMPLE, sample, 3500, 1, 0, 0, 16, 0),
	CALLED(1, 100, 9000, .name = 2), OFFCPU(1300, 1, 400, 0), OFFCPU(1900, 1, 400, 0), /* not as a whole in one */
};

static bool has(const struct analyzer *a, const struct span_row *s, const char *attribute)
{
	struct filter f = {0};
	bool selected;

	ck_assert_int_eq(filter_add_spans(&f, attribute), 0);
	selected = spans_selected(a, &f, s);
	filter_free(&f);
	return selected;
}

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
	ck_assert(has(a, s[0].row, "method=a.B.find") && has(a, s[0].row, "values=arg1=1"));
	ck_assert(has(a, s[0].row, "exception=x.Failure") && !has(a, s[1].row, "exception=x.Failure"));
	span_view_free(v);
	analysis_free(an);

	ck_assert_int_eq(span_calls_define(a, "find", &spans), 0);
	ck_assert_uint_eq(spans, 0);
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
	tcase_add_test(t, pairs_of_events);
	tcase_add_test(t, pairs_that_are_none);
	tcase_add_test(t, calls_are_spans);
	tcase_add_test(t, values_are_in_calls);
	tcase_add_test(t, spans_are_made_in_one_way);
	suite_add_tcase(s, t);
	return s;
}
