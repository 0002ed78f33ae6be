// SPDX-License-Identifier: Apache-2.0
#include "seccomp.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PIECE_BYTES 1024 /* a thread that throws StackOverflowError has little stack left */
#define KEPT_BYTES 128	 /* at least the two lines that are looked for */
#define ENTRIES_BYTES 1024

/* The lines "Seccomp: 2" and "Seccomp_filters: 1", if both are there as a whole. */
static bool lines_read(const char *text, int *filters)
{
	static const char mode[] = "\nSeccomp:", count[] = "\nSeccomp_filters:";
	const char *at = strstr(text, mode), *number = at ? strstr(at, count) : NULL;

	if (!number || !strchr(number + 1, '\n'))
		return false;
	*filters = atoi(at + strlen(mode)) == 1 ? SECCOMP_STRICT : atoi(number + strlen(count));
	return true;
}

/* The lines are behind that of the groups, of which a process may have 65,536. */
int seccomp_filters_in(int fd)
{
	char text[KEPT_BYTES + PIECE_BYTES + 1];
	size_t used = 0, kept;
	ssize_t got;
	int filters;

	while ((got = read(fd, text + used, sizeof(text) - 1 - used)) > 0) {
		used += (size_t)got;
		text[used] = '\0';
		if (lines_read(text, &filters))
			return filters;
		kept = used < KEPT_BYTES ? used : KEPT_BYTES;
		memmove(text, text + used - kept, kept);
		used = kept;
	}
	return -1;
}

static int filters_of(int directory, const char *path)
{
	int fd = openat(directory, path, O_RDONLY | O_CLOEXEC), filters;

	if (fd < 0)
		return -1;
	filters = seccomp_filters_in(fd);
	close(fd);
	return filters;
}

int seccomp_filters(void)
{
	return prctl(PR_GET_SECCOMP) <= 0 ? 0 : filters_of(AT_FDCWD, "/proc/thread-self/status");
}

/* A thread that has ended meanwhile has none. */
static bool differs(int tasks, const char *tid, int filters)
{
	char path[32];
	int its;

	snprintf(path, sizeof(path), "%.20s/status", tid);
	its = filters_of(tasks, path);
	return its >= 0 && its != filters;
}

/* Not readdir(), which allocates: the caller may watch allocations. */
bool seccomp_others(int filters, uint32_t most)
{
	static off_t next;
	_Alignas(struct dirent64) char entries[ENTRIES_BYTES];
	int tasks = filters < 0 ? -1 : open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool others = false;
	long got = 0;

	if (tasks < 0)
		return false;
	(void)lseek(tasks, next, SEEK_SET);
	while (most && !others && (got = syscall(SYS_getdents64, tasks, entries, sizeof(entries))) > 0)
		for (long at = 0; at < got && most && !others;) {
			const struct dirent64 *e = (const void *)(entries + at);

			at += e->d_reclen;
			next = e->d_off;
			if (*e->d_name == '.')
				continue;
			most--;
			others = differs(tasks, e->d_name, filters);
		}
	if (got <= 0)
		next = 0;
	close(tasks);
	return others;
}
