// SPDX-License-Identifier: Apache-2.0
/*
 * Reads through a pipe: the kernel copies from a bad pointer without a signal, and write(2) fails with EFAULT. Unlike
 * process_vm_readv, every seccomp profile allows it. See mem.h.
 */
#include "mem.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int pipe_fd[2] = {-1, -1};

static void pipe_close(void)
{
	if (pipe_fd[0] >= 0) {
		close(pipe_fd[0]);
		close(pipe_fd[1]);
	}
	pipe_fd[0] = pipe_fd[1] = -1;
}

static bool pipe_empty(size_t size)
{
	char sink[MEM_READ_MAX];

	while (size) {
		ssize_t n = read(pipe_fd[0], sink, size < sizeof(sink) ? size : sizeof(sink));

		if (n <= 0)
			return false;
		size -= (size_t)n;
	}
	return true;
}

static bool pipe_copy(void *to, uint64_t address, size_t size)
{
	ssize_t n = write(pipe_fd[1], (const void *)(uintptr_t)address, size);

	if (n == (ssize_t)size)
		return read(pipe_fd[0], to, size) == (ssize_t)size;
	if (n > 0 && !pipe_empty((size_t)n))
		pipe_close(); /* the next read must not get what is left in the pipe */
	return false;
}

bool mem_read(void *to, uint64_t address, size_t size)
{
	bool ok = false;

	if (!size || size > MEM_READ_MAX || !address)
		return false;
	pthread_mutex_lock(&mutex);
	if (pipe_fd[0] >= 0 || !pipe2(pipe_fd, O_CLOEXEC | O_NONBLOCK))
		ok = pipe_copy(to, address, size);
	pthread_mutex_unlock(&mutex);
	return ok;
}

bool mem_read_string(char *to, size_t size, uint64_t address)
{
	/* Strings are mostly well inside readable memory; byte by byte is for its end. */
	if (mem_read(to, address, size)) {
		to[size - 1] = '\0';
		return true;
	}
	for (size_t i = 0; i < size; i++) {
		if (!mem_read(to + i, address + i, 1))
			return false;
		if (!to[i])
			return true;
	}
	to[size - 1] = '\0';
	return true;
}

void mem_close(void)
{
	pthread_mutex_lock(&mutex);
	pipe_close();
	pthread_mutex_unlock(&mutex);
}
