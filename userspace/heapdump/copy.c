// SPDX-License-Identifier: Apache-2.0
#include "copy.h"

#include "proc/jvm_proc.h"
#include "proc/procfs.h"
#include "util/clock.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WAIT_NS 30000000000ULL
#define STEP_NS 2000000

static pid_t parent_of(pid_t pid)
{
	char text[512];
	const char *name_end;
	int parent;

	if (proc_file_read(pid, "stat", text, sizeof(text)) <= 0 || !(name_end = strrchr(text, ')')) ||
	    sscanf(name_end + 1, " %*c %d", &parent) != 1)
		return 0;
	return parent;
}

pid_t copy_find(pid_t jvm, pid_t ns_pid)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;
	pid_t found = 0;

	while (proc && !found && (e = readdir(proc))) {
		pid_t pid = isdigit((unsigned char)e->d_name[0]) ? atoi(e->d_name) : 0;

		if (pid && parent_of(pid) == jvm && procfs_ns_tid(pid, pid) == ns_pid)
			found = pid;
	}
	if (proc)
		closedir(proc);
	return found;
}

/* What the kernel counts apart: files and shared memory are in VmRSS. */
uint64_t copy_bytes(pid_t pid)
{
	static const char *const parts[] = {"\nVmRSS:", "\nVmSwap:", "\nHugetlbPages:"};
	uint64_t bytes = 0;
	char text[8192];

	if (procfs_status(pid, pid, text, sizeof(text)) <= 0)
		return 0;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const char *at = strstr(text, parts[i]);

		bytes += at ? strtoull(at + strlen(parts[i]), NULL, 10) * 1024 : 0;
	}
	return bytes;
}

int copy_wait(const struct copy *m, uint64_t roots, struct braid_heap_roots *head)
{
	const struct timespec step = {.tv_nsec = STEP_NS};
	uint64_t until = now_ns() + WAIT_NS;
	int err;

	for (;;) {
		err = copy_check(m);
		err = err ?: copy_read(m, roots, head, sizeof(*head));
		if (err || head->magic != BRAID_ROOTS_MAGIC)
			return err ?: -EPROTO;
		if (head->state != BRAID_ROOTS_COLLECTING)
			break;
		if (now_ns() > until)
			return -ETIMEDOUT;
		nanosleep(&step, NULL);
	}
	if (head->count > BRAID_ROOTS_MAX)
		return -EPROTO;
	return head->state == BRAID_ROOTS_COMPLETE ? 0 : -E2BIG;
}
