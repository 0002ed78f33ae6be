// SPDX-License-Identifier: Apache-2.0
#include "process_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the kernel takes to copy the tables of one page, if nobody has measured it, and what it takes besides. */
#define PAGE_PS 140000
#define HUGE_PAGE_NS 1500
#define BASE_NS 2000000
#define PAGE_KIB 4
#define HUGE_PAGE_KIB 2048
#define SIGNALS 64
#define COPY_NICE 10

pid_t process_copy(void)
{
	/* Without a signal in the flags, only wait calls with __WALL or __WCLONE see its end. */
	long pid = syscall(SYS_clone, 0, NULL, NULL, NULL, 0);

	return pid < 0 ? -errno : (pid_t)pid;
}

/* By itself it may be no library call: the state of the library may be that of another thread in the middle of one. */
static void write_self(const char *path, const char *text, size_t length)
{
	long fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);

	if (fd < 0)
		return;
	(void)!syscall(SYS_write, fd, text, length);
	syscall(SYS_close, fd);
}

/* struct sigaction of the kernel; zeros are the default. */
static void signals_leave(void)
{
	const uint64_t action[4] = {0}, all = UINT64_MAX;

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof(all));
	for (int i = 1; i <= SIGNALS; i++)
		syscall(SYS_rt_sigaction, i, action, NULL, sizeof(uint64_t));
}

void process_copy_isolate(void)
{
	const struct rlimit none = {0};

	syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	signals_leave();
	write_self("/proc/self/oom_score_adj", "1000", 4);
	write_self("/proc/self/coredump_filter", "0", 1);
	syscall(SYS_prlimit64, 0, RLIMIT_CORE, &none, NULL);
	syscall(SYS_close_range, 0U, ~0U, 0U);
	syscall(SYS_setpriority, PRIO_PROCESS, 0, COPY_NICE);
}

void process_copy_rest(void)
{
	for (;;)
		syscall(SYS_pause);
}

void process_copy_end(pid_t copy)
{
	if (copy <= 0 || process_copy_ended(copy))
		return;
	kill(copy, SIGKILL);
	while (waitpid(copy, NULL, __WALL) < 0 && errno == EINTR)
		;
}

bool process_copy_ended(pid_t copy)
{
	return waitpid(copy, NULL, WNOHANG | __WALL) == copy;
}

bool process_copy_estimate(uint64_t page_ps, __u64 *ns, __u64 *bytes)
{
	FILE *f = fopen("/proc/self/smaps_rollup", "re");
	unsigned long kib, all = 0, huge = 0;
	char line[128];

	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "Anonymous: %lu kB", &kib) == 1)
			all = kib;
		else if (sscanf(line, "AnonHugePages: %lu kB", &kib) == 1)
			huge = kib;
	}
	fclose(f);
	if (huge > all)
		return false;
	*bytes = all * 1024;
	*ns = BASE_NS + (all - huge) / PAGE_KIB * (page_ps ?: PAGE_PS) / 1000 + huge / HUGE_PAGE_KIB * HUGE_PAGE_NS;
	return all > 0;
}
