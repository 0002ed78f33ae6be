// SPDX-License-Identifier: Apache-2.0
/* The user that a process belongs to: the owner of its outermost user namespace, or its own user. */
#include "process_user.h"

#include "proc/jvm_proc.h"
#include "util/owner.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 32 /* the kernel's limit on nested user namespaces */

static bool same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The owner of the namespace `fd`, or of the one around it whose parent is this program's own. */
static bool outermost_owner(int fd, const struct stat *own, uid_t *owner)
{
	bool found = false;
	struct stat st;
	int outer;

	for (int i = 0; i < DEPTH_MAX && fd >= 0; i++) {
		outer = ioctl(fd, NS_GET_PARENT);
		found = outer >= 0 && !fstat(outer, &st) && same(&st, own) && !ioctl(fd, NS_GET_OWNER_UID, owner);
		close(fd);
		fd = found ? -1 : outer;
		if (found)
			close(outer);
	}
	if (fd >= 0)
		close(fd);
	return found;
}

static bool namespace_owner(pid_t pid, uid_t *owner)
{
	struct stat own, st;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	if (stat("/proc/self/ns/user", &own) || stat(path, &st) || same(&st, &own))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return outermost_owner(fd, &own, owner);
}

uid_t process_user(pid_t pid)
{
	struct proc_status status;
	struct stat of = {0};

	if (proc_status_read(pid, &status))
		return PROCESS_NO_USER;
	if (namespace_owner(pid, &of.st_uid) && !owner_known(&of))
		return of.st_uid;
	return status.uid;
}
