// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Threads of JVMs off the CPU: since when, on which stack, and who woke them, on which stack; and the CPU time of those
 * that end. A stack is walked by the thread that it is of: the waker's when it wakes, the sleeper's own when its system
 * call ends, and only for what lasted.
 */
#ifndef BRAID_OFFCPU_BPF_H
#define BRAID_OFFCPU_BPF_H

#include "jvm_event.bpf.h"

#define NEVER (~0ULL)

/* Set before loading: sleeps can be told, and not only who ends them. The verifier leaves out what else is not used. */
const volatile bool sleep_stacks;

/* All entries are made at load: nothing can be allocated where the scheduler holds its locks. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set at load */
	__type(key, __u32);
	__type(value, struct braid_sleeper);
} sleepers SEC(".maps");

static const struct braid_sleeper sleeper_new;

/* Threads with an untold sleep: mostly none, and then the end of a system call costs next to nothing. */
__u64 untold;

static __always_inline struct braid_jvm *offcpu_jvm(const struct braid_process *p)
{
	__u32 slot = p && p->jvm ? p->jvm - 1 : BRAID_MAX_JVMS;

	return bpf_map_lookup_elem(&jvms, &slot);
}

/* The thread's entry, made when it has none; NULL when there is no room. */
static __always_inline struct braid_sleeper *sleeper_get(__u32 tid)
{
	struct braid_sleeper *b = bpf_map_lookup_elem(&sleepers, &tid);
	struct braid_counters *c = counters_get();

	if (b)
		return b;
	bpf_map_update_elem(&sleepers, &tid, &sleeper_new, BPF_NOEXIST);
	b = bpf_map_lookup_elem(&sleepers, &tid);
	if (!b && c)
		COUNT(c, jvm_lost[BRAID_JVM_BLOCKED], 1);
	return b;
}

static __always_inline const struct braid_wake *wake_last(const struct braid_sleeper *b)
{
	return &b->wakes[(b->wake_count - 1) % BRAID_WAKES];
}

static __always_inline void offcpu_set_waker(struct braid_event_jvm *e, const struct braid_wake *w)
{
	e->other_pid = w->pid;
	e->what.other_tid = w->tid;
	e->other_stack = w->stack;
}

/*
 * Who let the current thread go on that blocked in the JVM since then: who ended the longest of its sleeps, as what
 * came after, a safepoint for one, has another cause.
 */
static __always_inline void offcpu_waker_since(struct braid_event_jvm *e, __u64 since_ns)
{
	__u32 tid = e->tid;
	struct braid_sleeper *b = bpf_map_lookup_elem(&sleepers, &tid);
	__u64 longest = 0, ns;

	if (!b)
		return;
	for (__u32 i = 0; i < BRAID_WAKES; i++) {
		ns = b->wakes[i].time_ns - b->wakes[i].start_ns;
		if (b->wakes[i].start_ns < since_ns || ns <= longest)
			continue;
		longest = ns;
		offcpu_set_waker(e, &b->wakes[i]);
	}
}

/* ---- telling ---- */

static __always_inline void offcpu_tell(const struct braid_sleeper *b, __u32 tid, const struct stack_ref *ref,
					__u64 start, __u64 end)
{
	struct braid_event_jvm *e = jvm_event_begin(BRAID_JVM_BLOCKED, ref);

	if (!e)
		return;
	e->pid = b->pid;
	e->tid = tid;
	e->source = BRAID_SOURCE_KERNEL;
	e->what.start_ns = start;
	e->what.end_ns = end;
	e->what.flags = b->flags;
	if (wake_last(b)->start_ns == start)
		offcpu_set_waker(e, wake_last(b));
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
}

/* The current thread's stack. The walk is large: each program has it in one place. */
static __always_inline void offcpu_stack(const struct braid_process *p, struct stack_ref *ref)
{
	struct sample *s = stack_begin(p);

	if (s)
		stack_take(s, stack_entry_regs(bpf_get_current_task_btf(), &s->w), ref);
}

/* What waits to be told of the current thread, on the stack that it has now. */
static __always_inline void offcpu_tell_untold(struct braid_sleeper *b, const struct stack_ref *ref, bool room)
{
	__u64 start = b->untold_ns;

	b->untold_ns = 0;
	__sync_fetch_and_add(&untold, -1);
	if (room)
		offcpu_tell(b, (__u32)bpf_get_current_pid_tgid(), ref, start, b->untold_until_ns);
}

