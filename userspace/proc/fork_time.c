// SPDX-License-Identifier: Apache-2.0
#include "fork_time.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROBE_BYTES (64U << 20)
#define PAGE_BYTES 4096U

static uint64_t cpu_ns(void)
{
	struct timespec t = {0};

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* The time on a CPU, which other programs do not make longer. 0: it cannot be measured. */
static uint64_t fork_ns(void)
{
	uint64_t start = cpu_ns(), end;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	end = cpu_ns();
	if (pid < 0)
		return 0;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return end - start;
}

/*
 * The memory is there both times, and only the second time the kernel copies its tables. That is done once, since it is
 * faster when the kernel's records of these pages are in the CPU's caches, as those of a large heap are not.
 */
static uint64_t measure(volatile uint8_t *memory)
{
	void *at = (void *)(uintptr_t)memory;
	uint64_t without, with;

	if (madvise(at, PROBE_BYTES, MADV_NOHUGEPAGE) || madvise(at, PROBE_BYTES, MADV_DONTFORK))
		return 0;
	for (size_t i = 0; i < PROBE_BYTES; i += PAGE_BYTES)
		memory[i] = 1;
	without = fork_ns();
	with = without && !madvise(at, PROBE_BYTES, MADV_DOFORK) ? fork_ns() : 0;
	return with > without ? (with - without) * 1000 / (PROBE_BYTES / PAGE_BYTES) : 0;
}

uint32_t fork_page_ps(void)
{
	void *memory = mmap(NULL, PROBE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t ps;

	if (memory == MAP_FAILED)
		return 0;
	ps = measure(memory);
	munmap(memory, PROBE_BYTES);
	return ps < UINT32_MAX ? (uint32_t)ps : UINT32_MAX;
}
