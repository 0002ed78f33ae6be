// SPDX-License-Identifier: Apache-2.0
/*
 * gaps: a program that only reads the clock, on one CPU and before all others (SCHED_FIFO), and adds up the time that
 * is taken from it: each gap between two readings that is longer than a reading. Other programs cannot disturb it, so
 * it shows the cost of interrupts to a hundredth of a percent on a busy machine. It does not show their effect on
 * caches.
 *
 * Its protocol is Throughput.java's: a line on its input begins a time of that name and ends the one before, for which
 * it prints "NAME seconds seconds-left". It prints "ready" first; the end of its input ends it.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define GAP_NS 400	  /* two readings take 50 */
#define STOLEN_NS 1000000 /* taken by the hypervisor, or by the limit of real-time threads: not counted */

static _Atomic uint64_t taken_ns, stolen_ns; /* so far */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void *look(void *arg)
{
	uint64_t last = now_ns();

	(void)arg;
	for (;;) {
		uint64_t now = now_ns(), gap = now - last;

		last = now;
		if (gap >= STOLEN_NS)
			atomic_fetch_add_explicit(&stolen_ns, gap, memory_order_relaxed);
		else if (gap >= GAP_NS)
			atomic_fetch_add_explicit(&taken_ns, gap, memory_order_relaxed);
	}
	return NULL;
}

static int start(void)
{
	struct sched_param first = {.sched_priority = 1};
	cpu_set_t cpu;
	pthread_t thread;

	CPU_ZERO(&cpu);
	CPU_SET(0, &cpu);
	return pthread_create(&thread, NULL, look, NULL) || pthread_setaffinity_np(thread, sizeof(cpu), &cpu) ||
	       pthread_setschedparam(thread, SCHED_FIFO, &first);
}

int main(void)
{
	uint64_t began = 0, taken = 0, stolen = 0;
	char name[64] = "", next[64];

	if (start()) {
		fputs("gaps: cannot be the first on CPU 0; run as root\n", stderr);
		return EXIT_FAILURE;
	}
	puts("ready");
	fflush(stdout);
	while (fgets(next, sizeof(next), stdin)) {
		uint64_t now = now_ns(), all_taken = taken_ns, all_stolen = stolen_ns;
		double seconds = (double)(now - began - (all_stolen - stolen)) / 1e9;

		if (name[0] && seconds > 0) {
			printf("%s %.6f %.9f\n", name, seconds, seconds - (double)(all_taken - taken) / 1e9);
			fflush(stdout);
		}
		next[strcspn(next, "\n")] = '\0';
		memcpy(name, next, sizeof(name));
		began = now;
		taken = all_taken;
		stolen = all_stolen;
	}
	return EXIT_SUCCESS;
}
