// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The kernel types that the programs use, reduced to the fields that they use. CO-RE relocates the field offsets at
 * load time, so only names and types must be right. Sources: include/linux/sched.h, include/linux/pid.h,
 * include/linux/uprobes.h, include/linux/fs.h, include/linux/blk-mq.h, include/linux/fdtable.h, include/net/sock.h,
 * include/net/af_unix.h, include/linux/cgroup-defs.h, include/linux/kernfs.h.
 */
#ifndef BRAID_BPF_KERNEL_H
#define BRAID_BPF_KERNEL_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/types.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct seqcount {
	unsigned int sequence;
};

struct xol_area { /* [uprobes] */
	unsigned long vaddr;
};

struct uprobes_state {
	struct xol_area *xol_area;
};

struct mm_struct {
	unsigned long start_code;
	unsigned long start_stack;
	unsigned long start_brk;
	unsigned long brk;
	struct seqcount mm_lock_seq; /* since Linux 6.13 */
	struct uprobes_state uprobes_state;
};

struct mm_struct___number { /* Linux 6.4 to 6.12 */
	int mm_lock_seq;
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

struct rq {
	__u64 clock;
};

struct cfs_rq {
	struct rq *rq;
};

struct sched_entity {
	__u64 sum_exec_runtime;
	struct cfs_rq *cfs_rq; /* on the CPU of the thread, of any scheduling class */
};

struct sched_info {
	unsigned long long run_delay;
	unsigned long long last_queued; /* 0: it is not in a run queue, or runs */
};

enum uprobe_task_state {
	UTASK_RUNNING, /* no single step in progress */
};

struct return_instance {
	unsigned long stack; /* where the return address belongs */
	unsigned long orig_ret_vaddr;
	struct return_instance *next; /* of an outer function */
};

struct uprobe_task {
	enum uprobe_task_state state;
	struct return_instance *return_instances;
	union {
		struct {
			unsigned long vaddr;
		};
	};
	unsigned long xol_vaddr;
};

struct inode {
	unsigned short i_mode;
	unsigned long i_ino;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
};

struct path {
	struct dentry *dentry;
};

struct file {
	void *private_data;
	struct inode *f_inode;
	struct path f_path;
};

struct gendisk {
	char disk_name[32];
};

struct request_queue {
	struct gendisk *disk;
};

struct request {
	struct request_queue *q;
	unsigned int cmd_flags;
	unsigned int __data_len;
	__u64 __sector;
};

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	struct mm_struct *vm_mm;
	struct file *vm_file;
};

struct list_head {
	struct list_head *next, *prev;
};

struct eventpoll {
	struct list_head rdllist; /* items that are ready, and have not been handed out */
};

struct epoll_filefd {
	struct file *file;
	int fd;
};

