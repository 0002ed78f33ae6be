// SPDX-License-Identifier: Apache-2.0
#include "root_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int root_open(int root, const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned int)(flags | O_CLOEXEC),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int tries = 16;
	long fd;

	do /* EAGAIN: a concurrent rename or mount (openat2(2)) */
		fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
	while (fd < 0 && errno == EAGAIN && tries--);
	return fd < 0 ? -errno : (int)fd;
}

/* Takes ownership of `place`, an O_PATH descriptor. */
static int regular_reopen(int place, struct stat *st)
{
	char path[32];
	int fd = -ENOENT;

	if (fstat(place, st)) {
		fd = -errno;
	} else if (S_ISLNK(st->st_mode)) { /* O_PATH | O_NOFOLLOW opens the link itself */
		fd = -ELOOP;
	} else if (S_ISREG(st->st_mode)) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		fd = fd < 0 ? -errno : fd;
	}
	close(place);
	return fd;
}

int root_open_regular(int root, const char *path, int flags, struct stat *st)
{
	int place = root_open(root, path, O_PATH | flags);

	return place < 0 ? place : regular_reopen(place, st);
}

int regular_open(const char *path, struct stat *st)
{
	int place = open(path, O_PATH | O_CLOEXEC);

	return place < 0 ? -errno : regular_reopen(place, st);
}
