// SPDX-License-Identifier: Apache-2.0
/* Tests of where the stack of a thread ends. */
#include "proc/procfs.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

Suite *test_stack_pointer(void);

struct other {
	int ready[2], done[2];
};

struct said {
	pid_t tid;
	uint64_t local; /* where its stack has a variable */
};

static void *run_other(void *ctx)
{
	struct other *o = ctx;
	struct said said = {.tid = gettid()};
	char go;

	said.local = (uint64_t)(uintptr_t)&go;
	ck_assert_int_eq(write(o->ready[1], &said, sizeof(said)), sizeof(said));
	ck_assert_int_eq(read(o->done[0], &go, 1), 0);
	return NULL;
}

START_TEST(of_one_that_sleeps)
{
	struct other o;
	struct said said;
	pthread_t thread;
	uint64_t stack = 0;
	int err;

	ck_assert_int_eq(pipe(o.ready) | pipe(o.done), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, run_other, &o), 0);
	ck_assert_int_eq(read(o.ready[0], &said, sizeof(said)), sizeof(said));
	while ((err = procfs_stack_pointer(getpid(), said.tid, &stack)) == -EBUSY || stack > said.local)
		usleep(1000);
	ck_assert_int_eq(err, 0);
	ck_assert_uint_le(said.local - stack, 4096);
	close(o.done[1]);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	close(o.ready[0]);
	close(o.ready[1]);
	close(o.done[0]);
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
