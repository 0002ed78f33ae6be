/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves 12 requests between the functions request_begin() and request_end(), each for 5 ms. While the seventh waits
 * for a lock, another thread holds it for 600 ms, longer than the others may wait for a CPU. With an argument, it says
 * "ready" and waits for a line before.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t locked;
static atomic_int served;

NOINLINE void request_begin(int number)
{
	__asm__ volatile("" : : "r"(number) : "memory");
}

NOINLINE void request_end(int number)
{
	__asm__ volatile("" : : "r"(number) : "memory");
}

/* Whether the first thread is in its seventh request, and blocked. */
static bool seventh_waits(void)
{
	FILE *f = atomic_load(&served) == 7 ? fopen("/proc/self/stat", "re") : NULL;
	char state = 0;

	if (!f)
		return false;
	if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(f);
	return state == 'S';
}

static NOINLINE void hold_lock(void)
{
	pthread_mutex_lock(&lock);
	pthread_barrier_wait(&locked);
	while (!seventh_waits())
		usleep(1000);
	usleep(600000);
	pthread_mutex_unlock(&lock);
}

static void *backup(void *arg)
{
	pthread_setname_np(pthread_self(), "backup");
	hold_lock();
	return arg;
}

static NOINLINE void look_up(void)
{
	pthread_mutex_lock(&lock);
	usleep(5000);
	pthread_mutex_unlock(&lock);
}

static NOINLINE void serve(int number)
{
	atomic_store(&served, number);
	request_begin(number);
	look_up();
	request_end(number);
}

int main(int argc, char **argv)
{
	pthread_t other;

	(void)argv;
	if (argc > 1) {
		puts("ready");
		fflush(stdout);
		getchar();
	}
	pthread_barrier_init(&locked, NULL, 2);
	for (int i = 1; i <= 12; i++) {
		if (i == 7) {
			pthread_create(&other, NULL, backup, NULL);
			pthread_barrier_wait(&locked);
		}
		serve(i);
	}
	pthread_join(other, NULL);
	return 0;
}
