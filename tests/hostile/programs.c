// SPDX-License-Identifier: Apache-2.0
/*
 * Modes of the hostile program that are no JVM: what any process can do to a profiler that samples it. main.c starts
 * them.
 */
#include "hostile.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define FRAMES 17000
#define CODE_BYTES (64UL << 20)

/* ---- stacks that no two samples share ---- */

static uint64_t *chain; /* of frame pointers: the caller's, then the return address */
static uint8_t *code;

static _Noreturn void *change_always(void *ctx)
{
	(void)ctx;
	for (;;)
		for (size_t i = 0; i < FRAMES; i++)
			chain[2 * i + 1] = (uint64_t)(uintptr_t)code + 64 + random_number() % (CODE_BYTES - 128);
}

static _Noreturn void burn_on_chain(void)
{
	__asm__ volatile("mov %0, %%rsp\n\t"
			 "mov %0, %%rbp\n\t"
			 "jmp *%1"
			 :
			 : "r"(chain), "r"(code)
			 : "memory");
	__builtin_unreachable();
}

/* The code is anonymous, has no unwind tables, and is one loop: pause; jmp. */
void run_deep(void)
{
	static const uint8_t loop[] = {0xf3, 0x90, 0xeb, 0xfc};
	pthread_t other;

	code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	chain = mmap(NULL, FRAMES * 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED || (void *)chain == MAP_FAILED)
		die("mmap");
	memcpy(code, loop, sizeof(loop));
	if (mprotect(code, CODE_BYTES, PROT_READ | PROT_EXEC))
		die("mprotect");
	for (size_t i = 0; i + 1 < FRAMES; i++)
		chain[2 * i] = (uint64_t)(uintptr_t)&chain[2 * i + 2];
	if (pthread_create(&other, NULL, change_always, NULL))
		die("pthread_create");
	under_way();
	burn_on_chain();
}

/* ---- processes ---- */

static void start_one(bool program)
{
	pid_t child = fork();

	if (child == 0) {
		if (program)
			execl("/bin/true", "true", (char *)NULL);
		_exit(0);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
}

void run_forks(void)
{
	for (int i = 0;; i++) {
		start_one(i % 64 == 0);
		if (i == 100)
			under_way();
	}
}

static _Noreturn void *go_on(void *ctx)
{
	volatile uint64_t sum = 0;

	(void)ctx;
	usleep(300000);
	under_way();
	for (;;)
		sum++;
}

void run_leader(void)
{
	pthread_t other;

	if (pthread_create(&other, NULL, go_on, NULL))
		die("pthread_create");
	pthread_exit(NULL);
}
