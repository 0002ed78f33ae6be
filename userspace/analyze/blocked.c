// SPDX-License-Identifier: Apache-2.0
/* Why a thread was off the CPU: what Java asked for, as its frames tell, else the system call. */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "events.h"

static bool begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

static enum blocked_why java_frame(const char *name)
{
	if (strcmp(name, "jdk.internal.misc.Unsafe.park") == 0 || strcmp(name, "sun.misc.Unsafe.park") == 0)
		return BLOCKED_PARKED;
	if (begins(name, "java.lang.Thread.sleep"))
		return BLOCKED_SLEEPING;
	if (begins(name, "java.lang.Object.wait"))
		return BLOCKED_WAITING;
	return BLOCKED_CALL;
}

enum blocked_why blocked_frame(enum blocked_why why, const char *name, enum stack_domain domain)
{
	if (domain == DOMAIN_JAVA)
		return java_frame(name);
	/* A thread that Object.wait woke enters the monitor again, which belongs to the wait. */
	if (domain == DOMAIN_NATIVE && why == BLOCKED_CALL && begins(name, "ObjectMonitor::") &&
	    (begins(name + 15, "enter") || begins(name + 15, "Enter")))
		return BLOCKED_MONITOR;
	return why;
}

/* System calls that wait, of x86-64. */
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

const char *blocked_reason(enum blocked_why why, uint32_t flags, uint32_t *id)
{
	static const char *const reasons[] = {[BLOCKED_PARKED] = "parked",
					      [BLOCKED_SLEEPING] = "sleeping",
					      [BLOCKED_WAITING] = "waiting for notify",
					      [BLOCKED_MONITOR] = "blocked on a monitor"};
	uint32_t number = flags & BRAID_BLOCKED_SYSCALL;

	*id = why == BLOCKED_CALL ? 0x100 : why;
	if (why != BLOCKED_CALL)
		return reasons[why];
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].number == (long)number) {
			*id += number;
			return calls[i].name;
		}
	if (number != BRAID_BLOCKED_SYSCALL)
		return "another system call";
	*id += number;
	return "not in a system call";
}
