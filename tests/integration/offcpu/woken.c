// SPDX-License-Identifier: Apache-2.0
/*
 * A thread that is woken soon, by a timer or by the other thread, and then waits long for the CPU that both have: the other
 * one always wants to run, and is not preempted by a thread that is woken.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 300

static atomic_bool asks, ended;
static int ends[2];

static void *runs(void *arg)
{
	while (!atomic_load(&ended))
		if (atomic_exchange(&asks, false) && write(ends[1], "", 1) != 1)
			abort();
	return arg;
}

__attribute__((noinline)) static void naps(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}

__attribute__((noinline)) static void reads(void)
{
	char c;

	atomic_store(&asks, true);
	if (read(ends[0], &c, 1) != 1)
		abort();
}

int main(void)
{
	struct sched_param none = {0};
	cpu_set_t one;
	pthread_t t;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one) || pipe(ends) || pthread_create(&t, NULL, runs, NULL) ||
	    pthread_setname_np(t, "runs") || sched_setscheduler(0, SCHED_BATCH, &none))
		return 1;
	for (int i = 0; i < ROUNDS; i++) {
		naps();
		reads();
	}
	atomic_store(&ended, true);
	return pthread_join(t, NULL) != 0;
}
