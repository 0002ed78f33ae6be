// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Programs for threads of JVMs off the CPU: since when, on which stack, who woke them and on which stack; and the CPU
 * time of threads that end. Each thread walks its own stack: the waker when it wakes, the sleeper when its system
 * call ends, and only for long sleeps.
 */
#ifndef BRAID_OFFCPU_BPF_H
#define BRAID_OFFCPU_BPF_H

#include "jvm_event.bpf.h"
#include "parked.bpf.h"

#define NEVER (~0ULL)

/* All entries are allocated at load, because nothing can be allocated while the scheduler holds its locks. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set at load */
	__type(key, __u32);
	__type(value, struct braid_sleeper);
} sleepers SEC(".maps");

static const struct braid_sleeper sleeper_new;

/* Number of threads with a sleep to be emitted. It is mostly 0, and then the end of a system call costs next to
 * nothing. */
__u64 pending;

static __always_inline struct braid_jvm *offcpu_jvm(const struct braid_process *p)
{
	__u32 slot = p && p->jvm ? p->jvm - 1 : BRAID_MAX_JVMS;

	return bpf_map_lookup_elem(&jvms, &slot);
}

/* The number of entries of a process's threads; the last slot counts all. */
static __always_inline __s64 *sleepers_of(__u32 slot)
{
	struct braid_request_share *a = bpf_map_lookup_elem(&request_shares, &slot);

	return a ? &a->sleepers : NULL;
}

static __noinline int sleepers_count(__u32 slot, __s64 n)
{
	__s64 *all = sleepers_of(BRAID_MAX_JVMS), *own = sleepers_of(slot);

	if (all && own) {
		__sync_fetch_and_add(all, n);
		__sync_fetch_and_add(own, n);
	}
	return 0;
}

/* One process may have at most as many entries as are free for others. */
static __noinline bool sleepers_room(__u32 slot)
{
	__s64 *all = sleepers_of(BRAID_MAX_JVMS), *own = sleepers_of(slot);

	return all && own && *own < BRAID_SLEEPERS - *all;
}

/* The thread's entry, created if needed; NULL when there is no room. */
static __always_inline struct braid_sleeper *sleeper_get(const struct braid_process *p, __u32 tgid, __u32 tid)
{
	struct braid_sleeper *b = bpf_map_lookup_elem(&sleepers, &tid);

	if (b)
		return b;
	if (sleepers_room(p->jvm - 1))
		bpf_map_update_elem(&sleepers, &tid, &sleeper_new, BPF_NOEXIST);
	b = bpf_map_lookup_elem(&sleepers, &tid);
	if (b)
		sleepers_count(p->jvm - 1, 1);
	else
		jvm_event_lost(tgid, BRAID_JVM_OFFCPU);
	return b;
}

static __always_inline const struct braid_wake *wake_last(const struct braid_sleeper *b)
{
	return &b->wakes[(b->wake_count - 1) % BRAID_WAKES];
}

static __always_inline void offcpu_set_waker(struct braid_event_jvm_event *e, const struct braid_wake *w)
{
	e->other_pid = w->pid;
	e->event.other_tid = w->tid;
	e->other_stack = w->stack;
}

/*
 * The waker of the current thread, which has been blocked in the JVM since then: the waker of its longest sleep,
 * because shorter ones, such as at a safepoint, have other causes.
 */
static __always_inline void offcpu_waker_since(struct braid_event_jvm_event *e, __u64 since_ns)
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

/* ---- emitting ---- */

static __always_inline struct braid_jvm *offcpu_jvm_of(const struct braid_sleeper *b)
{
	__u32 pid = b->pid;

	return offcpu_jvm(bpf_map_lookup_elem(&processes, &pid));
}

/* True if a sleep of this length is emitted whatever its cause. */
static __always_inline bool offcpu_is_sleep(const struct braid_sleeper *b, __u64 ns)
{
	struct braid_jvm *jvm = offcpu_jvm_of(b);

	return jvm && jvm->sleep_min_ns != NEVER && ns >= jvm->sleep_min_ns;
}

/* True if the sleep may be a park, which waits on a futex. */
static __always_inline bool offcpu_is_park(const struct braid_sleeper *b, const struct braid_jvm *jvm, __u64 ns)
{
	return jvm->park_min_ns != NEVER && ns >= jvm->park_min_ns && (b->flags & BRAID_OFFCPU_SYSCALL) == NR_FUTEX;
}

static __always_inline void offcpu_count(struct braid_sleeper *b, const struct braid_jvm *jvm, __u64 ns)
{
	if (jvm->sleep_min_ns == NEVER)
		return;
	b->counted++;
	b->counted_ns += ns;
}

