// SPDX-License-Identifier: Apache-2.0
/*
 * Two threads on one CPU that always want to run. Each prints "busy TID RAN WAITED", in ns, as the kernel's own
 * statistics have it, and ends.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void print_statistics(void)
{
	unsigned long long ran = 0, waited = 0;
	long tid = syscall(SYS_gettid);
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/schedstat", tid);
	file = fopen(path, "r");
	if (file) {
		if (fscanf(file, "%llu %llu", &ran, &waited) != 2)
			waited = 0;
		fclose(file);
	}
	printf("busy %ld %llu %llu\n", tid, ran, waited);
}

/* Statistics of a thread that runs are behind by a tick at most; it yields before they are read. */
static void *busy(void *arg)
{
	struct timespec t;

	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while (t.tv_sec < 1);
	sched_yield();
	print_statistics();
	return arg;
}

int main(void)
{
	cpu_set_t one;
	pthread_t t[2];

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		return 1;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, busy, NULL))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
