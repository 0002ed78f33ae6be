// SPDX-License-Identifier: Apache-2.0
/* Tests of which times off the CPU other events say more about. */
#include <check.h>
#include <string.h>

#include <analyze/covers.h>
#include <views/event_views.h>

#include "unit/events_fixture.h"
#include "unit/run.h"

Suite *test_covers(void);

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define OFF_FOR(t, from, ms, on, ...)                                                                                  \
	JVM(AT(from), .kind = BRAID_JVM_OFFCPU, .thread = t, .node = on, .duration_ns = (ms)*MS, __VA_ARGS__)
#define LOCKED(what, t, from, ms, ...)                                                                                 \
	JVM(AT(from), .kind = BRAID_JVM_##what, .thread = t, .node = ON_INLINE, .name = C_QUEUE,                       \
	    .duration_ns = (ms)*MS, __VA_ARGS__)

static uint64_t of_reason(const struct kind_view *k, const char *name)
{
	for (size_t i = 0; i < k->by[BY_NAME].sums.count; i++)
		if (strcmp(k->by[BY_NAME].sums.at[i].name, name) == 0)
			return k->by[BY_NAME].sums.at[i].weight;
	return 0;
}

/*
 * LOCK and WAIT take the place of the times off the CPU in them, and of no others: not of those before they were
 * enabled.
 */
START_TEST(locks_and_waits_cover_their_own_time)
{
	const struct trace_rec some[] = {
		LOCKED(WAIT, 1, 50, 20),
		LOCKED(WAIT, 1, 60,
		       1), /* in the longer one, such as of a thread that is in both by its clock's error */
		LOCKED(LOCK, 1, 80, 20, .number = 9),
		LOCKED(LOCK, 3, 100, 20, .vthread = 7),
		OFF_FOR(1, 20, 10, WAITING),		   /* before */
		OFF_FOR(1, 51, 18, WAITING),		   /* in it */
		OFF_FOR(1, 66, 12, WAITING),		   /* mostly behind it */
		OFF_FOR(1, 81, 8, MONITOR),		   /* two in one */
		OFF_FOR(1, 90, 9, MONITOR),		   /* ... */
		OFF_FOR(1, 101, 3, MONITOR),		   /* behind it */
		OFF_FOR(2, 51, 17, WAITING),		   /* another thread's */
		OFF_FOR(1, 82, 5, SLEEPING),		   /* none of them says it of this */
		OFF_FOR(3, 101, 7, MONITOR),		   /* of a virtual thread's carrier */
		OFF_FOR(2, 101, 6, MONITOR, .vthread = 7), /* its own, on another carrier */
		OFF_FOR(3, 101, 2, MONITOR, .vthread = 8), /* another one's */
	};
	struct run r = run_begin(NULL);
	const struct kind_view *k;

	run_feed(&r, more, COUNT(more));
	run_feed(&r, some, COUNT(some));
	run_analyze(&r, NULL);
	k = &r.v->events->kinds[BRAID_JVM_OFFCPU];
	ck_assert_uint_eq(of_reason(k, "waiting for notify"), (10 + 12 + 17) * MS);
	ck_assert_uint_eq(of_reason(k, "blocked on a monitor"), (3 + 2) * MS);
	ck_assert_uint_eq(of_reason(k, "sleeping"), 5 * MS);
	ck_assert_uint_eq(k->count, 6);
	ck_assert_uint_eq(r.v->events->kinds[BRAID_JVM_WAIT].weight, 21 * MS);
	ck_assert_uint_eq(r.v->events->kinds[BRAID_JVM_LOCK].count, 2);
	run_free(&r);
}
END_TEST

Suite *test_covers(void)
{
	Suite *s = suite_create("covers");
	TCase *tc = tcase_create("covers");

	tcase_add_test(tc, locks_and_waits_cover_their_own_time);
	suite_add_tcase(s, tc);
	return s;
}
