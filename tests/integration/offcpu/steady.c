// SPDX-License-Identifier: Apache-2.0
/*
 * steady PHASES HANDOVERS: two threads on one CPU hand a byte to each other. In each phase the thread "taker" waits
 * HANDOVERS times in `left` or `right`, in turn, which call the same function at the same depth. For each of the two it
 * prints "SIDE SWITCHES EARLY": its voluntary switches there by the kernel's count, and how many handovers there were
 * in the first 2 ms of the phases. Says "ready" and reads a line before, says "done" and reads a line afterwards.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noipa))
#define EARLY_NS 2000000

static int there[2], back[2];
static long phases, handovers;

static long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static long switches(void)
{
	struct rusage r;

	getrusage(RUSAGE_THREAD, &r);
	return r.ru_nvcsw;
}

APART static void waits(void)
{
	char byte;

	if (read(there[0], &byte, 1) != 1)
		exit(1);
	__asm__ volatile("");
}

APART static void left(void)
{
	waits();
	__asm__ volatile("");
}

APART static void right(void)
{
	waits();
	__asm__ volatile("");
}

static void *takes(void *arg)
{
	static const char *const names[] = {"left", "right"};
	long count[2] = {0}, early[2] = {0};

	pthread_setname_np(pthread_self(), "taker");
	for (long phase = 0; phase < phases; phase++) {
		long side = phase & 1, start = now_ns(), before = switches();

		for (long i = 0; i < handovers; i++) {
			if (side)
				right();
			else
				left();
			if (write(back[1], "", 1) != 1)
				exit(1);
			early[side] += now_ns() - start < EARLY_NS;
		}
		count[side] += switches() - before;
	}
	for (int side = 0; side < 2; side++)
		printf("%s %ld %ld\n", names[side], count[side], early[side]);
	return arg;
}

static void *gives(void *arg)
{
	char byte;

	for (long i = 0; i < phases * handovers; i++)
		if (write(there[1], "", 1) != 1 || read(back[0], &byte, 1) != 1)
			exit(1);
	return arg;
}

static void say(const char *what)
{
	puts(what);
	while (getchar() != '\n' && !feof(stdin))
		;
}

int main(int argc, char **argv)
{
	pthread_t t[2];
	cpu_set_t one;

	phases = argc > 1 ? atol(argv[1]) : 2;
	handovers = argc > 2 ? atol(argv[2]) : 100;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (sched_setaffinity(0, sizeof(one), &one) || pipe(there) || pipe(back))
		return 1;
	say("ready");
	if (pthread_create(&t[0], NULL, takes, NULL) || pthread_create(&t[1], NULL, gives, NULL))
		return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	say("done");
	return 0;
}
