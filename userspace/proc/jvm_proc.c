// SPDX-License-Identifier: Apache-2.0
#include "jvm_proc.h"

#include "procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The text after "NAME:" at the start of a line, or NULL. */
static const char *status_field(const char *text, const char *name)
{
	size_t n = strlen(name);

	while (text && (strncmp(text, name, n) != 0 || text[n] != ':')) {
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return text ? text + n + 1 : NULL;
}

/* The `index`th number of the field, or its last one when index is -1. */
static int status_number(const char *text, const char *name, int index, int base, uint64_t *out)
{
	const char *at = status_field(text, name);
	bool found = false;

	for (int i = 0; at && (index < 0 || i <= index); i++) {
		char *end;

		at += strspn(at, " \t");
		if (*at == '\n' || *at == '\0')
			break;
		*out = strtoull(at, &end, base);
		if (end == at)
			return -EINVAL;
		at = end;
		found = index < 0 || i == index;
	}
	return found ? 0 : -EINVAL;
}

int proc_status_parse(const char *text, struct proc_status *out)
{
	const char *state = status_field(text, "State");
	uint64_t tgid, ns_pid, uid, gid, caught;

	if (!state || status_number(text, "Tgid", 0, 10, &tgid) || status_number(text, "Uid", 1, 10, &uid) ||
	    status_number(text, "Gid", 1, 10, &gid) || status_number(text, "NSpid", -1, 10, &ns_pid) ||
	    status_number(text, "SigCgt", 0, 16, &caught))
		return -EINVAL;
	out->tgid = (pid_t)tgid;
	out->ns_pid = (pid_t)ns_pid;
	out->uid = (uid_t)uid;
	out->gid = (gid_t)gid;
	state += strspn(state, " \t");
	out->stopped = *state == 'T' || *state == 't';
	out->catches_sigquit = caught >> (SIGQUIT - 1) & 1;
	out->catches_sigterm = caught >> (SIGTERM - 1) & 1;
	return 0;
}

static ssize_t read_whole(int fd, char *to, size_t size)
{
	size_t length = 0;
	ssize_t n;

	do {
		n = pread(fd, to + length, size - 1 - length, (off_t)length);
		if (n > 0)
			length += (size_t)n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	if (n < 0)
		return -errno;
	to[length] = '\0';
	return (ssize_t)length;
}

ssize_t proc_file_read(pid_t pid, const char *name, char *to, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	n = read_whole(fd, to, size);
	close(fd);
	return n;
}

int proc_status_reread(int fd, struct proc_status *out)
{
	char text[8192];
	ssize_t n = procfs_status_text(fd, text, sizeof(text));

	return n < 0 ? (int)n : proc_status_parse(text, out);
}

int proc_status_read(pid_t pid, struct proc_status *out)
{
	char text[8192];
	ssize_t n;
	int err;

	if (pid <= 0)
		return -ESRCH;
	n = procfs_status(pid, pid, text, sizeof(text));
	if (n < 0)
		return (int)n;
	err = proc_status_parse(text, out);
	return !err && out->tgid != pid ? -ESRCH : err;
}

/* "libc.so" matches "/lib/libc.so" and, with prefix, "/lib/libc.so.6". */
static bool file_is(const char *path, const char *name, bool prefix)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return false;
	return prefix ? strncmp(slash + 1, name, strlen(name)) == 0 : strcmp(slash + 1, name) == 0;
}

void proc_maps_line(const char *line, struct proc_maps *out)
{
	uint64_t start, end;
	char perms[5] = "";
	const char *at;
	char path[4096];
	int skip = 0;
	size_t n;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %*x:%*x %*u%n", &start, &end, perms, &skip) < 3 || !skip)
		return;
	at = line + skip + strspn(line + skip, " ");
	n = strcspn(at, "\n");
	if (*at != '/' || n >= sizeof(path))
		return;
	memcpy(path, at, n);
	path[n] = '\0';
	if (n > 10 && strcmp(path + n - 10, " (deleted)") == 0)
		path[n - 10] = '\0';
	if (strstr(path, "/hsperfdata_") && !out->perf_start && end > start) {
		out->perf_start = start;
		out->perf_end = end;
	}
	if (perms[2] != 'x')
		return;
	if (!out->libjvm[0] && file_is(path, "libjvm.so", false) && strlen(path) < sizeof(out->libjvm))
		strcpy(out->libjvm, path);
	out->openj9 |= file_is(path, "libj9vm", true);
	out->musl |= file_is(path, "ld-musl-", true) || file_is(path, "libc.musl-", true);
}

int proc_maps_read(pid_t pid, struct proc_maps *out)
{
	char path[64], *line = NULL;
	size_t size = 0;
	int err = 0;
	FILE *f;

	memset(out, 0, sizeof(*out));
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)procfs_living_thread(pid));
	f = fopen(path, "re");
	if (!f)
		return errno == ENOENT ? -ESRCH : -errno;
	errno = 0;
	while (getline(&line, &size, f) > 0)
		proc_maps_line(line, out);
	if (ferror(f))
		err = errno ? -errno : -EIO;
	free(line);
	fclose(f);
	return err;
}

int proc_root_open(pid_t pid)
{
	char path[64] = "/";
	int fd;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/root", (int)procfs_living_thread(pid));
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}
