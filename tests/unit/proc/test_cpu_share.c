// SPDX-License-Identifier: Apache-2.0
/* Tests of how long a thread that computes waits for a CPU. */
#include "proc/cpu_share.h"

#include <check.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

Suite *test_cpu_share(void);

#define OTHERS 3

/* The scheduler gives each of four threads on one CPU a quarter of it; other programs only make that less. */
START_TEST(among_others)
{
	pid_t others[OTHERS];
	cpu_set_t allowed, one;
	double factor;
	int cpu = 0;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	while (!CPU_ISSET(cpu, &allowed))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	for (int i = 0; i < OTHERS; i++) {
		others[i] = fork();
		ck_assert_int_ge(others[i], 0);
		if (!others[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				;
		}
	}
	factor = cpu_share_factor();
	for (int i = 0; i < OTHERS; i++) {
		kill(others[i], SIGKILL);
		waitpid(others[i], NULL, 0);
	}
	ck_assert_int_eq(sched_setaffinity(0, sizeof(allowed), &allowed), 0);
	ck_assert_double_ge(factor, 2);
	ck_assert_double_le(factor, 100);
	ck_assert_double_ge(cpu_share_factor(), 1);
}
END_TEST

Suite *test_cpu_share(void)
{
	Suite *s = suite_create("cpu_share");
	TCase *t = tcase_create("all");

	tcase_add_test(t, among_others);
	suite_add_tcase(s, t);
	return s;
}
