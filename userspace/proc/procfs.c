// SPDX-License-Identifier: Apache-2.0
#include "proc/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int read_small(const char *path, char *to, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	ssize_t n;

	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	n = read(fd, to, size - 1);
	if (n < 0)
		err = -errno;
	to[n > 0 ? n : 0] = '\0';
	close(fd);
	return err;
}

int procfs_comm(pid_t pid, pid_t tid, char *to, size_t size)
{
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
	err = read_small(path, to, size);
	if (!err)
		to[strcspn(to, "\n")] = '\0';
	return err;
}

void procfs_exe(pid_t pid, char *to, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	n = readlink(path, to, size - 1);
	to[n > 0 ? n : 0] = '\0';
}

uint64_t procfs_start_ns(pid_t pid)
{
	struct timespec boot, mono;
	char path[64], text[1024], *at;
	unsigned long long ticks;
	int64_t start;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (read_small(path, text, sizeof(text)))
		return 0;
	at = strrchr(text, ')'); /* comm may hold anything */
	if (!at || sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
			  &ticks) != 1)
		return 0;
	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	start = (int64_t)(ticks * (1000000000ULL / (unsigned long long)sysconf(_SC_CLK_TCK))) -
		((boot.tv_sec - mono.tv_sec) * 1000000000LL + boot.tv_nsec - mono.tv_nsec);
	return start > 0 ? (uint64_t)start : 0;
}

int procfs_threads(pid_t pid, void (*fn)(void *ctx, pid_t pid, pid_t tid), void *ctx)
{
	struct dirent *e;
	char path[64];
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	if (!d)
		return errno == ENOENT ? -ESRCH : -errno;
	while ((e = readdir(d))) {
		pid_t tid = (pid_t)atoi(e->d_name);

		if (tid > 0)
			fn(ctx, pid, tid);
	}
	closedir(d);
	return 0;
}

int procfs_cpu_ns(pid_t pid, pid_t tid, uint64_t *cpu_ns, uint64_t *kernel_ns)
{
	unsigned long long cpu, ticks;
	char path[64], text[1024], *at;
	int err;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, tid);
	err = read_small(path, text, sizeof(text));
	if (!err && sscanf(text, "%llu", &cpu) != 1)
		err = -EINVAL;
	if (err)
		return err;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	err = read_small(path, text, sizeof(text));
	if (err)
		return err;
	at = strrchr(text, ')'); /* comm may hold anything */
	if (!at || sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %llu", &ticks) != 1)
		return -EINVAL;
	ticks *= 1000000000ULL / (unsigned long long)sysconf(_SC_CLK_TCK);
	*cpu_ns = cpu;
	*kernel_ns = ticks < cpu ? ticks : cpu;
	return 0;
}

/* "start-end perms offset major:minor inode   path" */
static int parse_mapping(char *line, struct mapping_fact *f)
{
	unsigned long long start, end, offset, inode;
	unsigned int major, minor;
	char perms[8];
	int at = 0;

	if (sscanf(line, "%llx-%llx %7s %llx %x:%x %llu %n", &start, &end, perms, &offset, &major, &minor, &inode,
		   &at) < 7)
		return -EINVAL;
	if (perms[2] != 'x')
		return 1;
	line[strcspn(line, "\n")] = '\0';
	*f = (struct mapping_fact){.start = start,
				   .end = end,
				   .file_offset = offset,
				   .major = major,
				   .minor = minor,
				   .inode = inode,
				   .path = at ? line + at : ""};
	return 0;
}

int procfs_mappings(pid_t pid, void (*fn)(void *ctx, const struct mapping_fact *fact), void *ctx)
{
	struct mapping_fact fact;
	size_t capacity = 0;
	char path[64], *line = NULL;
	FILE *f;
	int err;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	if (!f)
		return errno == ENOENT ? -ESRCH : -errno;
	while (getline(&line, &capacity, f) > 0)
		if (parse_mapping(line, &fact) == 0)
			fn(ctx, &fact);
	err = ferror(f) ? -ESRCH : 0;
	free(line);
	fclose(f);
	return err;
}

pid_t procfs_ns_tid(pid_t pid, pid_t tid)
{
	char path[64], text[4096], *at, *last;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	if (read_small(path, text, sizeof(text)))
		return tid;
	at = strstr(text, "\nNSpid:");
	if (!at)
		return tid;
	at += 7;
	at[strcspn(at, "\n")] = '\0';
	last = strrchr(at, '\t');
	return last ? (pid_t)atoi(last + 1) : tid;
}

bool procfs_thread_named(pid_t pid, const char *name)
{
	bool found = false;
	char path[64], comm[16];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	if (!d)
		return false;
	while (!found && (e = readdir(d)))
		found = !procfs_comm(pid, (pid_t)atoi(e->d_name), comm, sizeof(comm)) && strcmp(comm, name) == 0;
	closedir(d);
	return found;
}

pid_t procfs_host_tid(pid_t pid, pid_t ns_tid)
{
	pid_t found = 0;
	struct dirent *e;
	char path[64];
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	if (!d)
		return 0;
	while (!found && (e = readdir(d))) {
		pid_t tid = (pid_t)atoi(e->d_name);

		if (tid > 0 && procfs_ns_tid(pid, tid) == ns_tid)
			found = tid;
	}
	closedir(d);
	return found;
}
