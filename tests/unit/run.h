// SPDX-License-Identifier: Apache-2.0
/* Runs the analyzer and an analysis over the synthetic trace and a test's additions, as a report does. */
#ifndef TESTS_UNIT_RUN_H
#define TESTS_UNIT_RUN_H

#include <check.h>
#include <stdlib.h>
#include <time.h>

#include <views/views.h>

#include "synthetic.h"

struct run {
	struct analyzer *a;
	struct analysis *an;
	struct views *v;
};

static inline void run_feed(struct run *r, const struct trace_rec *recs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ck_assert_int_eq(analyzer_feed(r->a, &recs[i]), 0);
}

/* With the synthetic trace fed; the test may feed more. */
static inline struct run run_begin(const struct filter *filter)
{
	struct run r = {0};

	ck_assert_int_eq(analyzer_new(&r.a), 0);
	if (filter && filter_has_window(filter))
		analyzer_keep_samples(r.a);
	run_feed(&r, synthetic, SYNTHETIC_COUNT);
	return r;
}

static inline void run_analyze(struct run *r, const struct filter *filter)
{
	ck_assert_int_eq(analysis_new(&r->an, r->a, filter), 0);
	ck_assert_int_eq(views_new(&r->v, r->an), 0);
}

static inline void run_free(struct run *r)
{
	views_free(r->v);
	analysis_free(r->an);
	analyzer_free(r->a);
}

static inline void use_zone(const char *tz)
{
	setenv("TZ", tz, 1);
	tzset();
}

#endif