/* What was only counted of a thread. */
static __always_inline void offcpu_tell_counted(const struct braid_sleeper *b)
{
	struct stack_ref none = {0};
	struct braid_event_jvm *e = jvm_event_begin(BRAID_JVM_COUNTED, &none);

	if (!e)
		return;
	e->pid = b->pid;
	e->source = BRAID_SOURCE_KERNEL;
	e->what.number = BRAID_JVM_BLOCKED;
	e->what.value = b->counted;
	e->what.weight = b->counted_ns;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
}

/* ---- off the CPU, and on it again ---- */

/* The thread's last time off the CPU. Of a JVM that ends, the process may be gone before its last threads. */
static __always_inline void offcpu_dead(__u32 tid)
{
	struct braid_sleeper *b = bpf_map_lookup_elem(&sleepers, &tid);

	if (!b)
		return;
	if (b->untold_ns)
		__sync_fetch_and_add(&untold, -1);
	if (b->counted)
		offcpu_tell_counted(b);
	bpf_map_delete_elem(&sleepers, &tid);
}

static __always_inline void offcpu_out(struct task_struct *task, __u32 state)
{
	struct pt_regs *entry = (struct pt_regs *)bpf_task_pt_regs(task);
	__u32 tgid = task->tgid, tid = task->pid, call;
	struct stack_ref ref = {0};
	struct braid_process *p;
	struct braid_sleeper *b;
	struct braid_jvm *jvm;
	bool room;

	if (state & TASK_DEAD) {
		offcpu_dead(tid);
		return;
	}
	p = bpf_map_lookup_elem(&processes, &tgid);
	jvm = offcpu_jvm(p);
	if (!p || !jvm || (jvm->sleep_min_ns == NEVER && jvm->waker_min_ns == NEVER))
		return;
	b = sleeper_get(tid);
	if (!b)
		return;
	call = entry->orig_ax < BRAID_BLOCKED_SYSCALL ? (__u32)entry->orig_ax : BRAID_BLOCKED_SYSCALL;
	/* In a page fault no system call ends later; another sleep was in the same call. */
	if (sleep_stacks &&
	    (b->untold_ns || (call == BRAID_BLOCKED_SYSCALL && task->mm && jvm->sleep_min_ns != NEVER))) {
		room = jvm_event_room(BRAID_JVM_BLOCKED);
		if (room)
			offcpu_stack(p, &ref);
		if (b->untold_ns)
			offcpu_tell_untold(b, &ref, room);
		b->stack = ref.stack;
		b->vthread = ref.vthread;
		b->generation = ref.generation;
	}
	b->pid = tgid;
	b->flags = call | (state & TASK_UNINTERRUPTIBLE ? BRAID_BLOCKED_UNINTERRUPTIBLE : 0);
	b->futex = call == NR_FUTEX || call == NR_FUTEX_WAIT ? entry->di : 0;
	b->start_ns = bpf_ktime_get_ns();
}

static __always_inline void offcpu_in(__u32 tid)
{
	struct braid_sleeper *b = bpf_map_lookup_elem(&sleepers, &tid);
	struct braid_process *p;
	struct stack_ref ref;
	struct braid_jvm *jvm;
	__u64 start, now;
	__u32 pid;

	if (!b || !b->start_ns)
		return;
	start = b->start_ns;
	b->start_ns = 0;
	pid = b->pid;
	p = bpf_map_lookup_elem(&processes, &pid);
	jvm = offcpu_jvm(p);
	if (!sleep_stacks || !jvm || jvm->sleep_min_ns == NEVER)
		return;
	now = bpf_ktime_get_ns();
	if (now - start < jvm->sleep_min_ns) {
		b->counted++;
		b->counted_ns += now - start;
	} else if ((b->flags & BRAID_BLOCKED_SYSCALL) == BRAID_BLOCKED_SYSCALL) {
		ref = (struct stack_ref){.stack = b->stack, .vthread = b->vthread, .generation = b->generation};
		offcpu_tell(b, tid, &ref, start, now);
	} else {
		b->untold_ns = start;
		b->untold_until_ns = now;
		__sync_fetch_and_add(&untold, 1);
	}
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int state)
{
	struct task_struct *task = bpf_get_current_task_btf(); /* prev */

	if (!preempt && state && !(task->flags & PF_KTHREAD))
		offcpu_out(task, state);
	if (!(next->flags & PF_KTHREAD))
		offcpu_in(next->pid);
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_syscall_end)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid(), pid;
	struct stack_ref ref = {0};
	struct braid_sleeper *b;
	bool room;

	if (!untold)
		return 0;
	b = bpf_map_lookup_elem(&sleepers, &tid);
	if (!b || !b->untold_ns)
		return 0;
	pid = b->pid;
	room = jvm_event_room(BRAID_JVM_BLOCKED);
	if (room)
		offcpu_stack(bpf_map_lookup_elem(&processes, &pid), &ref);
	offcpu_tell_untold(b, &ref, room);
	return 0;
}

