// SPDX-License-Identifier: Apache-2.0
/* Tests of how long an agent is waited for at the end, of which it says much itself. */
#include "agents/link.h"

#include <check.h>

Suite *test_link(void);

#define SECOND 1000000000ULL

START_TEST(wait_for_the_answer)
{
	struct link l = {.config = {.heap_max_pause_ns = 3600 * SECOND}};
	uint64_t plain = link_stop_wait_ns(&l, false, 1), heap;

	ck_assert_uint_eq(plain, SECOND);
	ck_assert_uint_eq(link_stop_wait_ns(&l, false, 6), 6 * SECOND); /* it gets a CPU later */
	l.held = ~0U;
	ck_assert_uint_eq(link_stop_wait_ns(&l, false, 1), plain); /* it has not been asked for that */
	l.config.enabled = BRAID_EVENT_TYPE(HEAP);
	heap = link_stop_wait_ns(&l, false, 1);
	ck_assert_uint_eq(heap, 6 * SECOND);
	l.config.enabled |= BRAID_EVENT_TYPE(METHOD);
	ck_assert_uint_gt(link_stop_wait_ns(&l, false, 1), heap);
	ck_assert_uint_eq(link_stop_wait_ns(&l, true, 1), plain);
	ck_assert_uint_eq(link_stop_wait_ns(&l, true, 6), plain);
	l.held = 0;
	ck_assert_uint_eq(link_stop_wait_ns(&l, false, 1), heap);
}
END_TEST

Suite *test_link(void)
{
	Suite *s = suite_create("link");
	TCase *t = tcase_create("the end");

	tcase_add_test(t, wait_for_the_answer);
	suite_add_tcase(s, t);
	return s;
}
