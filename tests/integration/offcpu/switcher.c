// SPDX-License-Identifier: Apache-2.0
/*
 * switcher HANDOVERS [wait]: threads whose times off the CPU are known. "napper-short" naps 160 times 1 ms,
 * "napper-long" 12 times 30 ms, each time in `left` or `right`, which call the same function at the same depth. "taker"
 * and "giver" hand a byte to each other on one CPU HANDOVERS times, the taker in `left` and `right`, too; in each 32 of
 * them it waits at least once in both. Each thread prints "switches NAME TID VOLUNTARY INVOLUNTARY", the kernel's
 * counts of its own switches. `wait`: says "ready" and reads a line before, says "done" and reads a line afterwards.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noipa))

static int there[2], back[2];
static atomic_long taker;
static long handovers;

static void print_switches(const char *name)
{
	struct rusage r;

	getrusage(RUSAGE_THREAD, &r);
	printf("switches %s %ld %ld %ld\n", name, syscall(SYS_gettid), r.ru_nvcsw, r.ru_nivcsw);
}

APART static void waits(long ns)
{
	struct timespec t = {.tv_nsec = ns};
	char byte = 0;

	if (ns)
		nanosleep(&t, NULL);
	else if (read(there[0], &byte, 1) != 1)
		exit(1);
	__asm__ volatile("");
}

APART static void left(long ns)
{
	waits(ns);
	__asm__ volatile("");
}

APART static void right(long ns)
{
	waits(ns);
	__asm__ volatile("");
}

/* Three times left, then right. */
APART static void goes(long i, long ns)
{
	if (i % 4 < 3)
		left(ns);
	else
		right(ns);
	__asm__ volatile("");
}

static void *naps_short(void *arg)
{
	pthread_setname_np(pthread_self(), "napper-short");
	for (long i = 0; i < 160; i++)
		goes(i, 1000000);
	print_switches("napper-short");
	return arg;
}

static void *naps_long(void *arg)
{
	pthread_setname_np(pthread_self(), "napper-long");
	for (long i = 0; i < 12; i++)
		goes(i, 30000000);
	print_switches("napper-long");
	return arg;
}

static void stay(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	(void)sched_setaffinity(0, sizeof(one), &one);
}

static void *takes(void *arg)
{
	pthread_setname_np(pthread_self(), "taker");
	stay();
	taker = syscall(SYS_gettid);
	for (long i = 0; i < handovers; i++) {
		goes(i, 0);
		if (write(back[1], "", 1) != 1)
			exit(1);
	}
	print_switches("taker");
	return arg;
}

/* A scheduler that always prefers the giver leaves the taker no byte to wait for. */
static void await_taker(void)
{
	char path[64], state = 0;
	FILE *f;

	while (state != 'S') {
		sched_yield();
		snprintf(path, sizeof(path), "/proc/self/task/%ld/stat", atomic_load(&taker));
		f = fopen(path, "re");
		if (!f)
			continue;
		if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
			exit(1);
		fclose(f);
	}
}

static void *gives(void *arg)
{
	char byte;

	pthread_setname_np(pthread_self(), "giver");
	stay();
	for (long i = 0; i < handovers; i++) {
		if (i % 32 == 0 || i % 32 == 3)
			await_taker();
		if (write(there[1], "", 1) != 1 || read(back[0], &byte, 1) != 1)
			exit(1);
	}
	print_switches("giver");
	return arg;
}

static void say(const char *what, bool waits)
{
	if (!waits)
		return;
	puts(what);
	while (getchar() != '\n' && !feof(stdin))
		;
}

int main(int argc, char **argv)
{
	void *(*const run[])(void *) = {naps_short, naps_long, takes, gives};
	pthread_t t[4];

	handovers = argc > 1 ? atol(argv[1]) : 100;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (pipe(there) || pipe(back))
		return 1;
	say("ready", argc > 2);
	for (int i = 0; i < 4; i++)
		if (pthread_create(&t[i], NULL, run[i], NULL))
			return 1;
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	say("done", argc > 2);
	return 0;
}