static __always_inline void offcpu_emit(const struct braid_sleeper *b, __u32 tid, const struct braid_stack_ref *ref,
					const struct parked *parked, __u64 start, __u64 end)
{
	struct braid_event_jvm_event *e = jvm_event_begin(b->pid, BRAID_JVM_OFFCPU, ref);

	if (!e)
		return;
	e->tid = tid;
	e->source = BRAID_SOURCE_KERNEL;
	e->event.start_ns = start;
	e->event.end_ns = end;
	e->event.flags = b->flags;
	if (parked) {
		e->sleep = offcpu_is_sleep(b, end - start) ? BRAID_SLEEP_LONG : 0;
		e->sleep |= parked_in_lock(parked) ? BRAID_SLEEP_LOCK : 0;
		e->event.other_tid = parked->owner;
		__builtin_memcpy(e->text, parked->class, sizeof(e->text));
	}
	if (wake_last(b)->start_ns == start)
		offcpu_set_waker(e, wake_last(b));
	bpf_ringbuf_submit(e, events_wake());
}

/* Takes the current thread's stack. The walk is large code: each program contains it once. */
static __always_inline void offcpu_stack(const struct braid_process *p, struct braid_stack_ref *ref)
{
	struct sample *s = stack_begin(p);

	if (s)
		(void)stack_take(s->w.slot, stack_entry_regs(bpf_get_current_task_btf(), &s->w), ref);
}

/* Emits the pending sleep of the current thread, with the stack that it has now. */
static __noinline void offcpu_emit_pending(struct braid_sleeper *b, const struct braid_stack_ref *ref,
					   const struct parked *parked, bool room)
{
	__u64 start = b->pending_ns, ns = b->pending_until_ns - start;
	struct braid_jvm *jvm = offcpu_jvm_of(b);

	b->pending_ns = 0;
	__sync_fetch_and_add(&pending, -1);
	if (jvm && !parked && !offcpu_is_sleep(b, ns))
		offcpu_count(b, jvm, ns);
	else if (room)
		offcpu_emit(b, (__u32)bpf_get_current_pid_tgid(), ref, parked, start, b->pending_until_ns);
}

/* Emits the number of sleeps that were only counted. */
static __always_inline void offcpu_emit_counted(const struct braid_sleeper *b)
{
	struct braid_stack_ref none = {0};
	struct braid_event_jvm_event *e = jvm_event_begin(b->pid, BRAID_JVM_COUNTED, &none);

	if (!e)
		return;
	e->source = BRAID_SOURCE_KERNEL;
	e->event.number = BRAID_JVM_OFFCPU;
	e->event.value = b->counted;
	e->event.weight = b->counted_ns;
	bpf_ringbuf_submit(e, events_wake());
}

/* ---- off the CPU, and on it again ---- */

/* The thread's last switch. When a JVM ends, its process's entry may be gone before its last threads. */
static __always_inline void offcpu_dead(__u32 tid)
{
	struct braid_sleeper *b = bpf_map_lookup_elem(&sleepers, &tid);
	struct braid_process *p;
	__u32 pid;

	if (!b)
		return;
	if (b->pending_ns)
		__sync_fetch_and_add(&pending, -1);
	if (b->counted)
		offcpu_emit_counted(b);
	pid = b->pid;
	p = bpf_map_lookup_elem(&processes, &pid);
	if (!bpf_map_delete_elem(&sleepers, &tid))
		sleepers_count(p && p->jvm ? p->jvm - 1 : BRAID_MAX_JVMS, -1);
}

/* Takes a stack that is not available later. The walk needs most of the 512 bytes of stack that older kernels give. */
static __always_inline void offcpu_switch_stack(struct braid_sleeper *b, __u32 tgid)
{
	bool room = jvm_event_room(tgid, BRAID_JVM_OFFCPU);

	b->start = (struct braid_stack_ref){0};
	if (room && bpf_get_current_task_btf()->mm) /* an ending thread has no user stack any more */
		offcpu_stack(bpf_map_lookup_elem(&processes, &tgid), &b->start);
	if (b->pending_ns)
		offcpu_emit_pending(b, &b->start, NULL, room);
}

static __always_inline void offcpu_out(struct task_struct *task, __u32 state)
{
	struct pt_regs *entry = (struct pt_regs *)bpf_task_pt_regs(task);
	__u32 tgid = task->tgid, tid = task->pid, call;
	struct braid_process *p;
	struct braid_sleeper *b;
	struct braid_jvm *jvm;

	if (state & TASK_DEAD) {
		offcpu_dead(tid);
		return;
	}
	p = bpf_map_lookup_elem(&processes, &tgid);
	jvm = offcpu_jvm(p);
	if (!p || !jvm || (jvm->sleep_min_ns == NEVER && jvm->waker_min_ns == NEVER))
		return;
	b = sleeper_get(p, tgid, tid);
	if (!b)
		return;
	call = entry->orig_ax < BRAID_OFFCPU_SYSCALL ? (__u32)entry->orig_ax : BRAID_OFFCPU_SYSCALL;
	/* A page fault has no end of a system call; and a pending sleep was in this same call. */
	if (b->pending_ns || (call == BRAID_OFFCPU_SYSCALL && task->mm && jvm->sleep_min_ns != NEVER)) {
		offcpu_switch_stack(b, tgid);
	}
	b->pid = tgid;
	b->flags = call | (state & TASK_UNINTERRUPTIBLE ? BRAID_OFFCPU_UNINTERRUPTIBLE : 0);
	b->futex = call == NR_FUTEX || call == NR_FUTEX_WAIT ? entry->di : 0;
	b->start_ns = bpf_ktime_get_ns();
}

