// SPDX-License-Identifier: Apache-2.0
#include "procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define INIT_PID_NAMESPACE 0xeffffffcU /* PROC_PID_INIT_INO of the kernel's proc_ns.h */

const char *procfs_pids_obstacle(void)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) < 0)
		return "/proc is not mounted, or is that of another pid namespace: mount -t proc proc /proc";
	if (st.st_ino != INIT_PID_NAMESPACE)
		return "this is a container's pid namespace, and eBPF programs see the machine's pids: run braid on "
		       "the host, with the pid that the process has there (`braid list` shows it), or start the "
		       "container with --pid=host";
	return NULL;
}

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

#define FLAG_EXITING 0x4U /* PF_EXITING of the kernel's sched.h */

struct process_stat {
	char state;
	unsigned int flags; /* the first thread's */
	int threads;
	unsigned long long user_ticks, kernel_ticks; /* of all its threads */
	unsigned long long start_ticks;		     /* since boot */
};

static int read_stat(pid_t pid, struct process_stat *s)
{
	char path[64], text[1024], *at;
	int err;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	err = read_small(path, text, sizeof(text));
	if (err)
		return err;
	at = strrchr(text, ')'); /* comm may contain anything */
	if (!at || sscanf(at + 1, " %c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %d %*d %llu",
			  &s->state, &s->flags, &s->user_ticks, &s->kernel_ticks, &s->threads, &s->start_ticks) != 6)
		return -EINVAL;
	return 0;
}

static bool has_ended(pid_t tid)
{
	struct process_stat s;

	return read_stat(tid, &s) || s.state == 'Z' || s.state == 'X';
}

static void take_living(void *ctx, pid_t pid, pid_t tid)
{
	pid_t *living = ctx;

	if (*living == pid && tid != pid && !has_ended(tid))
		*living = tid;
}

pid_t procfs_living_thread(pid_t pid)
{
	pid_t living = pid;

	if (has_ended(pid))
		(void)procfs_threads(pid, take_living, &living);
	return living;
}

void procfs_exe(pid_t pid, char *to, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	n = readlink(path, to, size - 1);
	if (n < 0) {
		snprintf(path, sizeof(path), "/proc/%d/exe", procfs_living_thread(pid));
		n = readlink(path, to, size - 1);
	}
	to[n > 0 ? n : 0] = '\0';
}

/*
 * A line is HIERARCHY:CONTROLLERS:PATH; the hierarchy of cgroup v2 is 0. With both, processes are in the root of one.
 */
void procfs_cgroup(pid_t pid, char *to, size_t size)
{
	char path[64], line[PATH_MAX + 256], *group;
	FILE *file;

	to[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		group = strchr(line, ':');
		group = group ? strchr(group + 1, ':') : NULL;
		if (!group)
			continue;
		group[strcspn(group, "\n")] = '\0';
		if (strlen(group + 1) > strlen(to))
			snprintf(to, size, "%s", group + 1);
	}
	if (file)
		fclose(file);
}

uint64_t procfs_start_ticks(pid_t pid)
{
	struct process_stat s;

	return read_stat(pid, &s) ? 0 : s.start_ticks;
}

bool procfs_lives(pid_t pid, uint64_t start_ticks)
{
	struct process_stat s;

	if (read_stat(pid, &s) || s.start_ticks != start_ticks)
		return false;
	return s.threads > 1 || (s.state != 'Z' && s.state != 'X' && !(s.flags & FLAG_EXITING));
}

