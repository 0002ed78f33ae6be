// SPDX-License-Identifier: Apache-2.0
/* Tests of the stream of timed events: what it gives is what an analysis adds up. */
#include "unit/stream_fixture.h"

Suite *test_stream(void);

START_TEST(sums_are_those_of_the_analysis)
{
	uint64_t weight[BRAID_JVM_EVENTS] = {0}, expected[BRAID_JVM_EVENTS] = {0}, samples = 0, hits = 0;
	struct filter f = {0};
	struct stream_file o;
	struct stream s;
	struct event e;
	struct timed t;

	if (_i == 1)
		ck_assert_int_eq(filter_add_pids(&f, "200"), 0);
	if (_i == 2)
		ck_assert_int_eq(filter_add_tids(&f, "101"), 0);
	if (_i == 3)
		ck_assert_int_eq(filter_add_exclude(&f, "Util", NULL, 0), 0);
	o = stream_open(_i ? &f : NULL);
	stream_begin(&s, o.reader, o.an);
	while (stream_next(&s, &t) == 1) {
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
	ck_assert_int_eq(stream_next(&s, &t), 0);
	stream_close(&o);
	filter_free(&f);
}
END_TEST

START_TEST(samples_have_their_facts)
{
	struct stream_file o = stream_open(NULL);
	struct stream s;
	struct timed t;

	stream_begin(&s, o.reader, o.an);
	ck_assert_int_eq(stream_next(&s, &t), 1);
	ck_assert_ptr_null(t.event);
	ck_assert_uint_eq(t.time_ns, BASE_NS);
	ck_assert_uint_eq(t.cpu, 0);
	ck_assert_uint_eq(t.process, 1);
	ck_assert_str_eq(t.name, "cpu-clock");
	ck_assert_str_eq(analysis_thread_name(o.an, t.thread), "main");
	ck_assert_uint_eq(t.carrier, t.thread);
	ck_assert_int_eq(stream_next(&s, &t), 1);
	ck_assert_uint_eq(t.event->kind, BRAID_JVM_THREAD_START);
	ck_assert_uint_eq(t.cpu, TRACE_NO_CPU);
	stream_close(&o);
}
END_TEST

/* Spans that the reader makes are not in the file, which is read again. */
START_TEST(made_spans_select)
{
	struct filter f = {0};
	struct stream_file o;
	struct stream s;
	struct timed t;
	uint64_t samples = 0;

	ck_assert_int_eq(filter_add_spans(&f, "begin..end"), 0);
	o = stream_open(&f);
	stream_begin(&s, o.reader, o.an);
	while (stream_next(&s, &t) == 1)
		if (!t.event && !t.hit) {
			ck_assert_uint_eq(t.span, 1);
			samples += t.weight;
		}
	ck_assert_uint_eq(samples, 3); /* at 20, 30 and 40 ms */
	ck_assert_uint_eq(samples, o.an->samples.quality.total);
	stream_close(&o);
	filter_free(&f);
}
END_TEST

Suite *test_stream(void)
{
	Suite *s = suite_create("stream");
	TCase *tc = tcase_create("stream");

	tcase_add_loop_test(tc, sums_are_those_of_the_analysis, 0, 4);
	tcase_add_test(tc, samples_have_their_facts);
	tcase_add_test(tc, made_spans_select);
	suite_add_tcase(s, tc);
	return s;
}
