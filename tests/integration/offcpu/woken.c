// SPDX-License-Identifier: Apache-2.0
/*
 * A thread that is woken soon, by a timer or by the other thread, and then waits long for the CPU that both have: the
 * other one always wants to run, and is not preempted by a thread that is woken.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SOON_NS 500000 /* on a busy machine, the other thread may wait for a CPU before it writes */
#define LONG_NS 1200000
#define LONG_ONES 40 /* of each kind; the recorder may not know the program yet at the first ones */
#define ROUNDS_MAX 10000

static atomic_bool asks, ended;
static atomic_uint_least64_t written_ns;
static int ends[2];

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static void *runs(void *arg)
{
	while (!atomic_load(&ended)) {
		if (!atomic_exchange(&asks, false))
			continue;
		atomic_store(&written_ns, now_ns());
		if (write(ends[1], "", 1) != 1)
			abort();
	}
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
	unsigned long_naps = 0, long_reads = 0;
	cpu_set_t one;
	pthread_t t;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one) || pipe(ends) || pthread_create(&t, NULL, runs, NULL) ||
	    pthread_setname_np(t, "runs") || sched_setscheduler(0, SCHED_BATCH, &none))
		return 1;
	for (int i = 0; i < ROUNDS_MAX && (long_naps < LONG_ONES || long_reads < LONG_ONES); i++) {
		uint64_t began = now_ns(), woken;

		naps();
		long_naps += now_ns() - began > LONG_NS;
		began = now_ns();
		reads();
		woken = atomic_load(&written_ns);
		long_reads += woken - began < SOON_NS && now_ns() - woken > LONG_NS;
	}
	atomic_store(&ended, true);
	return pthread_join(t, NULL) != 0;
}
