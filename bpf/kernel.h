// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The kernel types that the programs use, reduced to the fields that they use. CO-RE relocates the field offsets at
 * load time, so only names and types must be right. Sources: include/linux/sched.h, include/linux/pid.h,
 * include/linux/uprobes.h.
 */
#ifndef BRAID_BPF_KERNEL_H
#define BRAID_BPF_KERNEL_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/types.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct mm_struct {
	unsigned long start_code;
	unsigned long start_stack;
};

struct thread_struct {
	unsigned long fsbase;
};

struct upid {
	int nr;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct sched_entity {
	__u64 sum_exec_runtime;
};

enum uprobe_task_state {
	UTASK_RUNNING, /* no single step in progress */
};

struct uprobe_task {
	enum uprobe_task_state state;
	union {
		struct {
			unsigned long vaddr;
		};
	};
	unsigned long xol_vaddr;
};

struct task_struct {
	unsigned int flags;
	int pid;
	int tgid;
	struct mm_struct *mm;
	struct pid *thread_pid;
	unsigned in_execve : 1;
	struct sched_entity se;
	__u64 stime;
	struct uprobe_task *utask;
	struct thread_struct thread;
};

#pragma clang attribute pop

/* Makes libbpf's headers use the kernel's names of the fields of pt_regs, as below. */
#define __VMLINUX_H__

/* arch/x86/include/asm/ptrace.h; perf and ptrace expose this layout, so it cannot change. */
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
};

/* include/uapi/linux/bpf_perf_event.h */
struct bpf_perf_event_data {
	struct pt_regs regs;
	__u64 sample_period;
	__u64 addr;
};

/* include/linux/sched.h */
#define PF_KTHREAD 0x00200000
#define TASK_UNINTERRUPTIBLE 0x00000002
#define TASK_DEAD 0x00000080

/* arch/x86/entry/syscalls/syscall_64.tbl */
#define NR_READ 0
#define NR_WRITE 1
#define NR_CLOSE 3
#define NR_READV 19
#define NR_WRITEV 20
#define NR_NANOSLEEP 35
#define NR_SENDFILE 40
#define NR_SENDTO 44
#define NR_RECVFROM 45
#define NR_SENDMSG 46
#define NR_RECVMSG 47
#define NR_SHUTDOWN 48
#define NR_FUTEX 202
#define NR_CLOCK_NANOSLEEP 230
#define NR_SPLICE 275
#define NR_SENDMMSG 307
#define NR_FUTEX_WAKE 454
#define NR_FUTEX_WAIT 455

#endif
