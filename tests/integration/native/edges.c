// SPDX-License-Identifier: Apache-2.0
/*
 * Signal frames (sometimes in the middle of a prologue), the vdso, the PLT, a realigned stack, a thread: each for a
 * fifth of the CPU time, however fast the machine is.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#define OWN __attribute__((noinline))

volatile unsigned long sink;

OWN void burn(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink += i * i;
}

OWN void interrupted(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		burn(20);
}

OWN void ask_clock(unsigned long n)
{
	struct timespec t;

	for (unsigned long i = 0; i < n; i++) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		sink += (unsigned long)t.tv_nsec;
	}
}

OWN void realigned(unsigned long n)
{
	_Alignas(64) volatile char buffer[256];

	for (size_t i = 0; i < sizeof(buffer); i++)
		buffer[i] = (char)n;
	burn(n + (unsigned char)buffer[n & 255]);
}

OWN void over_plt(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink += (unsigned long)abs((int)i) + strlen("plt") + (unsigned long)labs((long)i);
}

#define PART_SECONDS 0.001

struct part {
	void (*run)(unsigned long n);
	unsigned long n; /* the rounds that take PART_SECONDS */
};

static struct part parts[] = {{interrupted, 1000}, {ask_clock, 1000}, {realigned, 1000}, {over_plt, 1000}};
static struct part handler = {burn, 1000};

static double now(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static void calibrate(struct part *p)
{
	double start, took;

	for (;; p->n *= 2) {
		start = now();
		p->run(p->n);
		took = now() - start;
		if (took >= PART_SECONDS)
			break;
	}
	p->n = (unsigned long)((double)p->n * PART_SECONDS / took) + 1;
}

OWN void on_alarm(int sig)
{
	(void)sig;
	burn(handler.n);
}

OWN void work(double seconds)
{
	double start = now();

	while (now() < start + seconds) {
		interrupted(parts[0].n);
		ask_clock(parts[1].n);
		realigned(parts[2].n);
		over_plt(parts[3].n);
	}
}

static void *start_thread(void *arg)
{
	work(*(double *)arg);
	return NULL;
}

int main(int argc, char **argv)
{
	struct itimerval every = {.it_interval.tv_usec = 5000, .it_value.tv_usec = 5000};
	double seconds = argc > 1 ? atof(argv[1]) : 0.5;
	pthread_t thread;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		calibrate(&parts[i]);
	calibrate(&handler);
	signal(SIGPROF, on_alarm);
	setitimer(ITIMER_PROF, &every, NULL);
	if (pthread_create(&thread, NULL, start_thread, &seconds))
		return 1;
	work(seconds);
	return pthread_join(thread, NULL);
}
