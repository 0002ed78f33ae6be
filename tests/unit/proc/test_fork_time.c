// SPDX-License-Identifier: Apache-2.0
/* Tests of the measurement of what a copy of a process takes. */
#include <check.h>
#include <errno.h>
#include <sys/wait.h>

#include <proc/fork_time.h>

Suite *test_fork_time(void);

/* More than a few nanoseconds for a page, less than it takes to copy its content; and no process is left. */
START_TEST(a_page)
{
	uint32_t ps = fork_page_ps();

	ck_assert_uint_gt(ps, 100);
	ck_assert_uint_lt(ps, 100000000);
	ck_assert(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}
END_TEST

Suite *test_fork_time(void)
{
	Suite *s = suite_create("fork time");
	TCase *c = tcase_create("all");

	tcase_add_test(c, a_page);
	suite_add_tcase(s, c);
	return s;
}
