// SPDX-License-Identifier: Apache-2.0
/* Tests of sums that only some kinds of events have: the frames that exceptions leave. */
#include <check.h>

#include <views/views.h>

#include "unit/events_fixture.h"
#include "unit/run.h"

Suite *test_event_sums(void);

#define THROWN(count, ...)                                                                                             \
	JVM(AT(95), .kind = BRAID_JVM_EXCEPTION, .thread = 1, .node = ON_INLINE, .name = C_HTML, .value = count,       \
	    __VA_ARGS__)

static const struct trace_rec thrown[] = {
	THROWN(3, .detail = M_WORK),
	THROWN(1, .detail = C_QUEUE), /* not on the stack */
	THROWN(1, .detail = 0),
};

/* From the innermost Java frame to the method that catches; those that nobody catches on the stack do not count. */
START_TEST(frames_that_exceptions_leave)
{
	struct run r = run_begin(NULL);
	const struct kind_view *k;

	run_feed(&r, more, sizeof(more) / sizeof(more[0]));
	run_feed(&r, thrown, sizeof(thrown) / sizeof(thrown[0]));
	run_analyze(&r, NULL);
	k = &r.v->events->kinds[BRAID_JVM_EXCEPTION];
	ck_assert_uint_eq(k->by[BY_NAME].sums.count, 1);
	ck_assert_uint_eq(k->by[BY_NAME].sums.at[0].weight, 5);
	ck_assert_uint_eq(k->by[BY_NAME].sums.at[0].caught, 3);
	ck_assert_uint_eq(k->by[BY_NAME].sums.at[0].left, 3);
	ck_assert_str_eq(k->by[BY_DETAIL].sums.at[0].name, "demo.Main.work");
	ck_assert_uint_eq(k->by[BY_DETAIL].sums.at[0].left, 3);
	ck_assert_uint_eq(k->by[BY_DETAIL].sums.at[1].caught, 0);
	run_free(&r);
}
END_TEST

Suite *test_event_sums(void)
{
	Suite *s = suite_create("event sums");
	TCase *t = tcase_create("event sums");

	tcase_add_test(t, frames_that_exceptions_leave);
	suite_add_tcase(s, t);
	return s;
}
