// SPDX-License-Identifier: Apache-2.0
/* Tests of where the stack of a thread ends. */
#include "unit/other_thread.h"
#include "proc/procfs.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

Suite *test_stack_pointer(void);

START_TEST(of_one_that_sleeps)
{
	struct other_thread o;
	uint64_t stack = 0;
	int err;

	other_thread_start(&o, "other");
	while ((err = procfs_stack_pointer(getpid(), o.tid, &stack)) == -EBUSY || stack > o.local)
		usleep(1000);
	ck_assert_int_eq(err, 0);
	ck_assert_uint_le(o.local - stack, 4096);
	other_thread_end(&o);
}
END_TEST

static atomic_int spinning;

static void *spin(void *ctx)
{
	pid_t *tid = ctx;

	*tid = gettid();
	for (spinning = 1; spinning;)
		;
	return NULL;
}

START_TEST(of_one_that_runs)
{
	pthread_t thread;
	uint64_t stack;
	pid_t tid;

	ck_assert_int_eq(pthread_create(&thread, NULL, spin, &tid), 0);
	while (!spinning || procfs_stack_pointer(getpid(), tid, &stack) != -EBUSY)
		usleep(1000);
	spinning = 0;
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
END_TEST

START_TEST(of_none)
{
	uint64_t stack;

	ck_assert_int_eq(procfs_stack_pointer(getpid(), 0x7fffffff, &stack), -ESRCH);
}
END_TEST

Suite *test_stack_pointer(void)
{
	Suite *s = suite_create("stack_pointer");
	TCase *t = tcase_create("all");

	tcase_add_test(t, of_one_that_sleeps);
	tcase_add_test(t, of_one_that_runs);
	tcase_add_test(t, of_none);
	suite_add_tcase(s, t);
	return s;
}
