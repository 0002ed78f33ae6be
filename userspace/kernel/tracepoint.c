// SPDX-License-Identifier: Apache-2.0
#include "tracepoint.h"

#include "util/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/* From linux/mount.h, which conflicts with glibc's sys/mount.h on some releases. */
#define FSCONFIG_CREATE 6
#define FS_CLOEXEC 1

static int open_mounted(const char *path)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;

	if (fd < 0)
		return -errno;
	if (fstatfs(fd, &fs) == 0 && fs.f_type == TRACEFS_MAGIC)
		return fd;
	close(fd);
	return -ENOENT;
}

/* Opens an instance of tracefs that is mounted nowhere, for this process alone. */
static int open_detached(void)
{
	int fs = (int)syscall(SYS_fsopen, "tracefs", FS_CLOEXEC), fd;

	if (fs < 0)
		return -errno;
	if (syscall(SYS_fsconfig, fs, FSCONFIG_CREATE, NULL, NULL, 0))
		fd = -errno;
	else
		fd = (int)syscall(SYS_fsmount, fs, FS_CLOEXEC, 0);
	if (fd == -1)
		fd = -errno;
	close(fs);
	return fd;
}

static int open_tracefs(void)
{
	int fd = open_mounted("/sys/kernel/tracing");

	if (fd < 0)
		fd = open_mounted("/sys/kernel/debug/tracing");
	if (fd < 0)
		fd = open_detached();
	return fd;
}

/* Reads the positive number in `path` below `dir`, or returns a negative errno. */
static int read_id(int dir, const char *path)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	char text[32];
	ssize_t n;
	long id;

	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return n ? -EIO : -ENODATA;
	text[n] = '\0';
	id = strtol(text, NULL, 10);
	return id > 0 && id <= INT_MAX ? (int)id : -ENODATA;
}

static int explain_tracefs(int err, const char *event)
{
	if (err == -ENODEV)
		log_error("cannot look up '%s': this kernel has no tracefs (CONFIG_FTRACE)", event);
	else
		log_error(
			"cannot look up '%s': tracefs is not mounted; run `mount -t tracefs nodev /sys/kernel/tracing` "
			"as root",
			event);
	return err;
}

static int explain_id(int err, const char *event)
{
	int category = (int)(strchr(event, ':') - event);

	if (err == -ENOENT)
		log_error("no tracepoint '%s' in this kernel; `perf list tracepoint`, or /sys/kernel/tracing/events, "
			  "lists them",
			  event);
	else if (err == -EACCES || err == -EPERM)
		log_error("cannot look up '%s': permission denied in /sys/kernel/tracing/events; run as root", event);
	else
		log_error("cannot look up '%s': events/%.*s/%s/id in tracefs: %s", event, category, event,
			  event + category + 1, strerror(-err));
	return err;
}

static int find_id(const char *event)
{
	int dir = open_tracefs(), category = (int)(strchr(event, ':') - event), id;
	char path[2 * NAME_MAX + 16];

	if (dir < 0)
		return explain_tracefs(dir, event);
	snprintf(path, sizeof(path), "events/%.*s/%s/id", category, event, event + category + 1);
	id = read_id(dir, path);
	close(dir);
	return id < 0 ? explain_id(id, event) : id;
}

int tracepoint_open(const char *event)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .sample_period = 1, .disabled = 1};
	int id = find_id(event), fd = -1, cpu = 0;

	if (id < 0)
		return id;
	attr.config = (uint64_t)id;
	/*
	 * A program on a tracepoint runs for hits on every CPU (kernel/events/core.c), so the event can be on any CPU.
	 */
	do
		fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	while (fd < 0 && errno == ENODEV && ++cpu < sysconf(_SC_NPROCESSORS_CONF));
	if (fd >= 0)
		return fd;
	fd = -errno;
	if (fd == -EACCES || fd == -EPERM)
		log_error("cannot open tracepoint '%s': permission denied; run as root, or with CAP_PERFMON", event);
	else
		log_error("cannot open tracepoint '%s': %s", event, strerror(-fd));
	return fd;
}
