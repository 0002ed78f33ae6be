// SPDX-License-Identifier: Apache-2.0
/* Tests of the stream of timed events: what it gives is what an analysis adds up. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <views/span_pairs.h>
#include <analyze/stream.h>

#include "unit/events_fixture.h"
#include "unit/run.h"

Suite *test_stream(void);

static char path[] = "/tmp/braid-test-stream-XXXXXX";

static void make_path(void)
{
	ck_assert_int_ge(mkstemp(path), 0);
}

static void remove_path(void)
{
	char older[64];

	snprintf(older, sizeof(older), "%s.old", path);
	unlink(older);
	unlink(path);
}

static void put_all(struct trace_writer *w, const struct trace_rec *recs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ck_assert_int_eq(trace_writer_put(w, &recs[i]), 0);
}

static const struct trace_rec pairs[] = {
	REC(TRACE_NAME, name, 100, S("uprobe:/a:begin")),
	REC(TRACE_NAME, name, 101, S("uprobe:/a:end")),
	REC(TRACE_SAMPLE, sample, BASE_NS + 15 * MS, 1, 0, 3, 1, 0, 100),
	REC(TRACE_SAMPLE, sample, BASE_NS + 45 * MS, 1, 0, 3, 1, 0, 101),
};

struct opened {
	struct analyzer *a;
	struct analysis *an;
	struct trace_reader *reader;
	struct stream s;
};

/* The trace of all fixtures, read once, with the stream at its beginning. */
static struct opened open_stream(const struct filter *filter)
{
	struct opened o = {0};
	struct trace_writer *w;
	struct trace_rec rec;
	struct span_pairs made;

	unlink(path);
	ck_assert_int_eq(trace_writer_open(&w, path), 0);
	put_all(w, synthetic, SYNTHETIC_COUNT);
	put_all(w, more, sizeof(more) / sizeof(more[0]));
	put_all(w, events, sizeof(events) / sizeof(events[0]));
	put_all(w, pairs, sizeof(pairs) / sizeof(pairs[0]));
	ck_assert_int_eq(trace_writer_close(w), 0);
	ck_assert_int_eq(trace_reader_open(&o.reader, path, NULL), 0);
	ck_assert_int_eq(analyzer_new(&o.a), 0);
	if (filter && filter_needs_samples(filter))
		analyzer_keep_samples(o.a);
	while (trace_reader_next(o.reader, &rec) == 1)
		ck_assert_int_eq(analyzer_feed(o.a, &rec), 0);
	if (filter && filter->pair)
		ck_assert_int_eq(span_pairs_define(o.a, filter->pair, &made), 0);
	ck_assert_int_eq(analysis_new(&o.an, o.a, filter), 0);
	stream_begin(&o.s, o.reader, o.an);
	return o;
}

static void close_stream(struct opened *o)
{
	analysis_free(o->an);
	analyzer_free(o->a);
	trace_reader_close(o->reader);
}

START_TEST(sums_are_those_of_the_analysis)
{
	uint64_t weight[BRAID_JVM_EVENTS] = {0}, expected[BRAID_JVM_EVENTS] = {0}, samples = 0, hits = 0;
	struct filter f = {0};
	struct opened o;
	struct event e;
	struct timed t;

	if (_i == 1)
		ck_assert_int_eq(filter_add_pids(&f, "200"), 0);
	if (_i == 2)
		ck_assert_int_eq(filter_add_tids(&f, "101"), 0);
	if (_i == 3)
		ck_assert_int_eq(filter_add_exclude(&f, "Util", NULL, 0), 0);
	o = open_stream(_i ? &f : NULL);
	while (stream_next(&o.s, &t) == 1) {
		if (t.event)
			weight[t.event->kind] += t.weight;
		else
			*(t.hit ? &hits : &samples) += t.weight;
		ck_assert(t.stack == ROW_NONE || t.stack < o.a->nodes.count);
		ck_assert(t.process != 0 || t.thread == ROW_NONE);
	}
	for (size_t i = 0; i < events_count(o.an); i++)
		if (events_get_summed(o.an, i, &e))
			expected[e.kind] += e.weight;
	ck_assert_uint_eq(samples, o.an->samples.quality.total);
	ck_assert_uint_eq(hits, _i == 0 || _i == 2 ? 2 : 0);
	for (uint32_t k = 0; k < BRAID_JVM_EVENTS; k++)
		ck_assert_uint_eq(weight[k], expected[k]);
	ck_assert_uint_eq(weight[BRAID_JVM_LIVE] > 0, _i == 0 || _i == 2 || _i == 3);
	ck_assert_int_eq(stream_next(&o.s, &t), 0);
	close_stream(&o);
	filter_free(&f);
}
END_TEST

START_TEST(samples_have_their_facts)
{
	struct opened o = open_stream(NULL);
	struct timed t;

	ck_assert_int_eq(stream_next(&o.s, &t), 1);
	ck_assert_ptr_null(t.event);
	ck_assert_uint_eq(t.time_ns, BASE_NS);
	ck_assert_uint_eq(t.cpu, 0);
	ck_assert_uint_eq(t.process, 1);
	ck_assert_str_eq(t.name, "cpu-clock");
	ck_assert_str_eq(analysis_thread_name(o.an, t.thread), "main");
	ck_assert_uint_eq(t.carrier, t.thread);
	ck_assert_int_eq(stream_next(&o.s, &t), 1);
	ck_assert_uint_eq(t.event->kind, BRAID_JVM_THREAD_START);
	ck_assert_uint_eq(t.cpu, STREAM_NO_CPU);
	close_stream(&o);
}
END_TEST

/* Spans that the reader makes are not in the file, which is read again. */
START_TEST(made_spans_select)
{
	struct filter f = {0};
	struct opened o;
	struct timed t;
	uint64_t samples = 0;

	ck_assert_int_eq(filter_add_spans(&f, "begin..end"), 0);
	o = open_stream(&f);
	while (stream_next(&o.s, &t) == 1)
		if (!t.event && !t.hit) {
			ck_assert_uint_eq(t.span, 1);
			samples += t.weight;
		}
	ck_assert_uint_eq(samples, 3); /* at 20, 30 and 40 ms */
	ck_assert_uint_eq(samples, o.an->samples.quality.total);
	close_stream(&o);
	filter_free(&f);
}
END_TEST

Suite *test_stream(void)
{
	Suite *s = suite_create("stream");
	TCase *tc = tcase_create("stream");

	tcase_add_unchecked_fixture(tc, make_path, remove_path);
	tcase_add_loop_test(tc, sums_are_those_of_the_analysis, 0, 4);
	tcase_add_test(tc, samples_have_their_facts);
	tcase_add_test(tc, made_spans_select);
	suite_add_tcase(s, tc);
	return s;
}
