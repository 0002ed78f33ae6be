// SPDX-License-Identifier: Apache-2.0
/*
 * Where recorders' control sockets are, and how `braid ctl` finds them. Only directories of root or the user are
 * trusted. control.h declares the functions.
 */
#include "control.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOT_DIRECTORY "/run/braid"

int control_directory(char *path, size_t size)
{
	const char *own = getenv("XDG_RUNTIME_DIR");
	int n;

	if (geteuid() == 0)
		n = snprintf(path, size, "%s", ROOT_DIRECTORY);
	else if (own && *own == '/')
		n = snprintf(path, size, "%s/braid", own);
	else
		return -ENOENT;
	return (size_t)n < size ? 0 : -ENAMETOOLONG;
}

int control_address(struct sockaddr_un *a, const char *directory, pid_t pid)
{
	int n;

	*a = (struct sockaddr_un){.sun_family = AF_UNIX};
	n = snprintf(a->sun_path, sizeof(a->sun_path), "%s/%d.sock", directory, (int)pid);
	return (size_t)n < sizeof(a->sun_path) ? 0 : -ENAMETOOLONG;
}

bool control_trusts(int fd, pid_t *pid)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		return false;
	*pid = peer.pid;
	return peer.uid == 0 || peer.uid == geteuid();
}

bool control_request_good(const struct braid_control_request *r, size_t size)
{
	return size == sizeof(*r) && r->magic == BRAID_CONTROL_MAGIC && r->version == BRAID_CONTROL_VERSION &&
	       r->verb >= BRAID_CONTROL_STATUS && r->verb < BRAID_CONTROL_VERBS && !r->list[sizeof(r->list) - 1];
}

int control_directory_make(const char *path)
{
	struct stat st;

	if (mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	if (lstat(path, &st))
		return -errno;
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 077)
		return -EPERM;
	return 0;
}

void control_directory_sweep(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char *end;
		long pid = strtol(e->d_name, &end, 10);

		if (pid > 0 && strcmp(end, ".sock") == 0 && kill((pid_t)pid, 0) && errno == ESRCH)
			(void)unlinkat(dirfd(d), e->d_name, 0);
	}
	if (d)
		closedir(d);
}