struct epitem {
	struct list_head rdllink;
	struct epoll_filefd ffd;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct in6_addr {
	__u8 bytes[16];
};

struct sock_common {
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	unsigned char skc_state;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
	__u16 sk_protocol;
	int sk_err;
};

struct socket {
	struct sock *sk;
};

struct sockaddr_un {
	char sun_path[108];
};

struct unix_address {
	int len;
	struct sockaddr_un name[0];
};

struct unix_sock {
	struct unix_address *addr;
	struct sock *peer;
};

struct kernfs_node {
	__u64 id;
};

struct cgroup {
	int level;
	struct kernfs_node *kn;
	struct cgroup *ancestors[]; /* since Linux 6.1 */
};

struct css_set {
	struct cgroup *dfl_cgrp; /* of cgroup v2 */
};

struct task_struct {
	unsigned int flags;
	unsigned int __state;
	unsigned int on_cpu; /* a byte since Linux 7: loads of unsigned fields are given the field's size */
	struct files_struct *files;
	struct css_set *cgroups;
	char comm[16];
	int pid;
	int tgid;
	struct mm_struct *mm;
	struct pid *thread_pid;
	unsigned in_execve : 1;
	unsigned in_iowait : 1;
	struct sched_entity se;
	struct sched_info sched_info;
	__u64 stime;
	__u64 start_time;
	__u64 self_exec_id;
	struct uprobe_task *utask;
	struct thread_struct thread;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
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
#define PF_EXITING 0x00000004
#define PF_IO_WORKER 0x00000010
#define PF_USER_WORKER 0x00004000 /* since Linux 6.4 */
#define PF_KTHREAD 0x00200000
#define TASK_UNINTERRUPTIBLE 0x00000002
#define TASK_STOPPED 0x00000004
#define TASK_TRACED 0x00000008

/* include/uapi/linux/stat.h, include/linux/socket.h, include/net/tcp_states.h */
#define FILE_TYPE 0170000
#define FILE_SOCKET 0140000
#define FILE_REGULAR 0100000
#define FILE_BLOCK 0060000
#define FILE_FIFO 0010000
#define FAMILY_UNIX 1
#define FAMILY_INET 2
#define FAMILY_INET6 10
#define SOCKET_CONNECTED 1
#define SOCKET_CONNECTS 2
#define SOCKET_ANSWERS 3
#define SOCKET_CLOSED 7
#define SOCKET_LISTENS 10
#define PROTOCOL_TCP 6

/* arch/x86/include/asm/segment.h: of 64-bit code */
#define CS_64 0x33

/* arch/x86/entry/syscalls/syscall_64.tbl */
#define NR_READ 0
#define NR_WRITE 1
#define NR_OPEN 2
#define NR_CLOSE 3
#define NR_STAT 4
#define NR_LSTAT 6
#define NR_POLL 7
#define NR_IOCTL 16
#define NR_PREAD64 17
#define NR_PWRITE64 18
#define NR_READV 19
#define NR_WRITEV 20
#define NR_ACCESS 21
#define NR_SELECT 23
#define NR_NANOSLEEP 35
#define NR_SENDFILE 40
#define NR_CONNECT 42
#define NR_ACCEPT 43
#define NR_SENDTO 44
#define NR_RECVFROM 45
#define NR_SENDMSG 46
#define NR_RECVMSG 47
#define NR_SHUTDOWN 48
#define NR_EXECVE 59
#define NR_WAIT4 61
#define NR_FCNTL 72
#define NR_FLOCK 73
#define NR_FSYNC 74
#define NR_FDATASYNC 75
#define NR_TRUNCATE 76
#define NR_FTRUNCATE 77
#define NR_GETDENTS 78
#define NR_CHDIR 80
#define NR_RENAME 82
#define NR_MKDIR 83
#define NR_RMDIR 84
#define NR_CREAT 85
#define NR_LINK 86
#define NR_UNLINK 87
#define NR_SYMLINK 88
#define NR_READLINK 89
#define NR_CHMOD 90
#define NR_CHOWN 92
#define NR_STATFS 137
#define NR_FUTEX 202
#define NR_GETDENTS64 217
#define NR_CLOCK_NANOSLEEP 230
#define NR_EPOLL_WAIT 232
#define NR_WAITID 247
#define NR_OPENAT 257
#define NR_MKDIRAT 258
#define NR_FCHOWNAT 260
#define NR_NEWFSTATAT 262
#define NR_UNLINKAT 263
#define NR_RENAMEAT 264
#define NR_LINKAT 265
#define NR_READLINKAT 267
#define NR_FCHMODAT 268
#define NR_FACCESSAT 269
#define NR_PSELECT6 270
#define NR_PPOLL 271
#define NR_SPLICE 275
#define NR_SYNC_FILE_RANGE 277
#define NR_EPOLL_PWAIT 281
#define NR_FALLOCATE 285
#define NR_ACCEPT4 288
#define NR_PREADV 295
#define NR_PWRITEV 296
#define NR_RECVMMSG 299
#define NR_SYNCFS 306
#define NR_SENDMMSG 307
#define NR_RENAMEAT2 316
#define NR_EXECVEAT 322
#define NR_COPY_FILE_RANGE 326
#define NR_PREADV2 327
#define NR_PWRITEV2 328
#define NR_STATX 332
#define NR_OPENAT2 437
#define NR_FACCESSAT2 439
#define NR_EPOLL_PWAIT2 441
#define NR_FUTEX_WAITV 449
#define NR_FUTEX_WAKE 454
#define NR_FUTEX_WAIT 455
#define NR_KNOWN 512 /* more than the largest */

#endif
