// SPDX-License-Identifier: Apache-2.0
/*
 * switches pipe|call [NS]: works on demand, and counts. A line on standard input names a time of work, "pause" ends it:
 * then it prints the name, the CPU time in seconds, and what it has done. `pipe`: two threads on one CPU hand a byte to
 * each other, and run a loop for NS nanoseconds in between, so each handover is a switch. `call`: system calls that do
 * nothing. Its own CPU time does not depend on what else runs on the machine.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_bool working;
static atomic_ulong done;
static unsigned long work;
static int there[2], back[2];

static void spin(void)
{
	for (volatile unsigned long i = 0; i < work; i++)
		;
}

/* Each thread begins with a byte to read; the first one starts when there is work. */
static void hand_over(int from, int to, bool first)
{
	char byte = 0;

	for (;;) {
		if (read(from, &byte, 1) != 1)
			return;
		while (first && !atomic_load(&working))
			usleep(1000);
		spin();
		atomic_fetch_add(&done, 1);
		if (write(to, &byte, 1) != 1)
			return;
	}
}

static void *first_thread(void *unused)
{
	hand_over(back[0], there[1], true);
	return unused;
}

static void *second_thread(void *unused)
{
	hand_over(there[0], back[1], false);
	return unused;
}

static void *calling_thread(void *unused)
{
	for (;;) {
		while (!atomic_load(&working))
			usleep(1000);
		for (int i = 0; i < 1000; i++)
			syscall(SYS_getppid);
		atomic_fetch_add(&done, 1000);
	}
	return unused;
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void stay_on_one_cpu(void)
{
	cpu_set_t all, one;

	if (sched_getaffinity(0, sizeof(all), &all))
		exit(1);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all)) {
			CPU_ZERO(&one);
			CPU_SET(cpu, &one);
			if (sched_setaffinity(0, sizeof(one), &one))
				exit(1);
			return;
		}
}

static void start(const char *what)
{
	pthread_t t;

	stay_on_one_cpu();
	if (strcmp(what, "call") == 0) {
		if (pthread_create(&t, NULL, calling_thread, NULL))
			exit(1);
		return;
	}
	if (pipe(there) || pipe(back) || write(back[1], "", 1) != 1 || pthread_create(&t, NULL, first_thread, NULL) ||
	    pthread_create(&t, NULL, second_thread, NULL))
		exit(1);
}

/* The rounds of spin() in `ns`, by the fastest of some tries. */
static unsigned long rounds_in(unsigned long ns)
{
	double best = 0, start, seconds;

	work = 1000000;
	for (int i = 0; i < 5; i++) {
		start = cpu_seconds();
		spin();
		seconds = cpu_seconds() - start;
		if (!best || seconds < best)
			best = seconds;
	}
	return (unsigned long)((double)ns / 1e9 / best * (double)work);
}

int main(int argc, char **argv)
{
	char line[64], name[64] = "";
	unsigned long count = 0;
	double cpu = 0;

	work = argc > 2 ? rounds_in(strtoul(argv[2], NULL, 10)) : 0;
	setvbuf(stdout, NULL, _IOLBF, 0);
	start(argc > 1 ? argv[1] : "pipe");
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (strcmp(line, "pause") == 0) {
			atomic_store(&working, false);
			printf("%s %.6f %lu\n", name, cpu_seconds() - cpu, atomic_load(&done) - count);
			continue;
		}
		memcpy(name, line, sizeof(name));
		cpu = cpu_seconds();
		count = atomic_load(&done);
		atomic_store(&working, true);
	}
	return 0;
}