uint64_t procfs_start_ns(pid_t pid)
{
	struct timespec boot, mono;
	struct process_stat s;
	int64_t start;

	if (read_stat(pid, &s))
		return 0;
	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	start = (int64_t)(s.start_ticks * (1000000000ULL / (unsigned long long)sysconf(_SC_CLK_TCK))) -
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

/* The fields of a thread's stat that follow its name, which may contain anything; NULL: there is no such thread. */
static const char *thread_stat(pid_t pid, pid_t tid, char *text, size_t size)
{
	const char *end;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	end = read_small(path, text, size) ? NULL : strrchr(text, ')');
	return end ? end + 1 : NULL;
}

bool procfs_sleeps(pid_t pid, pid_t tid)
{
	char text[1024], state;
	const char *at = thread_stat(pid, tid, text, sizeof(text));

	return at && sscanf(at, " %c", &state) == 1 && state != 'R';
}

/* "NUMBER ARGUMENTS SP PC" in a system call, "-1 SP PC" elsewhere, or "running". */
int procfs_stack_pointer(pid_t pid, pid_t tid, uint64_t *to)
{
	unsigned long long sp;
	char path[64], text[256], *last, *at;
	int err;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", pid, tid);
	err = read_small(path, text, sizeof(text));
	if (err)
		return err;
	last = strrchr(text, ' ');
	if (!last)
		return -EBUSY;
	*last = '\0';
	at = strrchr(text, ' ');
	if (!at || sscanf(at, " 0x%llx", &sp) != 1)
		return -EINVAL;
	*to = sp;
	return 0;
}

int procfs_cpu_ns(pid_t pid, pid_t tid, uint64_t *cpu_ns, uint64_t *kernel_ns)
{
	unsigned long long cpu, ticks;
	char path[64], text[1024];
	const char *at;
	int err;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, tid);
	err = read_small(path, text, sizeof(text));
	if (!err && sscanf(text, "%llu", &cpu) != 1)
		err = -EINVAL;
	if (err)
		return err;
	at = thread_stat(pid, tid, text, sizeof(text));
	if (!at)
		return -ESRCH;
	if (sscanf(at, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %llu", &ticks) != 1)
		return -EINVAL;
	ticks *= 1000000000ULL / (unsigned long long)sysconf(_SC_CLK_TCK);
	*cpu_ns = cpu;
	*kernel_ns = ticks < cpu ? ticks : cpu;
	return 0;
}

int procfs_process_cpu_ns(pid_t pid, uint64_t *user_ns, uint64_t *kernel_ns)
{
	uint64_t tick_ns = 1000000000ULL / (uint64_t)sysconf(_SC_CLK_TCK);
	struct process_stat s;
	int err = read_stat(pid, &s);

	if (err)
		return err;
	*user_ns = s.user_ticks * tick_ns;
	*kernel_ns = s.kernel_ticks * tick_ns;
	return 0;
}

static bool begins_with_one(const char *path, const char *const *prefixes)
{
	for (; *prefixes; prefixes++)
		if (strncmp(path, *prefixes, strlen(*prefixes)) == 0)
			return true;
	return false;
}

/* "start-end perms offset major:minor inode   path". 1: it is not wanted, see procfs_mappings(). */
static int parse_mapping(char *line, const char *const *prefixes, struct mapping_fact *f)
{
	unsigned long long start, end, offset, inode;
	unsigned int major, minor;
	char perms[8];
	int at = 0;

	if (sscanf(line, "%llx-%llx %7s %llx %x:%x %llu %n", &start, &end, perms, &offset, &major, &minor, &inode,
		   &at) < 7)
		return -EINVAL;
	if (prefixes ? !at || !begins_with_one(line + at, prefixes) : perms[2] != 'x')
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

/* The number of lines, or a negative errno. */
static int mappings_of(pid_t tid, const char *const *prefixes, void (*fn)(void *ctx, const struct mapping_fact *fact),
		       void *ctx)
{
	struct mapping_fact fact;
	size_t capacity = 0;
	char path[64], *line = NULL;
	int lines = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", tid);
	f = fopen(path, "re");
	if (!f)
		return errno == ENOENT ? -ESRCH : -errno;
	for (; getline(&line, &capacity, f) > 0; lines++)
		if (parse_mapping(line, prefixes, &fact) == 0)
			fn(ctx, &fact);
	if (ferror(f))
		lines = -ESRCH;
	free(line);
	fclose(f);
	return lines;
}

int procfs_named_mappings(pid_t pid, const char *const *prefixes,
			  void (*fn)(void *ctx, const struct mapping_fact *fact), void *ctx)
{
	int lines = mappings_of(pid, prefixes, fn, ctx);
	pid_t other = lines ? pid : procfs_living_thread(pid);

	if (other != pid)
		lines = mappings_of(other, prefixes, fn, ctx);
	return lines < 0 ? lines : 0;
}

int procfs_mappings(pid_t pid, void (*fn)(void *ctx, const struct mapping_fact *fact), void *ctx)
{
	return procfs_named_mappings(pid, NULL, fn, ctx);
}

ssize_t procfs_status_text(int fd, char *to, size_t size)
{
	static const char groups[] = "Groups:";
	size_t length = 0, line = 0; /* where the last one begins */
	bool skips = false;
	char part[4096];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, part, sizeof(part), at)) > 0 || (n < 0 && errno == EINTR)) {
		for (ssize_t i = 0; i < n; i++) {
			if (!skips && length < size - 1)
				to[length++] = part[i];
			if (part[i] == '\n') {
				skips = false;
				line = length;
			} else if (length - line == sizeof(groups) - 1 && !memcmp(to + line, groups, length - line)) {
				skips = true;
				length = line;
			}
		}
		at += n > 0 ? n : 0;
	}
	to[length] = '\0';
	return n < 0 ? -errno : (ssize_t)length;
}

ssize_t procfs_status(pid_t pid, pid_t tid, char *to, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	n = procfs_status_text(fd, to, size);
	close(fd);
	return n;
}

pid_t procfs_ns_tid(pid_t pid, pid_t tid)
{
	char text[4096], *at, *last;

	if (procfs_status(pid, tid, text, sizeof(text)) < 0)
		return 0;
	at = strstr(text, "\nNSpid:");
	if (!at)
		return tid;
	at += 7;
	at[strcspn(at, "\n")] = '\0';
	last = strrchr(at, '\t');
	return last ? (pid_t)atoi(last + 1) : tid;
}
