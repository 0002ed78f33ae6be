// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* The program for wake-ups: since when a thread could run again, and who woke it, on which stack. */
#ifndef BRAID_WAKING_BPF_H
#define BRAID_WAKING_BPF_H

#include "offcpu.bpf.h"
#include "wakers.bpf.h"

/* From which length on an interval gets its waker. What is not reported needs it only for locks and waits. */
static __always_inline __u64 offcpu_waker_min(struct braid_thread_time *t, const struct braid_offcpu_limits *l,
					      __u64 now)
{
	if (stacks_at_start && t->started)
		return sums_expected(t, now) ? NEVER : t->waker_min_ns;
	if (!l)
		return NEVER;
	if (sums_expected(t, now) || (offcpu_filtered && !filter_may_select_alike(t)))
		return l->sums_waker_min_ns;
	return l->waker_min_ns;
}

/* Notes what wakes the thread: an interrupt, or the current thread, whose ids are at hand. */
static __always_inline void waker_name(struct braid_thread_time *t, struct task_struct *task)
{
	__u32 irq = waker_of(task, t);

	if (irq) {
		t->now.irq = irq == WAKER_UNKNOWN ? 0 : irq;
		return;
	}
	t->now.waker_pid = task->tgid;
	t->now.waker_tid = task->pid;
}

/* Takes the stack of the current thread, whose process is `p`. `entries`: its reuse_key(). */
static __always_inline __u64 waker_stack(const struct braid_process *p, struct task_struct *task, struct pt_regs *entry,
					 __u32 entries, __u64 now)
{
	struct braid_stack_ref ref = {0};
	__u32 key = stack_reuse(p, task, entry, entries, &ref);

	if (key == STACK_REUSED)
		reuse_note_same(entries, task, entry, now);
	else
		offcpu_stack_walk(p, task, key, &ref);
	return ref.stack;
}

/* Notes the current thread, which wakes the other one, and its stack, which it had a moment ago or is taken. */
static __always_inline void waker_note(struct braid_thread_time *t, struct task_struct *task, __u64 now)
{
	struct pt_regs *entry = (struct pt_regs *)bpf_task_pt_regs(task);
	__u32 tgid = task->tgid, entries = thread_reuse_key(task, entry, REUSE_WAKER);
	const struct stack_reuse *r = reuse_recent(entries, task, entry, now - REUSE_EVENT_NS);
	const struct braid_process *p;
	struct braid_wake *w;
	__u64 stack = 0;

	if (r && stack_is_sent(r->ref.stack)) {
		stack = r->ref.stack;
	} else {
		p = bpf_map_lookup_elem(&processes, &tgid);
		if (!p && !irqs_noted) {
			t->now.waker_pid = t->now.waker_tid = 0;
			return;
		}
		if (p && task_has_user_stack(task))
			stack = waker_stack(p, task, entry, entries, now);
	}
	w = &t->wakes[t->wake_count % BRAID_WAKES];
	w->start_ns = t->now.start_ns;
	w->time_ns = now;
	w->stack = stack;
	w->pid = tgid;
	w->tid = task->pid;
	t->wake_count++;
}

/*
 * The kernel notes when the thread is queued, if it is in no queue yet. Since Linux 6.12 one that goes to sleep can
 * stay in a queue, be moved to another CPU's, and keep that time.
 */
static __always_inline bool wake_is_queued(const struct braid_thread_time *t, struct task_struct *wakee)
{
	return offcpu_asks_queue(t) && !wakee->sched_info.last_queued;
}

static __always_inline bool waits_for_epoll(const struct braid_interval *i)
{
	return BRAID_OFFCPU_CLASS(i->flags) == BRAID_OFFCPU_POLL && call_is_epoll(i->flags & BRAID_OFFCPU_SYSCALL);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *wakee)
{
	struct braid_thread_time *t = thread_time_of(wakee->pid);
	const struct braid_offcpu_settings *settings;
	const struct braid_offcpu_limits *l;
	struct task_struct *task;
	__u64 now;

	if (!t)
		return 0;
	/* The wakee is asleep and its pi_lock is held, so nothing else writes the entry once its interval has begun. */
	if (wake_is_queued(t, wakee)) {
		if (t->now.start_ns)
			t->early_ns = 0; /* that one has not ended this interval */
		return 0;
	}
	settings = settings_get();
	if (!settings)
		return 0;
	now = bpf_ktime_get_ns();
	if (!t->now.start_ns)
		t->early_ns = now;
	if (!t->now.start_ns || t->now.ready_ns)
		return 0;
	t->now.ready_ns = now;
	task = bpf_get_current_task_btf();
	/* A wait for a CPU can follow, so it may be reported however short this is. */
	if (irqs_noted)
		waker_name(t, task);
	if (now - t->now.start_ns < settings->least_ns)
		return 0;
	l = stacks_at_start && t->started ? NULL : limits_of_pid(t->pid);
	if (now - t->now.start_ns < offcpu_waker_min(t, l, now))
		return 0;
	if (waits_for_epoll(&t->now))
		t->now.polled = call_ready(wakee);
	if (!irqs_noted)
		waker_name(t, task);
	if (t->now.waker_tid)
		waker_note(t, task, now);
	return 0;
}

#endif
