/* SPDX-License-Identifier: Apache-2.0 */
/* After the first line of input, four threads sleep 10,000 times for moments, each time in another span. */
#include "variable.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#define THREADS 4
#define NAPS 10000

static __attribute__((noinline)) void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

static void *work(void *arg)
{
	struct context c = {.valid = 1};

	prctl(PR_SET_TIMERSLACK, 1);
	memset(c.trace, *(int *)arg, sizeof(c.trace));
	context_set(&c);
	for (uint64_t i = 1; i <= NAPS; i++) {
		memcpy(c.span, &i, sizeof(i));
		nap();
	}
	return NULL;
}

int main(void)
{
	static int numbers[THREADS] = {1, 2, 3, 4};
	pthread_t threads[THREADS];

	puts("ready");
	fflush(stdout);
	if (getchar() == EOF)
		return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, &numbers[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	puts("done");
	fflush(stdout);
	return getchar() == EOF;
}