static __noinline void offcpu_in(__u32 tid)
{
	struct braid_sleeper *b = bpf_map_lookup_elem(&sleepers, &tid);
	struct braid_process *p;
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
	if (!jvm || (jvm->sleep_min_ns == NEVER && jvm->park_min_ns == NEVER))
		return;
	now = bpf_ktime_get_ns();
	if ((jvm->sleep_min_ns == NEVER || now - start < jvm->sleep_min_ns) && !offcpu_is_park(b, jvm, now - start)) {
		offcpu_count(b, jvm, now - start);
	} else if ((b->flags & BRAID_OFFCPU_SYSCALL) == BRAID_OFFCPU_SYSCALL) {
		offcpu_emit(b, tid, &b->start, NULL, start, now);
	} else {
		b->pending_ns = start;
		b->pending_until_ns = now;
		__sync_fetch_and_add(&pending, 1);
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

/* Reads what the current thread was parked for. It returns the slot before any walk, whose stack would not suffice. */
static __always_inline bool offcpu_parked(__u32 pid, struct parked *parked)
{
	struct braid_process *p = bpf_map_lookup_elem(&processes, &pid);
	struct sample *s = p && p->jvm ? stack_begin(p) : NULL;
	bool found;

	if (!s)
		return false;
	found = parked_read(s->w.slot, p->jvm - 1, parked) && parked_in_lock(parked);
	slot_release(s);
	return found;
}

static __noinline bool offcpu_is_lock(__u32 pid)
{
	struct parked parked = {0};

	return offcpu_parked(pid, &parked);
}

/* Reads it again after the walk: the thread is still parked, but a collector may be running now. */
static __noinline void offcpu_emit_lock(struct braid_sleeper *b, const struct braid_stack_ref *ref)
{
	struct parked parked = {0};
	bool found = offcpu_parked(b->pid, &parked);

	if (found)
		offcpu_emit_pending(b, ref, &parked, true);
	else
		offcpu_emit_pending(b, ref, NULL, true);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_syscall_end)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct braid_stack_ref ref = {0};
	struct braid_sleeper *b;
	struct braid_jvm *jvm;
	bool room, lock;
	__u64 ns;

	if (!pending)
		return 0;
	b = bpf_map_lookup_elem(&sleepers, &tid);
	if (!b || !b->pending_ns)
		return 0;
	ns = b->pending_until_ns - b->pending_ns;
	jvm = offcpu_jvm_of(b);
	room = jvm_event_room(b->pid, BRAID_JVM_OFFCPU);
	lock = room && jvm && offcpu_is_park(b, jvm, ns) && offcpu_is_lock(b->pid);
	if (room && (lock || offcpu_is_sleep(b, ns))) {
		tid = b->pid;
		offcpu_stack(bpf_map_lookup_elem(&processes, &tid), &ref);
	}
	if (lock)
		offcpu_emit_lock(b, &ref);
	else
		offcpu_emit_pending(b, &ref, NULL, room);
	return 0;
}

/* ---- wakers ---- */

/*
 * True if the current thread's system call wakes the sleeper, and not an interrupt during it. For a futex the addresses
 * must match; otherwise the call must be of a kind that others wait for.
 */
static __always_inline bool offcpu_wakes(struct pt_regs *entry, const struct braid_sleeper *b, __u32 tgid)
{
	__u32 sleeps_in = b->flags & BRAID_OFFCPU_SYSCALL;

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
	struct braid_stack_ref ref = {0};
	struct braid_process *p;
	struct braid_wake *w;
	__u64 now;

	/* The wakee is asleep and its pi_lock is held, so nothing else writes the entry. */
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

/* The collector drops the events of threads that the agent has reported itself. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_thread_exit, struct task_struct *task)
{
	__u32 tgid = task->tgid;
	struct braid_process *p = bpf_map_lookup_elem(&processes, &tgid);
	struct braid_stack_ref none = {0};
	struct braid_event_jvm_event *e;

	if (!p || !(p->flags & BRAID_PROCESS_LIBJVM)) /* not p->jvm: most threads end after the agent */
		return 0;
	e = jvm_event_begin(tgid, BRAID_JVM_THREAD_CPU, &none);
	if (!e)
		return 0;
	e->source = BRAID_SOURCE_KERNEL;
	bpf_get_current_comm(e->text, 16);
	e->event.value = task->se.sum_exec_runtime;
	/* Most kernels count it in ticks, so it may exceed the total. */
	e->event.weight = task->stime < e->event.value ? task->stime : e->event.value;
	bpf_ringbuf_submit(e, events_wake());
	return 0;
}

#endif
