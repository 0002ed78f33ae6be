// SPDX-License-Identifier: Apache-2.0
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <braid/trace.h>

#include "util/new_file.h"
#include "util/owner.h"

#define STREAM_WAIT_MS 30000
#define HELD_MAX (64UL << 20) /* more opens the file */

/* ---- files ---- */

/* 0 when writing over the file loses only an older trace, or nothing. */
static int file_check(int fd)
{
	char magic[sizeof(BRAID_BLOCK_MAGIC) - 1];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EEXIST;
	if (st.st_size == 0)
		return 0;
	n = pread(fd, magic, sizeof(magic), 0);
	if (n < 0)
		return -errno;
	if (n != sizeof(magic) || memcmp(magic, BRAID_BLOCK_MAGIC, sizeof(magic)) != 0)
		return -EEXIST;
	return 1;
}

/* An existing file keeps its owner, who could read along: only a trusted owner is accepted. */
static int file_check_owner(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	return owner_trusted(&st) ? 0 : -EUSERS;
}

/* Two recordings into one file would destroy both. */
static int file_lock(int fd)
{
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	return errno == EWOULDBLOCK ? -EBUSY : -errno;
}

/* Opens an empty file or an older trace and locks it; *is_trace says which. */
static int file_claim(int dir, const char *name, int flags, bool *is_trace)
{
	int fd = openat(dir, name, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags), err;

	if (fd < 0)
		return -errno;
	err = file_check(fd);
	*is_trace = err == 1;
	if (err >= 0)
		err = file_lock(fd);
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int file_create(int dir, const char *name)
{
	int fd = new_file_at(dir, name), err;

	if (fd < 0)
		return fd;
	err = file_lock(fd);
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* Locks the trace that NAME.old is. Returns -1 when there is none. */
static int old_claim(int dir, const char *name, char old[NAME_MAX + 1])
{
	bool is_trace;
	int fd;

	if (snprintf(old, NAME_MAX + 1, "%s.old", name) > NAME_MAX)
		return -ENAMETOOLONG;
	fd = file_claim(dir, old, O_NOFOLLOW, &is_trace);
	if (fd == -ENOENT)
		return -1;
	return fd >= 0 || fd == -EBUSY ? fd : -ENOTEMPTY;
}

/* Renames the former trace to NAME.old, which replaces an older one. */
static int file_keep(int dir, const char *name)
{
	char old[NAME_MAX + 1];
	int fd = old_claim(dir, name, old), err = 0;

	if (fd < -1)
		return fd;
	if (renameat(dir, name, dir, old))
		err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

/* Opens a file of this name in the directory itself, without following links. */
static int file_open(int dir, const char *name, bool exists)
{
	int former = -1, fd, err;
	bool is_trace = false;

	if (exists) {
		former = file_claim(dir, name, O_NOFOLLOW, &is_trace);
		if (former < 0)
			return former;
		err = is_trace ? file_keep(dir, name) : file_check_owner(former);
		if (!err && !is_trace)
			return former;
		if (err) {
			close(former);
			return err;
		}
	}
	fd = file_create(dir, name);
	if (former >= 0)
		close(former);
	return fd;
}

/* Whether that could open it now. Returns a descriptor that locks what is there; -1: there is nothing. */
static int file_look(int dir, const char *name, bool exists)
{
	char old[NAME_MAX + 1];
	int former = -1, fd, err = 0;
	bool is_trace = false;

	if (exists) {
		former = file_claim(dir, name, O_NOFOLLOW, &is_trace);
		if (former < 0)
			return former;
	}
	if (exists && !is_trace)
		err = file_check_owner(former);
	else if (faccessat(dir, ".", W_OK, AT_EACCESS))
		err = -errno;
	if (is_trace && !err) {
		fd = old_claim(dir, name, old);
		err = fd < -1 ? fd : 0;
		if (fd >= 0)
			close(fd);
	}
	if (err && former >= 0)
		close(former);
	return err ?: former;
}

/* ---- what is there ---- */

static bool is_null_device(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3);
}

static int stream_check(int fd)
{
	struct stat st;

	if (isatty(fd))
		return -ENOTTY;
	if (fstat(fd, &st))
		return -errno;
	return S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || is_null_device(&st) ? 0 : -EEXIST;
}

static int stream_open(struct trace_output *out, int fd)
{
	int err = fd < 0 ? -errno : stream_check(fd);

	if (err && fd >= 0)
		close(fd);
	if (!err)
		*out = (struct trace_output){.fd = fd, .stream = true};
	return err;
}

/* The caller selects and opens standard output. */
static bool is_stdout(const struct stat *st)
{
	struct stat out;

	return fstat(STDOUT_FILENO, &out) == 0 && out.st_dev == st->st_dev && out.st_ino == st->st_ino;
}

/* In a world-writable directory, links and pipes of other users would lead the trace to where those users want it. */
static bool is_strangers(const char *path, const struct stat *st)
{
	struct stat link;

	if (is_stdout(st))
		return false;
	return lstat(path, &link) || !owner_known(&link) || !owner_known(st);
}

/* Symbolic links are followed and keep their target; /dev/stdout is one. */
static int other_open(struct trace_output *out, const char *path, bool look)
{
	bool is_trace;
	struct stat st;
	int fd, err;

	if (stat(path, &st))
		return errno == ENOENT && *path ? -ENOLINK : -errno;
	if (is_strangers(path, &st))
		return -EUSERS;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode))
		return -EEXIST;
	if (!S_ISREG(st.st_mode)) /* opening a FIFO waits for its reader */
		return stream_open(out, open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY));
	fd = file_claim(AT_FDCWD, path, 0, &is_trace);
	if (fd < 0)
		return fd;
	err = is_stdout(&st) ? 0 : file_check_owner(fd);
	if (!err && !look && ftruncate(fd, 0))
		err = -errno;
	if (err)
		close(fd);
	else
		out->fd = fd;
	return err;
}

