/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve [LIBRARY]: from the first line of input to the second, three threads burn CPU time. In serve_1 to serve_4 a
 * thread has a context whose span id ends with that number, and in no other function has it one. The function that sets
 * it comes from LIBRARY, or is part of the program. One of the threads is older than the library.
 */
#include "variable.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

#define THREADS 3

static void (*set)(const struct context *c);
static sem_t loaded;
static volatile int stop;

#define BURN                                                                                                           \
	for (volatile int i = 0; i < 300000; i++)                                                                      \
		;
static __attribute__((noinline)) void serve_1(void)
{
	BURN
}
static __attribute__((noinline)) void serve_2(void)
{
	BURN
}
static __attribute__((noinline)) void serve_3(void)
{
	BURN
}
static __attribute__((noinline)) void serve_4(void)
{
	BURN
}
static __attribute__((noinline)) void serve_nobody(void)
{
	BURN
}

static void (*const serve[])(void) = {serve_1, serve_2, serve_3, serve_4};

/* Both ways that the format allows: another record, and the same one that is not valid meanwhile. */
static void *work(void *arg)
{
	int number = *(int *)arg;
	struct context c[5];

	while (number == 0 && sem_wait(&loaded))
		;
	for (int i = 0; i < 5; i++) {
		c[i] = (struct context){.valid = 1};
		memset(c[i].trace, 0x10 + number, sizeof(c[i].trace));
		c[i].span[0] = (uint8_t)(0xa0 + number);
		c[i].span[7] = (uint8_t)(i + 1);
	}
	while (!stop) {
		for (int i = 0; i < 4; i++) {
			set(&c[i]);
			serve[i]();
			set(NULL);
			serve_nobody();
		}
		c[4].valid = 0;
		set(&c[4]);
		serve_nobody();
		for (int i = 0; i < 4; i++) {
			c[4].span[7] = (uint8_t)(i + 1);
			c[4].valid = 1;
			serve[i]();
			c[4].valid = 0;
			serve_nobody();
		}
		set(NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static int numbers[THREADS] = {0, 1, 2};
	pthread_t threads[THREADS];

	sem_init(&loaded, 0, 0);
	pthread_create(&threads[0], NULL, work, &numbers[0]);
#ifdef INSIDE
	set = context_set;
#else
	void *library;

	library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	if (!library || !(set = (void (*)(const struct context *))dlsym(library, "context_set"))) {
		fprintf(stderr, "no library: %s\n", dlerror());
		return 1;
	}
#endif
	puts("ready");
	fflush(stdout);
	if (getchar() == EOF)
		return 1;
	sem_post(&loaded);
	for (int i = 1; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, &numbers[i]);
	stop = getchar() != EOF;
	for (int i = 0; i < THREADS && stop; i++)
		pthread_join(threads[i], NULL);
	return !stop;
}
