// SPDX-License-Identifier: Apache-2.0
/* Why a thread was off-CPU: the Java operation that its frames show, else the system call. events.c uses it. */
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
	/* A thread woken from Object.wait enters the monitor again, which belongs to the wait. */
	if (domain == DOMAIN_NATIVE && why == BLOCKED_CALL && begins(name, "ObjectMonitor::") &&
	    (begins(name + 15, "enter") || begins(name + 15, "Enter")))
		return BLOCKED_MONITOR;
	return why;
}

/*
 * A thread that is off-CPU is idle when its stack has a function in which a pool's worker or a thread of the JVM waits
 * for work, or, where the JVM's functions have no names, when it is a thread of the JVM that waits for nothing else.
 * These are prefixes, because the kernel truncates thread names to 15 bytes.
 */
static const char *const idle_frames[] = {
	"java.util.concurrent.ThreadPoolExecutor.getTask",
	"java.util.concurrent.ForkJoinPool.awaitWork",
	"java.util.TimerThread.mainLoop",
	"java.lang.ref.Reference.waitForReferencePendingList",
	"java.lang.ref.Reference.tryHandlePending",
	"java.lang.ref.ReferenceQueue.remove",
	"AttachListener::dequeue",
	"CompileQueue::get(",
	"G1ConcurrentRefineThread::wait_for_completed_buffers",
	"G1ServiceThread::wait_for_task",
	"MonitorDeflationThread::monitor_deflation_thread_entry",
	"NotificationThread::notification_thread_entry",
	"ServiceThread::service_thread_entry",
	"VMThread::loop",
	"VMThread::wait_for_vm_operation",
	"WatcherThread::sleep",
	"signal_thread_entry(",
	"os::signal_wait(",
};
static const char *const idle_vm_threads[] = {
	"C1 CompilerThre", "C2 CompilerThre", "G1 Conc#",   "G1 Main Marker", "G1 Refine#",
	"G1 Service",	   "GC Thread#",      "Shenandoah", "Sweeper thread", "VM Periodic Ta",
	"VM Thread",	   "XDirector",	      "XDriver",    "XStat",	      "XWorker",
	"ZDirector",	   "ZDriver",	      "ZStat",	    "ZWorker",
};
/* JVM threads that are Java threads. Their whole names are compared, since an application may choose similar ones. */
static const char *const idle_java_threads[] = {
	"Attach Listener",   "Common-Cleaner", "Monitor Deflation Thread", "Notification Thread",
	"Reference Handler", "Service Thread", "Signal Dispatcher",	   "braid agent",
};

static bool begins_one(const char *name, const char *const *with, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (begins(name, with[i]))
			return true;
	return false;
}

bool blocked_idle_frame(const char *name)
{
	return begins_one(name, idle_frames, sizeof(idle_frames) / sizeof(idle_frames[0]));
}

bool blocked_idle_thread(const char *name, bool java)
{
	if (!java)
		return begins_one(name, idle_vm_threads, sizeof(idle_vm_threads) / sizeof(idle_vm_threads[0]));
	for (size_t i = 0; i < sizeof(idle_java_threads) / sizeof(idle_java_threads[0]); i++)
		if (strcmp(name, idle_java_threads[i]) == 0)
			return true;
	return false;
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

const char *blocked_reason(enum blocked_why why, uint32_t flags, uint32_t *id)
{
	static const char *const reasons[] = {[BLOCKED_PARKED] = "parked",
					      [BLOCKED_SLEEPING] = "sleeping",
					      [BLOCKED_WAITING] = "waiting for notify",
					      [BLOCKED_MONITOR] = "blocked on a monitor"};
	uint32_t number = flags & BRAID_OFFCPU_SYSCALL;

	*id = why == BLOCKED_CALL ? 0x100 : why;
	if (why != BLOCKED_CALL)
		return reasons[why];
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].number == (long)number) {
			*id += number;
			return calls[i].name;
		}
	if (number != BRAID_OFFCPU_SYSCALL)
		return "another system call";
	*id += number;
	return "not in a system call";
}
