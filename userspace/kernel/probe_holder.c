// SPDX-License-Identifier: Apache-2.0
#include "probe_holder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether the descriptor is part of a probe. */
static bool is_probe(int dir, const char *fd)
{
	char to[32] = "";

	return readlinkat(dir, fd, to, sizeof(to) - 1) > 0 &&
	       (strcmp(to, "anon_inode:[perf_event]") == 0 || strcmp(to, "anon_inode:bpf_link") == 0);
}

static void hold(int done)
{
	DIR *fds = opendir("/proc/self/fd");
	struct dirent *e;
	char byte;

	while (fds && (e = readdir(fds))) {
		int fd = atoi(e->d_name);

		if (fd != dirfd(fds) && fd != done && !is_probe(dirfd(fds), e->d_name))
			close(fd);
	}
	if (read(done, &byte, 1) < 0)
		_exit(1);
	_exit(0);
}

int probe_holder_start(void)
{
	int done[2];

	if (pipe2(done, O_CLOEXEC))
		return -1;
	if (fork() == 0)
		hold(done[0]);
	close(done[0]);
	return done[1];
}
