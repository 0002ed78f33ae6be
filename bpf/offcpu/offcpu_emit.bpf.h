// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * What becomes of a time off the CPU that has ended: it is emitted with its stack, added to a sum, or counted.
 * Intervals of threads that can walk their stacks later are pending until then. offcpu.bpf.h calls it.
 */
#ifndef BRAID_OFFCPU_EMIT_BPF_H
#define BRAID_OFFCPU_EMIT_BPF_H

#include "events/files.bpf.h"
#include "jvm/jvm_event.bpf.h"
#include "sums.bpf.h"

static __always_inline const struct braid_wake *wake_last(const struct braid_thread_time *t)
{
	return &t->wakes[(t->wake_count - 1) % BRAID_WAKES];
}

static __always_inline void offcpu_set_waker(struct braid_event_jvm_event *e, const struct braid_wake *w)
{
	e->other_pid = w->pid;
	e->event.other_tid = w->tid;
	e->other_stack = w->stack;
}

/* True if the interval may be a park, which waits on a futex. */
static __always_inline bool offcpu_is_park(const struct braid_interval *i, const struct braid_offcpu_limits *l,
					   __u64 ns)
{
	return l->park_min_ns != NEVER && ns >= l->park_min_ns && (i->flags & BRAID_OFFCPU_SYSCALL) == NR_FUTEX;
}

/*
 * Asking for room takes as long as writing an event. So the process that reports on a CPU asks once for a few of its
 * events in a row, and pays for the others when it, or the next process there, asks again. Programs that preempt each
 * other may put a debt of some bytes on the wrong process.
 */
#define ROOM_NS 1000000
#define ROOM_BYTES 2048

struct event_room {
	struct share_owner owner;
	__u32 owed;	/* bytes of its events since it asked, which its shares lack */
	__u64 asked_ns; /* 0: nobody has asked, or there was no room */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct event_room);
} event_rooms SEC(".maps");

static __always_inline struct event_room *event_room_here(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&event_rooms, &zero);
}

/* Takes bytes for an event of the process that asked last. False: it has to ask. */
static __always_inline bool event_room_owe(__u32 tgid, __u32 bytes, __u64 now)
{
	struct event_room *r = event_room_here();

	if (!r || r->owner.tgid != tgid || now - r->asked_ns >= ROOM_NS || r->owed + bytes > ROOM_BYTES)
		return false;
	r->owed += bytes;
	return true;
}

/*
 * The process that asked last pays, and the thread's process takes its place, unless it finds no room. Global
 * functions: older kernels give the programs little stack.
 */
__noinline int event_room_change(const struct braid_thread_time *t, __u64 now)
{
	struct event_room *r = event_room_here();
	struct ring_shares s;

	if (!t || !r)
		return 0;
	if (r->owed && shares_of(&r->owner, 0, &s))
		shares_charge(&s, r->owed);
	*r = (struct event_room){.owner = {.slot = t->slot, .user = t->user, .tgid = t->pid}, .asked_ns = now};
	return 0;
}

__noinline int event_room_close(void)
{
	struct event_room *r = event_room_here();

	if (r)
		r->asked_ns = 0;
	return 0;
}

/*
 * Asks for room for an event, and takes its bytes from the shares in which the thread's entry counts, too. A
 * global function: the verifier checks it once.
 */
__noinline int offcpu_take(const struct braid_thread_time *t, __u32 bytes, __u64 now)
{
	struct share_owner o;

	if (!t)
		return 0;
	event_room_change(t, now);
	o = (struct share_owner){.slot = t->slot, .user = t->user, .tgid = t->pid};
	if (events_take(&o, bytes))
		return 1;
	event_room_close();
	jvm_event_lost(t->pid, BRAID_JVM_OFFCPU);
	return 0;
}

/* Flags for an event that has room: one that asked for it also looks whether the collector is to be woken. */
static __always_inline __u64 offcpu_wake(void)
{
	const struct event_room *r = event_room_here();

	return r && r->owed ? BPF_RB_NO_WAKEUP : events_wake();
}

