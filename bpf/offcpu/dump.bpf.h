// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* For a thread dump: every thread of the recorded processes, with what the collector needs to walk its stack. */
#ifndef BRAID_DUMP_BPF_H
#define BRAID_DUMP_BPF_H

#include "thread_life.bpf.h"

struct dump_scratch {
	struct braid_dump_thread thread;
	struct braid_thread_time time; /* for offcpu_why() */
};

/* The collector reads one dump at a time. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dump_scratch);
} dump_scratches SEC(".maps");

static __always_inline void dump_off_cpu(struct dump_scratch *s, struct task_struct *task)
{
	struct pt_regs *entry = (struct pt_regs *)bpf_task_pt_regs(task);
	struct braid_dump_thread *d = &s->thread;
	__u64 now = bpf_ktime_get_ns();
	long bytes;

	s->time.fd_ns = 0; /* nothing is remembered of the thread before */
	d->asleep.flags = offcpu_why(&s->time, task, entry, task->__state, now);
	d->futex = offcpu_futex(entry, d->asleep.flags);
	bytes = bpf_get_task_stack(task, d->kernel, sizeof(d->kernel), 0);
	d->kernel_count = bytes > 0 ? (__u32)bytes / 8 : 0;
}

SEC("iter/task")
int on_thread_dump(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct dump_scratch *s;
	__u32 tgid, zero = 0;

	if (!task || (task->flags & (PF_KTHREAD | PF_EXITING)))
		return 0;
	tgid = task->tgid;
	s = bpf_map_lookup_elem(&processes, &tgid) ? bpf_map_lookup_elem(&dump_scratches, &zero) : NULL;
	if (!s)
		return 0;
	__builtin_memset(&s->thread, 0, sizeof(s->thread));
	asleep_note(&s->thread.asleep, task);
	if (task_runs(task))
		s->thread.asleep.flags = BRAID_OFFCPU_SYSCALL | BRAID_DUMP_RUNS;
	else
		dump_off_cpu(s, task);
	bpf_seq_write(ctx->meta->seq, &s->thread, sizeof(s->thread));
	return 0;
}

#endif
