// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Why a thread leaves the CPU. offcpu.bpf.h asks at each switch. */
#ifndef BRAID_WHY_BPF_H
#define BRAID_WHY_BPF_H

#include "thread_time.bpf.h"

/*
 * Threads mostly wait for the same file as before, and finding it takes as long as all else at a switch. So a class is
 * looked up again after a while; that of a reported interval is corrected when its object is named. A filter must know
 * it before that.
 */
#define FD_CLASS_NS 10000000ULL

static __always_inline __u32 offcpu_fd_class(struct braid_thread_time *t, struct task_struct *task, __u32 fd, __u64 now)
{
	if (t->fd != fd || offcpu_filters_files || now - t->fd_ns > FD_CLASS_NS) {
		t->fd = fd;
		t->fd_ns = now;
		t->fd_class = (__u32)call_file_class(task, fd);
	}
	return t->fd_class;
}

/*
 * The system call that the thread is in; BRAID_OFFCPU_SYSCALL: none, or none that is known. 32-bit code has numbers of
 * its own, and a thread that only works in the kernel has those of another one.
 */
static __always_inline __u32 offcpu_call(struct task_struct *task, struct pt_regs *entry)
{
	if (entry->orig_ax >= BRAID_OFFCPU_SYSCALL || entry->cs != CS_64 || task_stays_in_kernel(task))
		return BRAID_OFFCPU_SYSCALL;
	return (__u32)entry->orig_ax;
}

/* Why the thread leaves the CPU: flags of the event. */
static __always_inline __u32 offcpu_why(struct braid_thread_time *t, struct task_struct *task, struct pt_regs *entry,
					__u32 state, __u64 now)
{
	__u32 call = offcpu_call(task, entry);
	__u32 flags = call | (state & TASK_UNINTERRUPTIBLE ? BRAID_OFFCPU_UNINTERRUPTIBLE : 0);
	__u32 class = call_about(call);

	if (!state)
		class = BRAID_OFFCPU_RUNNABLE;
	else if (state & (TASK_STOPPED | TASK_TRACED))
		class = BRAID_OFFCPU_STOPPED;
	else if ((__s64)entry->orig_ax < 0 && task_has_user_stack(task))
		class = BRAID_OFFCPU_FAULT;
	else if (state & TASK_UNINTERRUPTIBLE && BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait))
		class = BRAID_OFFCPU_BLOCK;
	else if (call == BRAID_OFFCPU_SYSCALL)
		class = BRAID_OFFCPU_UNKNOWN;
	else if (class & ~CALL_CLASS & (CALL_FILE & ~CALL_FD))
		class = offcpu_fd_class(t, task, (__u32)entry->di, now);
	return flags | (class & CALL_CLASS) << BRAID_OFFCPU_CLASS_SHIFT;
}

static __always_inline __u64 offcpu_futex(struct pt_regs *entry, __u32 flags)
{
	__u32 call = flags & BRAID_OFFCPU_SYSCALL;

	return call == NR_FUTEX || call == NR_FUTEX_WAIT ? entry->di : 0;
}

#endif
