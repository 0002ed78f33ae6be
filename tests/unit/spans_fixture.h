/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of spans share: records with spans, and their analysis. */
#ifndef BRAID_TESTS_SPANS_FIXTURE_H
#define BRAID_TESTS_SPANS_FIXTURE_H

#include <analyze/spans.h>
#include <views/span_view.h>

#include <check.h>

#include "unit/synthetic.h"

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

static inline struct analyzer *fed(const struct trace_rec *r, size_t count)
{
	struct analyzer *a;

	ck_assert_int_eq(analyzer_new(&a), 0);
	analyzer_keep_samples(a);
	for (size_t i = 0; i < count; i++)
		ck_assert_int_eq(analyzer_feed(a, &r[i]), 0);
	return a;
}

static inline struct span_view *view_of(struct analysis **an, const struct analyzer *a, const struct filter *f)
{
	struct span_view *v;

	ck_assert_int_eq(analysis_new(an, a, f), 0);
	ck_assert_int_eq(span_view_new(&v, *an), 0);
	return v;
}

static inline uint64_t samples_with(const struct analyzer *a, const char *span)
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

#endif