/* Opens what the path names. With `look` it changes no file, and locks what is there. */
static int output_open(struct trace_output *out, const char *path, bool look)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *parent = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	struct stat st;
	bool exists;
	int dir;

	*out = (struct trace_output){.fd = -1};
	if (strcmp(path, "-") == 0) {
		free(parent);
		return stream_open(out, fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
	}
	if (!parent)
		return -ENOMEM;
	dir = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	free(parent);
	if (dir < 0)
		return -errno;
	exists = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	if (!*name || (exists && !S_ISREG(st.st_mode))) {
		close(dir);
		return other_open(out, path, look);
	}
	out->fd = look ? file_look(dir, name, exists) : file_open(dir, name, exists);
	close(dir);
	return out->fd < -1 ? out->fd : 0;
}

int trace_output_prepare(struct trace_output *out, const char *path)
{
	int err = output_open(out, path, true);

	if (err || out->stream)
		return err;
	out->path = strdup(path);
	if (out->path)
		return 0;
	(void)trace_output_close(out);
	return -ENOMEM;
}

int trace_output_begin(struct trace_output *out)
{
	struct trace_output open = {.fd = -1};
	int err;

	if (!out->path)
		return 0;
	if (out->fd >= 0) {
		flock(out->fd, LOCK_UN); /* a child may have inherited the descriptor */
		close(out->fd);
	}
	err = output_open(&open, out->path, false);
	free(out->path);
	out->path = NULL;
	out->fd = err ? -1 : open.fd;
	out->stream = open.stream;
	if (!err) {
		err = trace_output_write(out, out->held.at, out->held.count);
		if (err)
			trace_output_cut(out, 0);
	}
	free(out->held.at);
	out->held.at = NULL;
	return err;
}

int trace_output_close(struct trace_output *out)
{
	int err = out->fd >= 0 && close(out->fd) ? -errno : 0;

	free(out->path);
	free(out->held.at);
	*out = (struct trace_output){.fd = -1};
	return err;
}

/* ---- writing ---- */

/* The number of bytes that can be written without blocking. A writable pipe takes PIPE_BUF bytes. */
static ssize_t room(const struct trace_output *out, size_t len)
{
	struct pollfd p = {.fd = out->fd, .events = POLLOUT};
	int n;

	if (!out->stream)
		return (ssize_t)len;
	n = poll(&p, 1, STREAM_WAIT_MS);
	if (n <= 0)
		return n < 0 ? -errno : -ETIMEDOUT;
	return len < PIPE_BUF ? (ssize_t)len : PIPE_BUF;
}

static int hold(struct trace_output *out, const uint8_t *p, size_t len)
{
	int err = VEC_RESERVE(&out->held, len);

	if (err)
		return err;
	memcpy(out->held.at + out->held.count, p, len);
	out->held.count += len;
	return out->held.count > HELD_MAX ? trace_output_begin(out) : 0;
}

int trace_output_write(struct trace_output *out, const uint8_t *p, size_t len)
{
	if (out->path)
		return hold(out, p, len);
	while (len) {
		ssize_t n = room(out, len);

		if (n > 0) {
			n = write(out->fd, p, (size_t)n);
			n = n < 0 ? -errno : n ?: -EIO;
		}
		if (n == -EINTR || n == -EAGAIN)
			continue;
		if (n < 0)
			return (int)n;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

void trace_output_cut(struct trace_output *out, uint64_t len)
{
	if (out->path)
		out->held.count = len;
	else if (!out->stream && ftruncate(out->fd, (off_t)len) == 0)
		lseek(out->fd, (off_t)len, SEEK_SET);
}
