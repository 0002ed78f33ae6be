// SPDX-License-Identifier: Apache-2.0
/* Tests of how long an agent is waited for at the end, of which it says much itself. */
#include "agents/link.h"

#include <check.h>

Suite *test_link(void);

#define SECOND 1000000000ULL

START_TEST(wait_for_the_answer)
{
	struct link l = {.config = {.heap_max_pause_ns = 3600 * SECOND}};
	uint64_t plain = link_stop_wait_ns(&l, false), heap;

	ck_assert_uint_eq(plain, SECOND);
	l.held = ~0U;
	ck_assert_uint_eq(link_stop_wait_ns(&l, false), plain); /* it has not been asked for that */
	l.config.enabled = BRAID_EVENT_TYPE(HEAP);
	heap = link_stop_wait_ns(&l, false);
	ck_assert_uint_eq(heap, 6 * SECOND);
	l.config.enabled |= BRAID_EVENT_TYPE(METHOD);
	ck_assert_uint_gt(link_stop_wait_ns(&l, false), heap);
	ck_assert_uint_eq(link_stop_wait_ns(&l, true), plain);
	l.held = 0;
	ck_assert_uint_eq(link_stop_wait_ns(&l, false), heap);
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
