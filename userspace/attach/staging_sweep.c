// SPDX-License-Identifier: Apache-2.0
/*
 * Removes staged directories of recorders that were killed. A recorder holds a lock on each of its directories while it
 * lives. One that has ended may have left its library on purpose, for JVMs that its command is still to start: their
 * environment or command line mentions it.
 */
#include "as_user.h"
#include "staging.h"
#include "proc/jvm_proc.h"
#include "proc/procfs.h"
#include "util/clock.h"
#include "util/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Users can fill their /tmp and start any number of programs. What exceeds these limits is left for a later sweep. */
#define ENTRIES_MAX 16384
#define LEFT_MAX 32
#define START_UNSURE 2		     /* seconds */
#define NAMED_BYTES_MAX (16UL << 20) /* of environments and command lines read */

struct left {
	char name[STAGING_NAME_LENGTH + 1];
	int fd;	     /* locked */
	int64_t age; /* seconds since its last change */
	bool named;
};

struct sweep {
	uid_t uid;
	struct left left[LEFT_MAX];
	size_t count;
	size_t bytes;
	bool unknown; /* it is unknown which ones processes mention */
};

static bool is_staging_name(const char *name)
{
	size_t prefix = strlen(STAGING_PREFIX);

	return strlen(name) == STAGING_NAME_LENGTH && strncmp(name, STAGING_PREFIX, prefix) == 0 &&
	       strspn(name + prefix, "0123456789abcdef") == STAGING_NAME_LENGTH - prefix;
}

static bool is_staging_mode(mode_t mode, uid_t uid)
{
	return mode == 0700 || (mode == STAGING_SHARED && uid == 0);
}

static int64_t age_of(const struct stat *st)
{
	return time(NULL) - st->st_ctim.tv_sec;
}

/* Opens and locks a directory of this user that no recorder holds. Mounts in its place are not followed. */
static int left_lock(int place, const char *name, uid_t uid, int64_t *age)
{
	struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
			       .resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS};
	int fd = (int)syscall(SYS_openat2, place, name, &how, sizeof(how));
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && st.st_uid == uid && is_staging_mode(st.st_mode & 07777 & ~S_ISGID, uid) &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0) {
		*age = age_of(&st);
		return fd;
	}
	close(fd);
	return -EBUSY;
}

static void find_left(struct sweep *s, int place)
{
	int copy = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *e;

	if (!d && copy >= 0)
		close(copy);
	for (int i = 0; d && i < ENTRIES_MAX && s->count < LEFT_MAX && (e = readdir(d)); i++) {
		struct left *l = &s->left[s->count];

		if (!is_staging_name(e->d_name) || (l->fd = left_lock(place, e->d_name, s->uid, &l->age)) < 0)
			continue;
		memcpy(l->name, e->d_name, sizeof(l->name));
		l->named = false;
		s->count++;
	}
	if (d)
		closedir(d);
}

static void mark_named(struct sweep *s, const char *text, size_t size)
{
	const char *at = text, *end = text + size;

	while ((at = memmem(at, (size_t)(end - at), STAGING_PREFIX, strlen(STAGING_PREFIX)))) {
		for (size_t i = 0; i < s->count; i++)
			s->left[i].named |= (size_t)(end - at) >= STAGING_NAME_LENGTH &&
					    memcmp(at, s->left[i].name, STAGING_NAME_LENGTH) == 0;
		at++;
	}
}

/* A process that cannot be read may mention any directory that is older than itself. */
static void mark_older(struct sweep *s, pid_t pid)
{
	uint64_t start_ns = procfs_start_ns(pid);
	int64_t age = (int64_t)((now_ns() - start_ns) / 1000000000ULL) - START_UNSURE;

	for (size_t i = 0; i < s->count && start_ns; i++)
		s->left[i].named |= s->left[i].age >= age;
}

/* Reads in pieces that overlap, so that no name is cut. */
static void read_names(struct sweep *s, pid_t pid, const char *file)
{
	char path[64], text[16384];
	size_t kept = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		if (errno == EACCES || errno == EPERM)
			mark_older(s, pid);
		return;
	}
	while (!s->unknown && (n = read(fd, text + kept, sizeof(text) - kept)) > 0) {
		size_t size = kept + (size_t)n;

		mark_named(s, text, size);
		s->bytes += (size_t)n;
		s->unknown = s->bytes > NAMED_BYTES_MAX;
		kept = size < STAGING_NAME_LENGTH ? size : STAGING_NAME_LENGTH;
		memmove(text, text + size - kept, kept);
	}
	close(fd);
}

/* Only processes of this user can load the staged library; all can load that of a command of root's. */
static void find_named(struct sweep *s)
{
	DIR *d = opendir("/proc");
	struct proc_status status;
	struct dirent *e;

	s->unknown = !d;
	while (d && !s->unknown && (e = readdir(d))) {
		pid_t pid = (pid_t)atoi(e->d_name);

		if (pid <= 0 || proc_status_read(pid, &status) || (s->uid && status.uid != s->uid))
			continue;
		read_names(s, pid, "environ");
		read_names(s, pid, "cmdline");
	}
	if (d)
		closedir(d);
}

void staging_sweep(int place, uid_t uid, gid_t gid)
{
	struct sweep *s = calloc(1, sizeof(*s));
	struct as_user saved;

	if (!s || as_user_begin(&saved, uid, gid))
		goto out;
	s->uid = uid;
	find_left(s, place);
	as_user_end(&saved);
	if (s->count)
		find_named(s);
	if (!s->count || s->unknown || as_user_begin(&saved, uid, gid))
		goto close;
	for (size_t i = 0; i < s->count; i++)
		if (!s->left[i].named) {
			log_debug("removed %s, which a killed recorder has left", s->left[i].name);
			staging_empty(s->left[i].fd);
			unlinkat(place, s->left[i].name, AT_REMOVEDIR);
		}
	as_user_end(&saved);
close:
	for (size_t i = 0; i < s->count; i++)
		close(s->left[i].fd);
out:
	free(s);
}

bool staging_is_named(const struct staging *d)
{
	struct sweep *s = calloc(1, sizeof(*s));
	struct stat st;
	bool named = true;

	if (s && fstat(d->dir_fd, &st) == 0) {
		s->uid = st.st_uid;
		s->left[0].age = age_of(&st);
		memcpy(s->left[0].name, d->name, sizeof(s->left[0].name));
		s->count = 1;
		find_named(s);
		named = s->left[0].named || s->unknown;
	}
	free(s);
	return named;
}

void staging_sweep_own(void)
{
	int place = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (place < 0)
		return;
	staging_sweep(place, geteuid(), getegid());
	close(place);
}