/* NULL: no room, and the interval is to be counted. */
static __always_inline struct braid_event_jvm_event *offcpu_begin(const struct braid_thread_time *t, __u32 tid,
								  const struct braid_interval *i,
								  const struct braid_stack_ref *ref, __u64 now)
{
	const struct jvm_event_of of = {.tgid = t->pid, .tid = tid, .kind = BRAID_JVM_OFFCPU, .time_ns = now};
	struct braid_event_jvm_event *e = NULL;

	if (event_room_owe(t->pid, sizeof(*e) + ref->bytes, now) || offcpu_take(t, sizeof(*e) + ref->bytes, now))
		e = jvm_event_begin_taken(&of, ref, sizeof(*e));
	if (!e)
		return NULL;
	/*
	 * The collector knows the exec before the kernel reports it to on_thread_exec. The stack may be the next one's.
	 */
	if (t->since_ns && interval_in_exec(i)) {
		e->hdr.time_ns = t->since_ns;
		e->stack = 0;
	}
	if (t->carries) /* its stack also shows the virtual thread before it is mounted, and after */
		e->vthread = i->vthread;
	e->source = BRAID_SOURCE_KERNEL;
	e->sleep = BRAID_SLEEP_LONG;
	e->event.start_ns = i->start_ns;
	e->event.end_ns = i->end_ns;
	e->event.value = braid_interval_ready(i);
	e->event.weight = (__u64)i->to << 32 | i->from;
	e->event.number = i->futex;
	e->event.flags = i->flags | (i->irq ? BRAID_OFFCPU_IRQ : 0);
	e->event.detail = i->irq;
	e->other_pid = i->waker_pid;
	e->event.other_tid = i->waker_tid;
	if (wake_last(t)->start_ns == i->start_ns)
		e->other_stack = wake_last(t)->stack;
	return e;
}

/*
 * The waker of the current thread, which has been blocked in the JVM since then: the waker of its longest sleep,
 * because shorter ones, such as at a safepoint, have other causes.
 */
static __always_inline void offcpu_waker_since(struct braid_event_jvm_event *e, __u64 since_ns)
{
	__u32 tid = e->tid;
	struct braid_thread_time *t = thread_time_of(tid);
	__u64 longest = 0, ns;

	if (!t)
		return;
	for (__u32 i = 0; i < BRAID_WAKES; i++) {
		ns = t->wakes[i].time_ns - t->wakes[i].start_ns;
		if (t->wakes[i].start_ns < since_ns || ns <= longest)
			continue;
		longest = ns;
		offcpu_set_waker(e, &t->wakes[i]);
	}
}

/* The entries of the thread's stacks, see reuse_key(). */
static __always_inline __u32 thread_reuse_key(struct task_struct *task, struct pt_regs *entry, enum reuse_kind kind)
{
	return reuse_key(task, entry, thread_place(task->pid), kind);
}

/*
 * Takes the stack of the current thread `task`, which entered the kernel with `entry`, if it is still the one of last
 * time. Returns STACK_REUSED, or the key for offcpu_stack_walk().
 */
static __always_inline __u32 offcpu_stack_again(const struct braid_process *p, struct task_struct *task,
						struct pt_regs *entry, enum reuse_kind kind,
						struct braid_stack_ref *ref)
{
	return stack_reuse(p, task, entry, thread_reuse_key(task, entry, kind), ref);
}

/*
 * Returns true if the stack ends early and would not a moment later. The walk is large code: each program contains it
 * once.
 */
static __always_inline bool offcpu_stack_walk(const struct braid_process *p, struct task_struct *task, __u32 key,
					      struct braid_stack_ref *ref)
{
	struct sample *s = stack_begin(p);

	if (!s)
		return false;
	reuse_begin(s->w.slot, key);
	return stack_take(s->w.slot, stack_entry_regs(task, &s->w), ref);
}

/* Takes the stack of the current thread, which has come back to the CPU. */
static __always_inline void offcpu_stack_now(const struct braid_process *p, struct braid_stack_ref *ref, __u64 now)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *entry = (struct pt_regs *)bpf_task_pt_regs(task);
	__u32 key = offcpu_stack_again(p, task, entry, REUSE_SLEEPER, ref);

	if (key == STACK_REUSED)
		reuse_note_same(thread_reuse_key(task, entry, REUSE_SLEEPER), task, entry, now);
	else
		offcpu_stack_walk(p, task, key, ref);
}

/*
 * What has called the program at most, and, at least, the kernel's __schedule(): whatever waits calls that by another
 * function.
 */
#define KERNEL_SKIPPED 3

/* Takes the stack of the current thread, which only works in the kernel. `ctx` is the program's own context. */
static __always_inline void offcpu_kernel_stack(void *ctx, const struct braid_process *p, struct braid_stack_ref *ref)
{
	struct sample *s = stack_begin(p);

	if (!s)
		return;
	stack_walk_kernel_from(ctx, s, KERNEL_SKIPPED);
	stack_take(s->w.slot, false, ref);
}

/* Set before loading: on_switch_end runs, so nothing has to be walked before it is known to be worth it. */
const volatile bool switch_ends;

/*
 * Set before loading: every time off the CPU is to be reported, so its stack is taken when it begins. Then nothing has
 * to run when the thread comes back, unless the time began before the thread was found, or before the collector knew
 * what the process has mapped.
 */
const volatile bool stacks_at_start;

/* Whether somebody asks how many are pending: on_syscall_end, and the collector when it may detach that. */
static __always_inline bool pending_matters(void)
{
	return !switch_ends || stacks_at_start;
}

