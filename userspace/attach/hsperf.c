// SPDX-License-Identifier: Apache-2.0
#include "hsperf.h"

#include "util/root_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define ENTRIES_MAX 16384U
#define TMP_ENTRIES_MAX 65536U

/* PerfDataPrologue and PerfDataEntry of HotSpot's perfMemory.hpp and PerfData.hpp. */
struct prologue {
	uint8_t magic[4];
	uint8_t byte_order; /* 1: little endian */
	uint8_t major_version;
	uint8_t minor_version;
	uint8_t accessible;
	int32_t used;
	int32_t overflow;
	int64_t mod_time_stamp;
	int32_t entry_offset;
	int32_t num_entries;
};
_Static_assert(sizeof(struct prologue) == 32, "hsperfdata prologue");

struct entry {
	int32_t entry_length;
	int32_t name_offset; /* from the entry */
	int32_t vector_length;
	uint8_t data_type; /* the letter of a Java type */
	uint8_t flags;
	uint8_t data_units;
	uint8_t data_variability;
	int32_t data_offset; /* from the entry */
};
_Static_assert(sizeof(struct entry) == 20, "hsperfdata entry");

static void entry_string(const char *at, const struct entry *e, const char *name, char *to, size_t size)
{
	size_t length = (size_t)e->entry_length, n;

	if (e->data_type != 'B' || e->vector_length <= 0 || e->data_offset < (int32_t)sizeof(*e) ||
	    (size_t)e->data_offset >= length || strcmp(at + e->name_offset, name) != 0)
		return;
	n = length - (size_t)e->data_offset;
	if (n > (size_t)e->vector_length)
		n = (size_t)e->vector_length;
	n = strnlen(at + e->data_offset, n);
	if (n > size - 1)
		n = size - 1;
	memcpy(to, at + e->data_offset, n);
	to[n] = '\0';
}

static void entry_long(const char *at, const struct entry *e, const char *name, int64_t *to)
{
	if (e->data_type == 'J' && !e->vector_length && e->data_offset >= (int32_t)sizeof(*e) &&
	    e->data_offset <= e->entry_length - (int32_t)sizeof(*to) && !strcmp(at + e->name_offset, name))
		memcpy(to, at + e->data_offset, sizeof(*to));
}

static void take_stopped(struct hsperf *out, int64_t ticks, int64_t ticks_per_s)
{
	double ns = (double)ticks / (double)ticks_per_s * 1e9;

	out->has_stopped = ticks >= 0 && ticks_per_s > 0 && ns < 1e18;
	out->stopped_ns = out->has_stopped ? (uint64_t)ns : 0;
}

int hsperf_parse(const void *data, size_t size, struct hsperf *out)
{
	const char *bytes = data;
	int64_t ticks = -1, ticks_per_s = 0;
	struct prologue p;
	size_t at;

	memset(out, 0, sizeof(*out));
	if (size < sizeof(p))
		return -EINVAL;
	memcpy(&p, bytes, sizeof(p));
	if (memcmp(p.magic, "\xca\xfe\xc0\xc0", 4) != 0 || p.byte_order != 1 || p.major_version != 2 ||
	    p.entry_offset < (int32_t)sizeof(p))
		return -EINVAL;
	if (!p.accessible)
		return -EAGAIN;
	at = (size_t)p.entry_offset;
	for (uint32_t i = 0;
	     i < ENTRIES_MAX && (int64_t)i < p.num_entries && at < size && size - at >= sizeof(struct entry); i++) {
		struct entry e;

		memcpy(&e, bytes + at, sizeof(e));
		if (e.entry_length < (int32_t)sizeof(e) || (size_t)e.entry_length > size - at)
			break;
		if (e.name_offset < (int32_t)sizeof(e) || e.name_offset >= e.entry_length ||
		    !memchr(bytes + at + e.name_offset, 0, (size_t)(e.entry_length - e.name_offset)))
			break;
		entry_string(bytes + at, &e, "sun.rt.javaCommand", out->command, sizeof(out->command));
		entry_string(bytes + at, &e, "java.rt.vmArgs", out->args, sizeof(out->args));
		entry_string(bytes + at, &e, "java.property.java.version", out->version, sizeof(out->version));
		entry_long(bytes + at, &e, "sun.rt.safepointTime", &ticks);
		entry_long(bytes + at, &e, "sun.os.hrt.frequency", &ticks_per_s);
		at += (size_t)e.entry_length;
	}
	take_stopped(out, ticks, ticks_per_s);
	return 0;
}

static int parse_memory(pid_t pid, const struct proc_maps *maps, char *buffer, struct hsperf *out)
{
	size_t size = maps->perf_end - maps->perf_start;
	struct iovec local = {.iov_base = buffer, .iov_len = size < HSPERF_BYTES_MAX ? size : HSPERF_BYTES_MAX};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)maps->perf_start, .iov_len = local.iov_len};
	ssize_t n = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	return n < 0 ? -errno : hsperf_parse(buffer, (size_t)n, out);
}

/* A file of another user is not trusted. */
static int parse_file(int dir, const struct proc_status *status, char *buffer, struct hsperf *out)
{
	char name[16];
	struct stat st;
	size_t length = 0;
	ssize_t n = 0;
	int fd, err = -ENOENT;

	snprintf(name, sizeof(name), "%d", (int)status->ns_pid);
	fd = root_open_regular(dir, name, O_NOFOLLOW, &st);
	if (fd < 0)
		return fd;
	if (st.st_uid == status->uid) {
		while (length < HSPERF_BYTES_MAX && (n = read(fd, buffer + length, HSPERF_BYTES_MAX - length)) > 0)
			length += (size_t)n;
		err = n < 0 ? -errno : hsperf_parse(buffer, length, out);
	}
	close(fd);
	return err;
}

static int parse_any_file(pid_t pid, const struct proc_status *status, char *buffer, struct hsperf *out)
{
	int root = proc_root_open(pid), tmp, err = -ENOENT;
	unsigned int entries = 0;
	struct dirent *e;
	DIR *d = NULL;

	if (root < 0)
		return root;
	tmp = root_open(root, "tmp", O_RDONLY | O_DIRECTORY);
	close(root);
	if (tmp < 0)
		return tmp;
	d = fdopendir(tmp);
	if (!d) {
		err = -errno;
		close(tmp);
		return err;
	}
	/* hsperfdata_USER has the user's name in the process's own namespace, so all such directories are tried. */
	while (err && entries++ < TMP_ENTRIES_MAX && (e = readdir(d)) != NULL) {
		int dir;

		if (strncmp(e->d_name, "hsperfdata_", 11) != 0)
			continue;
		dir = openat(tmp, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (dir < 0)
			continue;
		err = parse_file(dir, status, buffer, out);
		close(dir);
	}
	closedir(d);
	return err;
}

int hsperf_read(pid_t pid, const struct proc_status *status, const struct proc_maps *maps, struct hsperf *out)
{
	char *buffer = malloc(HSPERF_BYTES_MAX);
	int err = -ENOENT;

	memset(out, 0, sizeof(*out));
	if (!buffer)
		return -ENOMEM;
	if (maps->perf_start)
		err = parse_memory(pid, maps, buffer, out);
	if (err && err != -EAGAIN)
		err = parse_any_file(pid, status, buffer, out);
	free(buffer);
	return err;
}
