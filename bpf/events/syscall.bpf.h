// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The programs of the kernel event `syscall`: when a system call ends that took long enough, they emit it with its
 * arguments, its result, the file or socket that it was about, and the thread's stack.
 */
#ifndef BRAID_SYSCALL_BPF_H
#define BRAID_SYSCALL_BPF_H

#include "kernel_event.bpf.h"

#define CALL_BYTES 1  /* its result is a number of bytes */
#define CALL_FILES 2  /* it reads, writes or syncs what its first argument is open for */
#define CALL_OPENS 4  /* its result is a file descriptor */
#define CALL_PATH 8   /* its first argument is a path */
#define CALL_PATH2 16 /* its second one is */

/* Not constant: clang would move it to a section without BTF. */
const volatile __u8 call_results[NR_KNOWN] = {
	[NR_READ] = CALL_BYTES | CALL_FILES,
	[NR_WRITE] = CALL_BYTES | CALL_FILES,
	[NR_PREAD64] = CALL_BYTES | CALL_FILES,
	[NR_PWRITE64] = CALL_BYTES | CALL_FILES,
	[NR_READV] = CALL_BYTES | CALL_FILES,
	[NR_WRITEV] = CALL_BYTES | CALL_FILES,
	[NR_PREADV] = CALL_BYTES | CALL_FILES,
	[NR_PWRITEV] = CALL_BYTES | CALL_FILES,
	[NR_PREADV2] = CALL_BYTES | CALL_FILES,
	[NR_PWRITEV2] = CALL_BYTES | CALL_FILES,
	[NR_FSYNC] = CALL_FILES,
	[NR_FDATASYNC] = CALL_FILES,
	[NR_SYNC_FILE_RANGE] = CALL_FILES,
	[NR_SYNCFS] = CALL_FILES,
	[NR_SENDFILE] = CALL_BYTES | CALL_FILES,
	[NR_COPY_FILE_RANGE] = CALL_BYTES | CALL_FILES,
	[NR_SPLICE] = CALL_BYTES,
	[NR_SENDTO] = CALL_BYTES,
	[NR_RECVFROM] = CALL_BYTES,
	[NR_SENDMSG] = CALL_BYTES,
	[NR_RECVMSG] = CALL_BYTES,
	[NR_GETDENTS] = CALL_BYTES,
	[NR_GETDENTS64] = CALL_BYTES,
	[NR_OPEN] = CALL_OPENS | CALL_PATH,
	[NR_CREAT] = CALL_OPENS | CALL_PATH,
	[NR_OPENAT] = CALL_OPENS | CALL_PATH2,
	[NR_OPENAT2] = CALL_OPENS | CALL_PATH2,
	[NR_STAT] = CALL_PATH,
	[NR_LSTAT] = CALL_PATH,
	[NR_ACCESS] = CALL_PATH,
	[NR_EXECVE] = CALL_PATH,
	[NR_TRUNCATE] = CALL_PATH,
	[NR_CHDIR] = CALL_PATH,
	[NR_RENAME] = CALL_PATH,
	[NR_MKDIR] = CALL_PATH,
	[NR_RMDIR] = CALL_PATH,
	[NR_LINK] = CALL_PATH,
	[NR_UNLINK] = CALL_PATH,
	[NR_SYMLINK] = CALL_PATH,
	[NR_READLINK] = CALL_PATH,
	[NR_CHMOD] = CALL_PATH,
	[NR_CHOWN] = CALL_PATH,
	[NR_STATFS] = CALL_PATH,
	[NR_MKDIRAT] = CALL_PATH2,
	[NR_FCHOWNAT] = CALL_PATH2,
	[NR_NEWFSTATAT] = CALL_PATH2,
	[NR_UNLINKAT] = CALL_PATH2,
	[NR_RENAMEAT] = CALL_PATH2,
	[NR_LINKAT] = CALL_PATH2,
	[NR_READLINKAT] = CALL_PATH2,
	[NR_FCHMODAT] = CALL_PATH2,
	[NR_FACCESSAT] = CALL_PATH2,
	[NR_RENAMEAT2] = CALL_PATH2,
	[NR_EXECVEAT] = CALL_PATH2,
	[NR_STATX] = CALL_PATH2,
	[NR_FACCESSAT2] = CALL_PATH2,
};

