// SPDX-License-Identifier: Apache-2.0
/*
 * Does one thing in the kernel COUNT times: `syscall`, `file PATH`, `fault`, `block PATH`, `tcp`. kernelcost.sh runs
 * it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BYTES 4096

static void *page;
static int fd;

static void one_syscall(void)
{
	syscall(SYS_getppid);
}

static void one_read(void)
{
	if (pread(fd, page, BYTES, 0) < 0)
		exit(1);
}

static void one_fault(void)
{
	*(volatile char *)page = 1;
	if (madvise(page, BYTES, MADV_DONTNEED))
		exit(1);
}

/* To a port where nobody listens. */
static void one_connect(void)
{
	const struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || !connect(fd, (const struct sockaddr *)&to, sizeof(to)) || errno != ECONNREFUSED || close(fd))
		exit(1);
}

static const struct {
	const char *name;
	void (*fn)(void);
	int flags; /* of the file; -1: none */
} kinds[] = {{"syscall", one_syscall, -1},
	     {"file", one_read, O_RDONLY},
	     {"fault", one_fault, -1},
	     {"block", one_read, O_RDONLY | O_DIRECT},
	     {"tcp", one_connect, -1}};

int main(int argc, char **argv)
{
	page = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; argc > 2 && page != MAP_FAILED && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, argv[1]) != 0)
			continue;
		fd = kinds[i].flags >= 0 && argc > 3 ? open(argv[3], kinds[i].flags) : -1;
		for (long n = atol(argv[2]); n > 0; n--)
			kinds[i].fn();
		return 0;
	}
	return 2;
}
