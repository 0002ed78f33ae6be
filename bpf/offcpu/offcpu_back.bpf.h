// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Programs for threads that come back to the CPU, in their own context: what a thread was parked for is read, its stack
 * is walked, and its last time off the CPU is emitted or added up.
 */
#ifndef BRAID_OFFCPU_BACK_BPF_H
#define BRAID_OFFCPU_BACK_BPF_H

#include "offcpu.bpf.h"
#include "parked.bpf.h"

/*
 * Reads what the current thread was parked for; unless `any`, only what can be a lock. It returns the slot before any
 * walk, whose stack would not suffice.
 */
static __always_inline bool offcpu_parked(__u32 pid, struct parked *parked, bool any)
{
	struct braid_process *p = bpf_map_lookup_elem(&processes, &pid);
	struct sample *s = p && p->jvm ? stack_begin(p) : NULL;
	bool found;

	if (!s)
		return false;
	found = parked_read(s->w.slot, p->jvm - 1, parked, false) && (any || parked_in_lock(parked));
	slot_release(s);
	return found;
}

/*
 * Whether the thread of the pending interval was parked for something, or for a lock; notes that somebody has looked.
 */
static __noinline bool offcpu_is_parked(struct braid_thread_time *t, bool any)
{
	struct parked parked = {0};
	bool found = offcpu_parked(t->pid, &parked, any);

	if (found || parked.sleep & BRAID_SLEEP_NO_BLOCKER)
		t->pending.flags |= BRAID_OFFCPU_LOOKED;
	return found;
}

/* Emits the pending interval of a thread that was parked for something. */
static __always_inline void offcpu_emit_parked(struct braid_thread_time *t, struct braid_stack_ref *ref,
					       const struct parked *parked, enum offcpu_fate fate)
{
	struct braid_event_jvm_event *e =
		offcpu_begin(t, (__u32)bpf_get_current_pid_tgid(), &t->pending, ref, bpf_ktime_get_ns());
	bool counts = fate == OFFCPU_COUNTED;

	if (e) {
		e->sleep = parked->sleep | (fate == OFFCPU_EMITTED ? BRAID_SLEEP_LONG : 0);
		if (!e->other_pid)
			e->event.other_tid = parked->owner;
		__builtin_memcpy(e->text, parked->class, sizeof(e->text));
		bpf_ringbuf_submit(e, events_wake());
	} else if (fate == OFFCPU_EMITTED) {
		counts = true;
	}
	if (fate == OFFCPU_ADDED)
		sum_add(t, &t->pending, ref);
	else if (counts)
		interval_count(t, &t->pending);
	pending_clear(t);
}

/* Reads it again after the walk: the thread is still parked, but a collector may be running now. */
static __noinline void offcpu_emit_park(struct braid_thread_time *t, struct braid_stack_ref *ref, enum offcpu_fate fate)
{
	struct parked parked = {0};
	bool found = offcpu_parked(t->pid, &parked, fate == OFFCPU_EMITTED);

	if (!found)
		t->pending.flags &= ~BRAID_OFFCPU_LOOKED;
	if (found)
		offcpu_emit_parked(t, ref, &parked, fate);
	else if (fate == OFFCPU_ADDED)
		offcpu_sum_pending(t, ref);
	else if (fate == OFFCPU_EMITTED)
		offcpu_emit_pending(t, ref);
	else
		offcpu_count_pending(t);
}

/*
 * Adds up the pending interval, which was too short for an event, with the stack that its thread had there a moment
 * ago. False: the stack is to be taken, or what it waited for may matter. Most intervals of a thread that switches
 * often are added here.
 */
static __always_inline bool offcpu_short_again(struct braid_thread_time *t, struct task_struct *task)
{
	struct pt_regs *entry = (struct pt_regs *)bpf_task_pt_regs(task);
	const struct braid_interval *i = &t->pending;
	const struct stack_reuse *r;

	if (!(i->flags & BRAID_OFFCPU_SHORT) ||
	    ((i->flags & BRAID_OFFCPU_SYSCALL) == NR_FUTEX && interval_ns(i) >= BRAID_OWNER_MIN_NS))
		return false;
	r = reuse_recent(thread_reuse_key(task, entry, REUSE_SLEEPER), task, entry, i->end_ns - REUSE_SUM_NS);
	if (!r)
		return false;
	t->start = r->ref;
	offcpu_sum_pending(t, &t->start);
	return true;
}

/* Whether the pending interval needs its stack. One that is too short for an event is no loss without it. */
static __always_inline bool offcpu_back_walks(const struct braid_thread_time *t, const struct braid_offcpu_limits *l,
					      enum offcpu_fate fate)
{
	if (t->pending.flags & BRAID_OFFCPU_SHORT)
		return l && l->all && events_room(t->pid);
	return fate != OFFCPU_COUNTED;
}

/*
 * Emits what is pending of the current thread, or adds it up, with the stack that it has. The program's own stack has
 * no room for a reference.
 */
static __always_inline void offcpu_come_back(void *ctx, struct braid_thread_time *t)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct braid_offcpu_limits *l;
	struct braid_stack_ref *ref = &t->start;
	enum offcpu_fate fate;
	bool room, park, walks;
	__u32 pid = t->pid;

	steady_forget(t);
	if (offcpu_short_again(t, task))
		return;
	t->start = (struct braid_stack_ref){0};
	l = limits_of_pid(pid);
	fate = offcpu_fate(t);
	room = fate != OFFCPU_EMITTED || jvm_event_room(pid, BRAID_JVM_OFFCPU);
	park = room && l && (l->locks || fate == OFFCPU_EMITTED) &&
	       offcpu_is_park(&t->pending, l, interval_ns(&t->pending)) && offcpu_is_parked(t, fate == OFFCPU_EMITTED);
	if (park && !t->pending.selected)
		park = jvm_event_room(pid, BRAID_JVM_OFFCPU);
	walks = room && (park || offcpu_back_walks(t, l, fate));
	if (walks && task_has_user_stack(task))
		offcpu_stack_now(bpf_map_lookup_elem(&processes, &pid), ref, t->pending.end_ns);
	else if (walks && task_stays_in_kernel(task))
		offcpu_kernel_stack(ctx, bpf_map_lookup_elem(&processes, &pid), ref);
	if (fate == OFFCPU_ADDED && stack_is_passing(ref))
		fate = t->pending.selected ? OFFCPU_EMITTED : OFFCPU_COUNTED;
	if (park)
		offcpu_emit_park(t, ref, fate);
	else if (fate == OFFCPU_ADDED)
		offcpu_sum_pending(t, ref);
	else if (room && fate == OFFCPU_EMITTED)
		offcpu_emit_pending(t, ref);
	else
		offcpu_count_pending(t);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_syscall_end)
{
	const struct braid_offcpu_counts *c = counts_get();
	struct braid_thread_time *t;

	if (!c || !c->pending)
		return 0;
	t = thread_time_of((__u32)bpf_get_current_pid_tgid());
	if (t && t->pending.start_ns)
		offcpu_come_back(ctx, t);
	return 0;
}

/* The end of __schedule(), on Linux 6.16 and later. */
SEC("tp_btf/sched_exit_tp")
int BPF_PROG(on_switch_end)
{
	__u32 tid = bpf_get_current_task_btf()->pid;
	struct braid_thread_time *t = thread_time_of(tid);

	if (!t)
		return 0;
	if (t->now.start_ns)
		offcpu_in_missed(t, tid);
	if (t->pending.start_ns)
		offcpu_come_back(ctx, t);
	return 0;
}

#endif
