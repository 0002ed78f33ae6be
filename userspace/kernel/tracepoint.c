// SPDX-License-Identifier: Apache-2.0
#include "tracepoint.h"

#include "tracepoint_format.h"

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

/* Reads a file of the event below tracefs. Returns its length, or a negative errno. */
static ssize_t read_event(int dir, const struct probe_spec *spec, const char *file, char *to, size_t size)
{
	char path[2 * PROBE_TEXT + 32];
	size_t used = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "events/%s/%s/%s", spec->group, spec->name, file);
	fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while ((n = read(fd, to + used, size - 1 - used)) > 0)
		used += (size_t)n;
	close(fd);
	to[used] = '\0';
	return n < 0 ? -EIO : used ? (ssize_t)used : -ENODATA;
}

static int read_id(int dir, const struct probe_spec *spec)
{
	char text[32];
	ssize_t n = read_event(dir, spec, "id", text, sizeof(text));
	long id;

	if (n < 0)
		return (int)n;
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

static int explain_id(int err, int dir, const struct probe_spec *spec)
{
	if (err == -ENOENT && strcmp(spec->group, "syscalls") == 0 && faccessat(dir, "events/syscalls", F_OK, 0))
		log_error("no tracepoint '%s:%s': this kernel has no events of system calls (CONFIG_FTRACE_SYSCALLS); "
			  "raw_syscalls:sys_enter with a filter such as id==74 works without",
			  spec->group, spec->name);
	else if (err == -ENOENT)
		log_error("no tracepoint '%s:%s' in this kernel; `perf list tracepoint`, or "
			  "/sys/kernel/tracing/events, lists them",
			  spec->group, spec->name);
	else if (err == -EACCES || err == -EPERM)
		log_error("cannot look up '%s:%s': permission denied in /sys/kernel/tracing/events; run as root",
			  spec->group, spec->name);
	else
		log_error("cannot look up '%s:%s': events/%s/%s/id in tracefs: %s", spec->group, spec->name,
			  spec->group, spec->name, strerror(-err));
	return err;
}

#define FORMAT_BYTES 65536

static int explain_field(int err, const struct probe_spec *spec, const char *field, const char *format)
{
	char names[1024];

	tracepoint_fields(format, names, sizeof(names));
	if (err == -ENOENT)
		log_error("'%s:%s' has no field '%s'; filters can use comm, pid, tid, cpu, and %s", spec->group,
			  spec->name, field, *names ? names : "no others");
	else
		log_error("the field '%s' of '%s:%s' cannot be used: it is neither a number nor text", field,
			  spec->group, spec->name);
	return -EINVAL;
}

static bool is_syscall(const struct probe_spec *spec)
{
	return strcmp(spec->group, "syscalls") == 0;
}

/* Finds the record's fields that the filter names. */
static int find_terms(struct probe_spec *spec, const char *format)
{
	for (uint32_t i = 0; i < spec->terms; i++) {
		struct probe_term *t = &spec->term[i];
		char why[PROBE_WHY];
		int err = t->own ? tracepoint_field(format, is_syscall(spec), t->field, &t->term) : 0;

		if (err)
			return explain_field(err, spec, t->field, format);
		if (t->own && probe_term_check(t, why)) {
			log_error("-e %s: %s", spec->text, why);
			return -EINVAL;
		}
	}
	return 0;
}

/* What a program reads and writes is nobody's business who does not ask for it; the path of a file is. */
static bool add_field(void *ctx, const char *name, const struct braid_hit_term *field)
{
	struct probe_spec *spec = ctx;
	struct probe_field *f = &spec->field[spec->fields];

	if (strcmp(name, "__syscall_nr") == 0 || strlen(name) >= sizeof(f->name))
		return true;
	*f = (struct probe_field){.term = *field};
	memcpy(f->name, name, strlen(name) + 1);
	if (field->operand == BRAID_HIT_USER && !strstr(name, "name") && !strstr(name, "path")) {
		f->term.operand = BRAID_HIT_NUMBER;
		f->term.flags |= BRAID_HIT_HEX;
	}
	return ++spec->fields < BRAID_HIT_FIELDS;
}

/* The same for those whose values samples have. */
static int find_shown(struct probe_spec *spec, const char *format)
{
	if (!spec->braces)
		tracepoint_each(format, is_syscall(spec), add_field, spec);
	for (uint32_t i = 0; spec->braces && i < spec->fields; i++) {
		struct probe_field *f = &spec->field[i];
		int err = tracepoint_field(format, is_syscall(spec), f->name, &f->term);

		if (err)
			return explain_field(err, spec, f->name, format);
		if (f->text && f->term.operand == BRAID_HIT_NUMBER && is_syscall(spec))
			f->term.operand = BRAID_HIT_USER;
		if (f->text && f->term.operand < BRAID_HIT_STRING) {
			log_error("-e %s: '%s' is a number, not the address of text in the process", spec->text,
				  f->name);
			return -EINVAL;
		}
	}
	return 0;
}

static int read_fields(int dir, struct probe_spec *spec)
{
	char *format = malloc(FORMAT_BYTES);
	ssize_t n = format ? read_event(dir, spec, "format", format, FORMAT_BYTES) : -ENOMEM;
	int err = n < 0 ? (int)n : find_terms(spec, format) ?: find_shown(spec, format);

	if (n < 0)
		log_error("cannot read the fields of '%s:%s': %s", spec->group, spec->name, strerror(-err));
	free(format);
	return err;
}

static int find_id(struct probe_spec *spec)
{
	int dir = open_tracefs(), id, err = 0;

	if (dir < 0)
		return explain_tracefs(dir, spec->text);
	id = read_id(dir, spec);
	if (id < 0)
		err = explain_id(id, dir, spec);
	else if (spec->terms || spec->fields || !spec->braces)
		err = read_fields(dir, spec);
	close(dir);
	return err ?: id;
}

int tracepoint_open(struct probe_spec *spec)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .sample_period = 1, .disabled = 1};
	int id = find_id(spec), fd = -1, cpu = 0;

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
		log_error("cannot open tracepoint '%s': permission denied; run as root, or with CAP_PERFMON",
			  spec->text);
	else
		log_error("cannot open tracepoint '%s': %s", spec->text, strerror(-fd));
	return fd;
}