static __always_inline void pending_set(struct braid_thread_time *t, const struct braid_interval *i)
{
	struct braid_offcpu_counts *c = pending_matters() ? counts_get() : NULL;

	t->pending = *i;
	if (c)
		__sync_fetch_and_add(&c->pending, 1);
}

static __always_inline void pending_clear(struct braid_thread_time *t)
{
	struct braid_offcpu_counts *c = pending_matters() ? counts_get() : NULL;

	t->pending.start_ns = 0;
	if (c)
		__sync_fetch_and_add(&c->pending, -1);
}

/* Emits an interval of a thread that has not left its system call, with the stack `ref`. */
static __always_inline void offcpu_emit(struct braid_thread_time *t, struct task_struct *task, struct braid_interval *i,
					const struct braid_stack_ref *ref, __u64 now)
{
	struct braid_event_jvm_event *e;
	struct object object = {0};

	if (BRAID_OFFCPU_CLASS(i->flags) != BRAID_OFFCPU_RUNNABLE) /* it waited for a CPU */
		object_of_call(&object, task, i->flags & BRAID_OFFCPU_SYSCALL, i->polled);
	e = offcpu_begin(t, task->pid, i, ref, now);
	if (e) {
		e->sleep |= object.kind << BRAID_SLEEP_OBJECT_SHIFT;
		if (object.number)
			e->event.number = object.number;
		if (object.class && file_class_is(BRAID_OFFCPU_CLASS(e->event.flags)))
			e->event.flags = (e->event.flags & ~(0xfU << BRAID_OFFCPU_CLASS_SHIFT)) |
					 object.class << BRAID_OFFCPU_CLASS_SHIFT;
		__builtin_memcpy(e->text, object.text, sizeof(e->text));
		bpf_ringbuf_submit(e, offcpu_wake());
	} else {
		interval_count(t, i);
	}
}

/* The same for the pending interval of the current thread. A global function: the verifier checks it once. */
__noinline int offcpu_emit_pending(struct braid_thread_time *t, const struct braid_stack_ref *ref)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (!t || !ref)
		return 0;
	/* Of a thread that was found asleep, nobody could read what it polls. */
	if (t->pending.flags & BRAID_OFFCPU_BEFORE && !t->pending.polled)
		t->pending.polled = call_polled((struct pt_regs *)bpf_task_pt_regs(task));
	offcpu_emit(t, task, &t->pending, ref, bpf_ktime_get_ns());
	pending_clear(t);
	return 0;
}

static __always_inline void offcpu_sum_pending(struct braid_thread_time *t, struct braid_stack_ref *ref)
{
	if (ref->bytes)
		jvm_event_charge(t->pid, ref->bytes);
	sum_add(t, &t->pending, ref);
	pending_clear(t);
}

__noinline int offcpu_count_pending(struct braid_thread_time *t)
{
	if (!t)
		return 0;
	interval_count(t, &t->pending);
	pending_clear(t);
	return 0;
}

/* ---- what was only counted ---- */

/* An event of the thread without a stack; jvm_event_begin(). */
static __always_inline struct braid_event_jvm_event *thread_event_begin(const struct braid_thread_time *t, __u32 tid,
									__u32 kind, __u64 time_ns)
{
	const struct jvm_event_of of = {.tgid = t->pid, .tid = tid, .kind = kind, .time_ns = time_ns};
	const struct braid_stack_ref none = {0};
	struct braid_event_jvm_event *e = jvm_event_begin_of(&of, &none, sizeof(*e));

	if (e)
		e->source = BRAID_SOURCE_KERNEL;
	return e;
}

/*
 * One class of intervals that were only counted. `time_ns` is when the thread belonged to its program. A global
 * function: the verifier checks it once, and not for each class.
 */
__noinline int thread_emit_counted(struct braid_thread_time *t, __u32 tid, __u32 class, __u64 time_ns)
{
	struct braid_event_jvm_event *e;

	if (!t || class >= BRAID_OFFCPU_CLASSES || !(t->counted[class] | t->counted_ns[class]))
		return 0;
	e = thread_event_begin(t, tid, BRAID_JVM_COUNTED, time_ns);
	if (!e)
		return 0;
	e->event.number = BRAID_JVM_OFFCPU;
	e->event.flags = class << BRAID_OFFCPU_CLASS_SHIFT;
	e->event.value = t->counted[class];
	e->event.weight = t->counted_ns[class];
	bpf_ringbuf_submit(e, events_wake());
	return 0;
}

/*
 * Reports what was counted of a thread until its life begins, at `since_ns`, so that it is not taken for a part of
 * that.
 */
__noinline int thread_emit_before(struct braid_thread_time *t, __u64 since_ns)
{
	if (!t)
		return 0;
	for (__u32 i = 0; i < BRAID_OFFCPU_CLASSES; i++) {
		thread_emit_counted(t, t->tid, i, since_ns - 1);
		t->counted[i] = t->counted_ns[i] = 0;
	}
	return 0;
}

#endif
