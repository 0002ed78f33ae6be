// SPDX-License-Identifier: Apache-2.0
/* Tests of JNI references and critical sections: reports, their stacks, and who held up which collection. */
#include <check.h>

#include <views/event_views.h>
#include <views/views.h>
#include <report/events.h>

#include "unit/events_fixture.h"
#include "unit/run.h"

Suite *test_event_jni(void);

enum { N_GLOBAL = 40, N_LOCKER, N_FAILURE };

#define REF(from, to, ...) JVM(AT(from), .kind = BRAID_JVM_JNI_REF, .duration_ns = ((to) - (from)) * MS, __VA_ARGS__)
#define REFS(at, ...) JVM(AT(at), .kind = BRAID_JVM_JNI_REFS, __VA_ARGS__)
#define SECTION(from, to, release_ms, ...)                                                                             \
	JVM(AT(from), .kind = BRAID_JVM_JNI_CRITICAL, .duration_ns = ((to) - (from)) * MS, .weight = (release_ms)*MS,  \
	    .node = ON_INLINE, __VA_ARGS__)
#define PAUSE(at, why, n) JVM(AT(at), .kind = BRAID_JVM_GC_PAUSE, .duration_ns = 2 * MS, .detail = why, .number = n)

static const struct trace_rec recs[] = {
	NAME(N_GLOBAL, "global"),
	NAME(N_LOCKER, "GCLocker Initiated GC"),
	NAME(N_FAILURE, "Allocation Failure"),
	JVM(AT(5), .kind = BRAID_JVM_JNI_STACK, .thread = 1, .node = ON_INLINE, .number = 1),
	/* the first report: only the last one counts */
	REF(5, 50, .name = C_LOCK, .detail = N_GLOBAL, .value = 3, .number = 1),
	REFS(50, .value = 3),
	/* the last one: on a known stack, on one that was lost, and on none */
	REF(5, 90, .name = C_LOCK, .detail = N_GLOBAL, .value = 7, .number = 1),
	REF(6, 90, .name = C_QUEUE, .detail = N_GLOBAL, .value = 2, .number = 2),
	REF(7, 90, .name = C_QUEUE, .detail = N_GLOBAL, .value = 1),
	REFS(90, .value = 15, .weight = 4, .number = 1, .flags = 6),
	/* two collections are asked for at ends of sections, one at the end of a short one; another one is not */
	SECTION(10, 30, 5, .thread = 1),
	SECTION(35, 45, 1, .thread = 2),
	SECTION(40, 41, 9, .thread = 1),
	PAUSE(32, N_LOCKER, 1),
	PAUSE(41, N_FAILURE, 2),
	PAUSE(46, N_LOCKER, 3),
	PAUSE(70, N_LOCKER, 4),
};

static struct run begin(const struct filter *f)
{
	struct run r = run_begin(f);

	run_feed(&r, more, sizeof(more) / sizeof(more[0]));
	run_feed(&r, recs, sizeof(recs) / sizeof(recs[0]));
	run_analyze(&r, f);
	return r;
}

START_TEST(references)
{
	struct run r = begin(NULL);
	const struct kind_view *k = &r.v->events->kinds[BRAID_JVM_JNI_REF];
	const struct jni_view *j = r.v->events->jni.at;

	ck_assert_uint_eq(k->weight, 10);
	ck_assert_uint_eq(k->by[BY_NAME].sums.count, 2);
	ck_assert_str_eq(k->by[BY_NAME].sums.at[0].name, "demo.Lock");
	ck_assert_uint_eq(k->by[BY_NAME].sums.at[0].weight, 7);
	ck_assert_str_eq(k->by[BY_SITE].sums.at[0].name, "demo.Util.inline");
	ck_assert_uint_eq(k->by[BY_SITE].sums.at[0].weight, 7);
	ck_assert_str_eq(k->by[BY_SITE].sums.at[1].name, "[no stack]");
	ck_assert_uint_eq(k->by[BY_SITE].sums.at[1].weight, 3);
	ck_assert_uint_eq(r.v->events->jni.count, 1);
	ck_assert_uint_eq(j->created, 15);
	ck_assert_uint_eq(j->deleted, 4);
	ck_assert_uint_eq(j->unwatched, 1);
	ck_assert_uint_eq(j->others, 6);
	run_free(&r);
}
END_TEST

START_TEST(collections_that_waited)
{
	struct run r = begin(NULL);
	const struct held_view *h = r.v->events->held.at;

	ck_assert_uint_eq(r.v->events->held.count, 3);
	ck_assert_uint_eq(h[0].number, 1);
	ck_assert_uint_eq(h[0].section_ns, 20 * MS);
	ck_assert_uint_eq(h[1].number, 3);
	ck_assert_uint_eq(h[1].section_ns, 10 * MS);
	ck_assert_uint_eq(h[2].number, 4);
	ck_assert_uint_eq(h[2].section_ns, 0);
	ck_assert_uint_eq(h[2].thread, ROW_NONE);
	run_free(&r);
}
END_TEST

Suite *test_event_jni(void)
{
	Suite *s = suite_create("event JNI");
	TCase *t = tcase_create("jni");

	tcase_add_test(t, references);
	tcase_add_test(t, collections_that_waited);
	suite_add_tcase(s, t);
	return s;
}
