// SPDX-License-Identifier: Apache-2.0
/* Output files of the commands that read traces. */
#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <diagnose/diagnose.h>
#include <util/log.h>
#include <util/owner.h>

/* A trace "-" is standard input. */
static int stat_input(const char *input, struct stat *st)
{
	return strcmp(input, "-") == 0 ? fstat(STDIN_FILENO, st) : stat(input, st);
}

static bool same_file(const char *path, const char *input)
{
	struct stat p, q;

	return stat(path, &p) == 0 && stat_input(input, &q) == 0 && p.st_dev == q.st_dev && p.st_ino == q.st_ino;
}

static bool is_stdout(const char *path)
{
	return !path || strcmp(path, "-") == 0;
}

/* Opens what is there. In another user's directory, that user's link would lead to any file of the caller. */
static int existing_open(const char *path)
{
	struct stat link;

	if (lstat(path, &link))
		return -1;
	if (!S_ISLNK(link.st_mode))
		return open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW);
	if (owner_known(&link))
		return open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	errno = EPERM;
	return -1;
}

/*
 * A descriptor for writing `path`, or a negative errno. A user who may not read the trace may not read its exports, so
 * a new file has the trace's mode and, when root makes it, the trace's owner. An existing file must belong to the
 * caller, who alone can write it, and gets the mode, too. Dangling links and links of other users are not followed;
 * devices and pipes are used as they are.
 */
static int output_create(const char *path, const struct stat *trace)
{
	mode_t mode = trace->st_mode & 0664;
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct stat st;

	if (fd < 0 && errno == EEXIST)
		fd = existing_open(path);
	if (fd < 0 || fstat(fd, &st))
		goto failed;
	if (!S_ISREG(st.st_mode))
		return fd;
	errno = EPERM;
	if ((st.st_uid != geteuid() && st.st_uid != trace->st_uid) || st.st_mode & S_IWOTH)
		goto failed;
	if (ftruncate(fd, 0) || (geteuid() == 0 && fchown(fd, trace->st_uid, trace->st_gid)) || fchmod(fd, mode))
		goto failed;
	return fd;
failed:
	if (fd >= 0) {
		int err = -errno;

		close(fd);
		return err;
	}
	return -errno;
}

const char *common_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool common_output_is_not(const char *path, const char *input)
{
	if (is_stdout(path) || !same_file(path, input))
		return true;
	log_error("%s is the trace itself; choose another output file", path);
	return false;
}

bool common_output_keeps(const char *path, const char *input)
{
	char *old = NULL;
	struct stat st;
	bool keeps;

	if (!common_output_is_not(path, input))
		return false;
	if (lstat(path, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return true;
	keeps = asprintf(&old, "%s.old", path) >= 0 && !same_file(old, input);
	if (!keeps)
		log_error("%s would be replaced by the former %s; choose another output file", input, path);
	free(old);
	return keeps;
}

/* What all inputs have in common: who may read their contents. */
static int stat_all(const char *const *inputs, size_t count, struct stat *all)
{
	struct stat st;

	for (size_t i = 0; i < count; i++) {
		if (stat_input(inputs[i], &st))
			return -errno;
		if (!i)
			*all = st;
		all->st_mode &= st.st_mode;
		if (st.st_gid != all->st_gid) {
			all->st_gid = getegid();
			all->st_mode &= ~(mode_t)S_IRWXG;
		}
		if (st.st_uid != all->st_uid)
			all->st_uid = geteuid();
	}
	return 0;
}

FILE *common_output_of(const char *path, const char *const *inputs, size_t count)
{
	struct stat traces = {0};
	FILE *out = NULL;
	int fd;

	if (is_stdout(path))
		return stdout;
	for (size_t i = 0; i < count; i++)
		if (!common_output_is_not(path, inputs[i]))
			return NULL;
	fd = stat_all(inputs, count, &traces) ?: output_create(path, &traces);
	if (fd >= 0 && !(out = fdopen(fd, "w")))
		fd = -errno;
	if (fd == -EPERM)
		log_error("cannot write %s: it is another user's file or link, or any user can write it; remove it, or "
			  "choose another name",
			  path);
	else if (!out)
		log_error("cannot write %s: %s", path, strerror(-fd));
	return out;
}

FILE *common_output_open(const char *path, const char *input)
{
	return common_output_of(path, &input, 1);
}

/* A truncated file would look complete; devices and pipes stay. */
static void remove_partial(const char *path)
{
	struct stat st;

	if (!is_stdout(path) && stat(path, &st) == 0 && S_ISREG(st.st_mode))
		unlink(path);
}

bool common_output_close(FILE *out, const char *path, int err)
{
	errno = 0;
	/* A stream does not keep the errno of an earlier failure: one more byte fails for the same reason. */
	if (!err && ferror(out))
		err = putc('\n', out) == EOF || fflush(out) != 0 ? -errno : -EIO;
	if (!err && fflush(out) != 0)
		err = errno ? -errno : -EIO;
	if (out != stdout && fclose(out) != 0 && !err)
		err = errno ? -errno : -EIO;
	if (!err)
		return true;
	log_error("cannot write %s: %s", is_stdout(path) ? "standard output" : path, strerror(-err));
	remove_partial(path);
	return false;
}

bool common_report(struct loaded *l, bool summary, unsigned top)
{
	struct diagnosis *d;
	int err = diagnosis_new(&d, l->views, true);

	l->source.path = is_stdout(l->path) ? "FILE" : l->path;
	l->source.diagnosis = d;
	if (!err && summary)
		report_summary(stdout, l->views, &l->source);
	else if (!err)
		err = report_short(stdout, l->views, &l->source, top);
	l->source.diagnosis = NULL;
	diagnosis_free(d);
	return common_output_close(stdout, NULL, err);
}
