// SPDX-License-Identifier: Apache-2.0
/* Why a thread was off-CPU: the Java operation that its frames show, else the system call. events.c uses it. */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "blocked.h"

static bool begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

/* A virtual thread unmounts in frames of its own, which say less than what called them. */
static bool virtual_frame(const char *name)
{
	return begins(name, "java.lang.VirtualThread.") || begins(name, "jdk.internal.vm.Continuation.");
}

static enum blocked_why java_frame(enum blocked_why why, const char *name)
{
	if (begins(name, "java.lang.VirtualThread.park") && why == BLOCKED_CALL)
		return BLOCKED_PARKED;
	if (virtual_frame(name))
		return why;
	if (strcmp(name, "jdk.internal.misc.Unsafe.park") == 0 || strcmp(name, "sun.misc.Unsafe.park") == 0)
		return why == BLOCKED_SLEEPING ? why : BLOCKED_PARKED; /* a pinned virtual thread sleeps in park */
	/* Flight Recorder takes the stack of a sleep in the latter. */
	if (begins(name, "java.lang.Thread.sleep") || strcmp(name, "java.lang.Thread.afterSleep") == 0)
		return BLOCKED_SLEEPING;
	if (begins(name, "java.lang.Object.wait"))
		return BLOCKED_WAITING;
	return BLOCKED_CALL;
}

enum blocked_why blocked_frame(enum blocked_why why, const char *name, enum stack_domain domain)
{
	if (domain == DOMAIN_JAVA)
		return java_frame(why, name);
	/* A thread woken from Object.wait enters the monitor again, which belongs to the wait. */
	if (domain == DOMAIN_NATIVE && why == BLOCKED_CALL && begins(name, "ObjectMonitor::") &&
	    (begins(name + 15, "enter") || begins(name + 15, "Enter")))
		return BLOCKED_MONITOR;
	return why;
}

/* System calls that wait, by their numbers on x86-64. */
static const struct {
	long number;
	const char *name;
} calls[] = {
#define CALL(name)                                                                                                     \
	{                                                                                                              \
		SYS_##name, #name                                                                                      \
	}
	CALL(read),
	CALL(write),
	CALL(open),
	CALL(close),
	CALL(poll),
	CALL(pread64),
	CALL(pwrite64),
	CALL(readv),
	CALL(writev),
	CALL(select),
	CALL(mmap),
	CALL(mprotect),
	CALL(munmap),
	CALL(madvise),
	CALL(msync),
	CALL(nanosleep),
	CALL(sendfile),
	CALL(connect),
	CALL(accept),
	CALL(sendto),
	CALL(recvfrom),
	CALL(sendmsg),
	CALL(recvmsg),
	CALL(wait4),
	CALL(fcntl),
	CALL(flock),
	CALL(fsync),
	CALL(fdatasync),
	CALL(truncate),
	CALL(ftruncate),
	CALL(getdents64),
	CALL(rename),
	CALL(unlink),
	CALL(stat),
	CALL(rt_sigsuspend),
	CALL(futex),
	CALL(clock_nanosleep),
	CALL(exit),
	CALL(exit_group),
	CALL(epoll_wait),
	CALL(waitid),
	CALL(openat),
	CALL(newfstatat),
	CALL(pselect6),
	CALL(ppoll),
	CALL(splice),
	CALL(epoll_pwait),
	CALL(accept4),
	CALL(preadv),
	CALL(pwritev),
	CALL(recvmmsg),
	CALL(sendmmsg),
	CALL(membarrier),
	CALL(io_uring_enter),
	CALL(rt_sigtimedwait),
	CALL(fallocate),
	CALL(sync_file_range),
	CALL(execve),
	CALL(clone),
	CALL(sched_yield),
	CALL(copy_file_range),
	CALL(statx),
	CALL(ioctl),
	CALL(pause),
	CALL(lseek),
#undef CALL
};

static const char *const classes[BRAID_OFFCPU_CLASSES] = {
	[BRAID_OFFCPU_UNKNOWN] = "unknown", [BRAID_OFFCPU_RUNNABLE] = "runnable",   [BRAID_OFFCPU_FUTEX] = "futex",
	[BRAID_OFFCPU_SLEEP] = "sleep",	    [BRAID_OFFCPU_POLL] = "poll",	    [BRAID_OFFCPU_SOCKET] = "socket",
	[BRAID_OFFCPU_PIPE] = "pipe",	    [BRAID_OFFCPU_FILE] = "file",	    [BRAID_OFFCPU_BLOCK] = "block",
	[BRAID_OFFCPU_FAULT] = "fault",	    [BRAID_OFFCPU_STOPPED] = "stopped",	    [BRAID_OFFCPU_CHILD] = "child",
	[BRAID_OFFCPU_CALL] = "call",	    [BRAID_OFFCPU_UNMOUNTED] = "unmounted", [BRAID_OFFCPU_CARRIER] = "carrier",
};

const char *blocked_class_name(unsigned class)
{
	return class < BRAID_OFFCPU_CLASSES ? classes[class] : "unknown";
}

enum blocked_why blocked_why_of(enum blocked_why why, uint32_t flags)
{
	switch (BRAID_OFFCPU_CLASS(flags)) {
	case BRAID_OFFCPU_UNKNOWN:
	case BRAID_OFFCPU_FUTEX:
	case BRAID_OFFCPU_SLEEP:
	case BRAID_OFFCPU_UNMOUNTED:
		return why;
	default: /* such as a page fault on the way to the wait */
		return BLOCKED_CALL;
	}
}

/* Off the CPU for a reason that is no system call's. */
static const char *without_call(uint32_t flags)
{
	switch (BRAID_OFFCPU_CLASS(flags)) {
	case BRAID_OFFCPU_RUNNABLE:
		return "waited for a CPU";
	case BRAID_OFFCPU_FAULT:
		return "page fault";
	case BRAID_OFFCPU_STOPPED:
		return "stopped";
	case BRAID_OFFCPU_UNMOUNTED:
		return "unmounted";
	case BRAID_OFFCPU_CARRIER:
		return "waited for a carrier";
	default:
		return NULL;
	}
}

const char *blocked_reason(enum blocked_why why, uint32_t flags, uint32_t *id)
{
	static const char *const reasons[] = {[BLOCKED_PARKED] = "parked",
					      [BLOCKED_SLEEPING] = "sleeping",
					      [BLOCKED_WAITING] = "waiting for notify",
					      [BLOCKED_MONITOR] = "blocked on a monitor"};
	uint32_t number = flags & BRAID_OFFCPU_SYSCALL;
	const char *reason = without_call(flags);

	*id = why != BLOCKED_CALL ? why : reason ? 0x20000 + BRAID_OFFCPU_CLASS(flags) : 0x100 + number;
	if (why != BLOCKED_CALL)
		return reasons[why];
	if (reason)
		return reason;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].number == (long)number)
			return calls[i].name;
	if (number != BRAID_OFFCPU_SYSCALL) {
		*id = 0x30000;
		return "another system call";
	}
	return "not in a system call";
}
