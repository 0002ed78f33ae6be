// SPDX-License-Identifier: Apache-2.0
#include "staging.h"

#include "as_user.h"
#include "proc/jvm_proc.h"
#include "util/log.h"
#include "util/pages.h"
#include "util/root_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <unistd.h>

#define LIBRARY_NAME "libbraid-agent.so"
#define SOCKET_NAME "socket"
#define BACKLOG 64 /* all JVMs of a launched command connect to one socket */

extern const char agent_blob_start[], agent_blob_end[];

/* Where the agent can be staged. /proc/self/cwd stays right when a directory above the working directory is renamed. */
static const struct place {
	const char *path; /* as the process sees it */
	const char *open; /* below its root; NULL: its working directory */
} places[] = {
	{"/tmp", "tmp"},
	{"/dev/shm", "dev/shm"},
	{"/var/tmp", "var/tmp"},
	{"/proc/self/cwd", NULL},
};

static void staging_explain(char why[ATTACH_WHY_MAX], const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void staging_explain(char why[ATTACH_WHY_MAX], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, ATTACH_WHY_MAX, fmt, ap);
	va_end(ap);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/*
 * Whether no other user can rename entries of this directory. The owner of the process's root directory (root of a
 * container, in a user namespace) controls the process anyway.
 */
static bool place_is_safe(const struct stat *st, uid_t uid, uid_t root_uid)
{
	if (st->st_uid != 0 && st->st_uid != uid && st->st_uid != root_uid)
		return false;
	return (st->st_mode & S_ISVTX) || !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* Returns an O_PATH descriptor of the place, or a negative errno and the reason in *what. */
static int place_open(const struct place *p, int root, int cwd, uid_t uid, const char **what)
{
	int fd = p->open ? root_open(root, p->open, O_PATH | O_DIRECTORY) : fcntl(cwd, F_DUPFD_CLOEXEC, 3);
	struct stat st, root_st;
	struct statvfs fs;

	*what = "cannot be opened";
	if (fd < 0)
		return p->open ? fd : -errno;
	if (fstat(fd, &st) < 0 || fstat(root, &root_st) < 0 || fstatvfs(fd, &fs) < 0)
		goto refuse;
	*what = "is read-only";
	if (fs.f_flag & ST_RDONLY)
		goto refuse;
	*what = "is mounted noexec";
	if (fs.f_flag & ST_NOEXEC)
		goto refuse;
	*what = "is open to other users without a sticky bit";
	if (!place_is_safe(&st, uid, root_st.st_uid))
		goto refuse;
	return fd;
refuse:
	close(fd);
	return -EACCES;
}

static int library_write(int dir)
{
	const char *at = agent_blob_start;
	int fd = openat(dir, LIBRARY_NAME, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0700), err = 0;

	if (fd < 0)
		return -errno;
	while (!err && at < agent_blob_end) {
		ssize_t n = write(fd, at, (size_t)(agent_blob_end - at));

		if (n > 0)
			at += n;
		else if (n == 0 || errno != EINTR)
			err = n == 0 ? -EIO : -errno;
	}
	pages_release(agent_blob_start, agent_blob_end);
	if (!err && fchmod(fd, 0755) < 0)
		err = -errno;
	close(fd);
	return err;
}

/*
 * The socket is bound through the descriptor: the path that the process sees is not valid here, and may be longer than
 * sun_path.
 */
static int socket_listen(int dir)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return -errno;
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/" SOCKET_NAME, dir);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* A sweep may have removed the directory before it was locked. File systems without locks are not swept. */
static int staging_lock(int dir)
{
	struct stat st;

	if (flock(dir, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return -EAGAIN;
	return fstat(dir, &st) < 0 || !st.st_nlink ? -EAGAIN : 0;
}

/*
 * A command that root starts may run JVMs as other users, which inherit the option and end if they cannot load the
 * library. The socket is not for them: the collector attaches to them later.
 */
static int staging_share(int dir)
{
	return fchmodat(dir, SOCKET_NAME, 0700, 0) || fchmod(dir, STAGING_SHARED) ? -errno : 0;
}

/* Creates and fills the directory in d->parent_fd, as the process's user. */
static int staging_fill(struct staging *d, uid_t uid, bool shared, const char **what)
{
	struct stat st;
	int fd;

	*what = "cannot be written to";
	if (mkdirat(d->parent_fd, d->name, 0700) < 0)
		return -errno;
	d->dir_fd = openat(d->parent_fd, d->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (d->dir_fd < 0)
		return -errno;
	if (fstat(d->dir_fd, &st) < 0)
		return -errno;
	*what = "does not keep owner and mode";
	if (st.st_uid != uid || (st.st_mode & 07777 & ~S_ISGID) != 0700)
		return -EACCES;
	*what = "lost the directory to a sweep";
	fd = staging_lock(d->dir_fd);
	if (fd < 0)
		return fd;
	*what = "has no room for the agent";
	fd = library_write(d->dir_fd);
	if (fd < 0)
		return fd;
	*what = "does not take a socket";
	fd = socket_listen(d->dir_fd);
	if (fd < 0)
		return fd;
	d->listen_fd = fd;
	*what = "does not keep its mode";
	return shared ? staging_share(d->dir_fd) : 0;
}

static void staging_reset(struct staging *d)
{
	*d = (struct staging){.dir_fd = -1, .parent_fd = -1, .listen_fd = -1};
}

static void staging_names(struct staging *d, const struct place *p)
{
	snprintf(d->path, sizeof(d->path), "%s/%s", p->path, d->name);
	snprintf(d->library, sizeof(d->library), "%s/" LIBRARY_NAME, d->path);
	snprintf(d->socket, sizeof(d->socket), "%s/" SOCKET_NAME, d->path);
}

static int staging_try(struct staging *d, const struct place *p, int root, int cwd, const struct proc_status *who,
		       bool shared, const char **what)
{
	struct as_user saved;
	char name[sizeof(d->name)] = STAGING_PREFIX;
	int err = random_digits(name + strlen(STAGING_PREFIX));

	*what = "cannot be used: no random numbers";
	if (err)
		return err;
	*what = "cannot be written to as its user";
	err = as_user_begin(&saved, who->uid, who->gid);
	if (err)
		return err;
	err = place_open(p, root, cwd, who->uid, what);
	if (err >= 0) {
		d->parent_fd = err;
		memcpy(d->name, name, sizeof(d->name));
		err = staging_fill(d, who->uid, shared, what);
	}
	as_user_end(&saved);
	if (err) {
		staging_remove(d);
		return err;
	}
	staging_sweep(d->parent_fd, who->uid, who->gid);
	staging_names(d, p);
	return 0;
}

static int owner_read(pid_t pid, struct proc_status *who)
{
	if (pid)
		return proc_status_read(pid, who);
	*who = (struct proc_status){.uid = geteuid(), .gid = getegid()};
	return 0;
}

static int cwd_open(pid_t pid)
{
	char path[64] = ".";
	int fd;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/cwd", (int)pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int staging_create(struct staging *d, pid_t pid, char why[ATTACH_WHY_MAX])
{
	struct proc_status who;
	char reasons[ATTACH_WHY_MAX] = "";
	int root = -1, cwd = -1, err = owner_read(pid, &who);
	size_t length = 0;

	staging_reset(d);
	why[0] = '\0';
	if (err) {
		staging_explain(why, "process %d cannot be read: %s", (int)pid, strerror(-err));
		return err;
	}
	root = proc_root_open(pid);
	if (root < 0) {
		staging_explain(why, "cannot open the root directory of process %d: %s; run braid as root", (int)pid,
				strerror(-root));
		return root;
	}
	cwd = cwd_open(pid); /* a deleted directory is no place to use */
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const char *what;
		int n;

		if (!places[i].open && cwd < 0)
			continue;
		err = staging_try(d, &places[i], root, cwd, &who, !pid && who.uid == 0, &what);
		if (!err) {
			if (length)
				log_debug("process %d: the agent is staged in %s, because %s", (int)pid, places[i].path,
					  reasons);
			break;
		}
		n = snprintf(reasons + length, sizeof(reasons) - length, "%s%s %s (%s)", length ? ", " : "",
			     places[i].path, what, strerror(-err));
		length += n > 0 && (size_t)n < sizeof(reasons) - length ? (size_t)n : 0;
	}
	if (err)
		staging_explain(why, "no directory from which process %d could load the agent: %.200s", (int)pid,
				reasons);
	else
		d->pid = pid;
	close_fd(&root);
	close_fd(&cwd);
	return err;
}

static void staging_forget(struct staging *d)
{
	close_fd(&d->listen_fd);
	close_fd(&d->dir_fd);
	close_fd(&d->parent_fd);
	staging_reset(d);
}

void staging_empty(int dir)
{
	unlinkat(dir, SOCKET_NAME, 0);
	unlinkat(dir, LIBRARY_NAME, 0);
	unlinkat(dir, STAGING_DUMP, 0);
}

void staging_remove(struct staging *d)
{
	if (!d || !d->name[0]) /* a zeroed struct has no descriptors of its own */
		return;
	if (d->dir_fd >= 0)
		staging_empty(d->dir_fd);
	/* This fails if it is no directory or is not empty: other files in it are not ours to delete. */
	if (d->parent_fd >= 0)
		unlinkat(d->parent_fd, d->name, AT_REMOVEDIR);
	staging_forget(d);
}

bool staging_leave(struct staging *d, bool needed)
{
	bool stays;

	if (d->dir_fd >= 0)
		unlinkat(d->dir_fd, SOCKET_NAME, 0);
	stays = needed || staging_is_named(d);
	if (stays)
		staging_forget(d);
	else
		staging_remove(d);
	return stays;
}