static __always_inline __u32 call_result(__u32 call)
{
	if (call >= NR_KNOWN)
		return 0;
	barrier_var(call); /* the mask is for the verifier */
	return call_results[call & (NR_KNOWN - 1)];
}

/* Whether the descriptor is of a regular file or a block device. */
static __always_inline bool call_on_file(struct task_struct *task, __u64 fd)
{
	struct file *file = file_of(task, fd);
	__u32 type = file ? BPF_CORE_READ(file, f_inode, i_mode) & FILE_TYPE : 0;

	return type == FILE_REGULAR || type == FILE_BLOCK;
}

/* Whether a call that ends, of a recorded process, is to be reported. */
static __noinline bool call_selected(__u32 call, __u64 result, __u64 ns)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *entry = (struct pt_regs *)bpf_task_pt_regs(task);
	struct hit h = {.argument = {entry->di, entry->si, entry->dx, entry->r10, entry->r8, entry->r9, call, result}};

	if (!hit_find(&h, kernel_events[BRAID_KERNEL_SYSCALL] - 1) || ns < h.event->min_ns)
		return false;
	if (h.event->flags & BRAID_HIT_FILES && (!(call_result(call) & CALL_FILES) || !call_on_file(task, entry->di)))
		return false;
	return hit_selected(&h);
}

/* Names what the call was about: an open file, or the path that the program gave. */
static __always_inline void call_object(struct object *o, __u32 call, __s64 result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *entry = (struct pt_regs *)bpf_task_pt_regs(task);
	__u32 about = call_result(call);

	if (about & CALL_OPENS && result >= 0)
		object_of_file(o, file_of(task, result));
	else if (call_about(call) & CALL_FD || about & CALL_FILES)
		object_of_file(o, file_of(task, entry->di));
	else if (about & (CALL_PATH | CALL_PATH2) &&
		 bpf_probe_read_user_str(o->text, BRAID_TEXT_MAX,
					 (const void *)(about & CALL_PATH ? entry->di : entry->si)) > 0)
		o->kind = BRAID_OBJECT_NAME;
}

static __noinline int call_emit(const struct kernel_start *start, __s64 result, __u64 now,
				const struct braid_stack_ref *ref)
{
	struct pt_regs *entry = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	__u32 tgid = bpf_get_current_pid_tgid() >> 32, call = start->call;
	struct braid_event_kernel *e;
	struct object object = {0};

	call_object(&object, call, result);
	e = kernel_event_begin(tgid, BRAID_KERNEL_SYSCALL, ref);
	if (!e)
		return 0;
	kernel_event_object(e, &object);
	e->jvm.event.start_ns = start->call_ns;
	e->jvm.event.end_ns = now;
	if (call_result(call) & CALL_BYTES && result > 0)
		e->jvm.event.value = (__u64)result;
	if (result < 0 && result >= -4095)
		e->jvm.event.flags = (__u32)-result;
	e->value[0] = entry->di;
	e->value[1] = entry->si;
	e->value[2] = entry->dx;
	e->value[3] = entry->r10;
	e->value[4] = entry->r8;
	e->value[5] = entry->r9;
	e->value[BRAID_SYSCALL_CALL] = call;
	e->value[BRAID_SYSCALL_RESULT] = (__u64)result;
	bpf_ringbuf_submit(e, events_wake());
	return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_call, struct pt_regs *regs, long id)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct kernel_start *start;

	if (!kernel_event_wanted(BRAID_KERNEL_SYSCALL) || regs->cs != CS_64)
		return 0;
	start = kernel_start_of(task, true);
	if (!start)
		return jvm_event_lost(task->tgid, BRAID_JVM_SYSCALL);
	start->call = (__u32)id;
	start->call_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_call_end, struct pt_regs *regs, long result)
{
	struct kernel_start *start = kernel_start_of(bpf_get_current_task_btf(), false);
	struct braid_stack_ref ref = {0};
	__u64 now;

	if (!start || !start->call_ns)
		return 0;
	now = bpf_ktime_get_ns();
	if (call_selected(start->call, (__u64)result, now - start->call_ns) &&
	    kernel_event_due(BRAID_KERNEL_SYSCALL, now)) {
		kernel_event_stack(NULL, 0, BRAID_KERNEL_SYSCALL, &ref);
		call_emit(start, result, now, &ref);
	}
	start->call_ns = 0;
	return 0;
}

#endif
