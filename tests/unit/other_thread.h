// SPDX-License-Identifier: Apache-2.0
/* A second thread of the test program, which sleeps until the test ends it. */
#ifndef BRAID_TESTS_OTHER_THREAD_H
#define BRAID_TESTS_OTHER_THREAD_H

#include <check.h>
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

struct other_thread {
	pthread_t thread;
	int ready[2], done[2];
	pid_t tid;
	uint64_t local; /* where its stack has a variable */
};

static inline void *other_thread_run(void *ctx)
{
	struct other_thread *o = ctx;
	char go = 0;

	o->tid = gettid();
	o->local = (uint64_t)(uintptr_t)&go;
	ck_assert_int_eq(write(o->ready[1], &go, 1), 1);
	ck_assert_int_eq(read(o->done[0], &go, 1), 0);
	return NULL;
}

static inline void other_thread_start(struct other_thread *o, const char *name)
{
	char go;

	ck_assert_int_eq(pipe(o->ready) | pipe(o->done), 0);
	ck_assert_int_eq(pthread_create(&o->thread, NULL, other_thread_run, o), 0);
	ck_assert_int_eq(pthread_setname_np(o->thread, name), 0);
	ck_assert_int_eq(read(o->ready[0], &go, 1), 1);
}

static inline void other_thread_end(struct other_thread *o)
{
	close(o->done[1]);
	ck_assert_int_eq(pthread_join(o->thread, NULL), 0);
	close(o->ready[0]);
	close(o->ready[1]);
	close(o->done[0]);
}

#endif