/* ---- who woke it ---- */

/*
 * Is it what the current thread does that wakes the sleeper, and not an interrupt that came meanwhile? Of a futex the
 * address tells; else that the system call is of a kind that others wait for.
 */
static __always_inline bool offcpu_wakes(struct pt_regs *entry, const struct braid_sleeper *b, __u32 tgid)
{
	__u32 sleeps_in = b->flags & BRAID_BLOCKED_SYSCALL;

	switch (entry->orig_ax) {
	case NR_FUTEX:
	case NR_FUTEX_WAKE:
		return b->futex && tgid == b->pid && (entry->di == b->futex || entry->r8 == b->futex);
	case NR_READ:
	case NR_WRITE:
	case NR_CLOSE:
	case NR_READV:
	case NR_WRITEV:
	case NR_SENDFILE:
	case NR_SENDTO:
	case NR_RECVFROM:
	case NR_SENDMSG:
	case NR_RECVMSG:
	case NR_SHUTDOWN:
	case NR_SPLICE:
	case NR_SENDMMSG:
		return !b->futex && sleeps_in != NR_NANOSLEEP && sleeps_in != NR_CLOCK_NANOSLEEP;
	default:
		return false;
	}
}

static __always_inline __u64 offcpu_waker_min(__u32 pid)
{
	struct braid_process *p = bpf_map_lookup_elem(&processes, &pid);
	struct braid_jvm *jvm = offcpu_jvm(p);

	return jvm ? jvm->waker_min_ns : NEVER;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *wakee)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 tid = wakee->pid, tgid = task->tgid;
	struct braid_sleeper *b = bpf_map_lookup_elem(&sleepers, &tid);
	struct stack_ref ref = {0};
	struct braid_process *p;
	struct braid_wake *w;
	__u64 now;

	/* No one else writes the entry meanwhile: the wakee is asleep, and its pi_lock is held. */
	if (!b || !b->start_ns || task->pid == wakee->pid || (task->flags & PF_KTHREAD))
		return 0;
	if (wake_last(b)->start_ns == b->start_ns || !offcpu_wakes((struct pt_regs *)bpf_task_pt_regs(task), b, tgid))
		return 0;
	now = bpf_ktime_get_ns();
	p = bpf_map_lookup_elem(&processes, &tgid);
	if (!p || now - b->start_ns < offcpu_waker_min(b->pid))
		return 0;
	offcpu_stack(p, &ref);
	w = &b->wakes[b->wake_count % BRAID_WAKES];
	w->start_ns = b->start_ns;
	w->time_ns = now;
	w->stack = ref.stack;
	w->pid = tgid;
	w->tid = task->pid;
	b->wake_count++;
	return 0;
}

/* ---- the end of threads ---- */

/* The collector leaves out those whose agent has told. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_thread_exit, struct task_struct *task)
{
	__u32 tgid = task->tgid;
	struct braid_process *p = bpf_map_lookup_elem(&processes, &tgid);
	struct stack_ref none = {0};
	struct braid_event_jvm *e;

	if (!p || !(p->flags & BRAID_PROCESS_LIBJVM)) /* most threads end when the agent is gone */
		return 0;
	e = jvm_event_begin(BRAID_JVM_THREAD_CPU, &none);
	if (!e)
		return 0;
	e->source = BRAID_SOURCE_KERNEL;
	bpf_get_current_comm(e->text, 16);
	e->what.value = task->se.sum_exec_runtime;
	/* Most kernels count it in ticks. */
	e->what.weight = task->stime < e->what.value ? task->stime : e->what.value;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 0;
}

#endif
