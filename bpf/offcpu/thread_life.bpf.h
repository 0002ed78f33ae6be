// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Programs for the life of threads: when one starts, becomes another program, or ends. Then its time is reported. One
 * more finds the threads that exist already, and another one those that are off the CPU.
 */
#ifndef BRAID_THREAD_LIFE_BPF_H
#define BRAID_THREAD_LIFE_BPF_H

#include "offcpu.bpf.h"
#include "vthread_time.bpf.h"

/* ---- reports ---- */

__noinline int thread_emit_time(struct braid_thread_time *t, __u32 tid, __u64 time_ns, __u64 now)
{
	struct braid_event_jvm_event *e;

	if (!t || !t->since_ns)
		return 0;
	e = thread_event_begin(t, tid, BRAID_JVM_THREAD_TIME, time_ns);
	if (!e)
		return 0;
	e->event.start_ns = t->since_ns;
	e->event.end_ns = now;
	e->event.value = t->run_ns;
	e->event.weight = t->ready_ns;
	bpf_ringbuf_submit(e, events_wake());
	return 0;
}

/* Reports and forgets the current thread, which was `tid`. */
static __always_inline void thread_time_end(__u32 tid, __u64 time_ns, __u64 now)
{
	struct braid_thread_time *t = thread_time_of(tid);
	struct braid_stack_ref none = {0};

	if (!t)
		return;
	if (t->pending.start_ns) {
		if (t->pending.selected)
			offcpu_emit_pending(t, &none);
		else
			offcpu_count_pending(t);
	}
	if (t->now.start_ns)
		offcpu_end_missed(t, tid, bpf_get_current_task_btf()->se.sum_exec_runtime, now);
	thread_time_ran(t, now);
	sum_store(t);
	vthread_time_orphan(t, now);
	for (__u32 i = 0; i < BRAID_OFFCPU_CLASSES; i++)
		thread_emit_counted(t, tid, i, time_ns);
	thread_emit_time(t, tid, time_ns, now);
	thread_time_remove(t);
}

/* ---- starts ---- */

/* Forgets an earlier thread with the same id, which has ended while other programs took the place of these. */
static __always_inline void thread_time_forget(__u32 tid)
{
	struct braid_thread_time *t = thread_time_of(tid);

	if (!t)
		return;
	if (t->pending.start_ns)
		pending_clear(t);
	if (t->now.start_ns && t->now.flags & BRAID_OFFCPU_BEFORE)
		offcpu_before(-1);
	if (t->since_ns && t->exec_ns) /* not what on_thread_found has just found, which has not run yet */
		jvm_event_lost(t->pid, BRAID_JVM_THREAD_TIME);
	thread_time_remove(t);
}

/* A new thread waits for a CPU first. Not sched_process_fork: that leaves out the workers of io_uring and vhost. */
SEC("tp_btf/task_newtask")
int BPF_PROG(on_thread_start, struct task_struct *child)
{
	__u32 from = bpf_get_current_pid_tgid() >> 32, tgid = child->tgid, tid = child->pid, place;
	struct braid_process *p = bpf_map_lookup_elem(&processes, &from);
	const struct braid_offcpu_limits *l = limits_of(p);
	__u64 now = bpf_ktime_get_ns();
	struct braid_thread_time *t;

	if (settings_ended(now))
		return 0;
	thread_time_forget(tid);
	if (!limits_follow(l) || (child->flags & PF_KTHREAD))
		return 0;
	t = thread_time_new(process_slot(from == tgid ? p : NULL), process_user(p), tgid, tid, &place);
	if (!t)
		return 0;
	if (l->all) {
		t->since_ns = now;
		t->now = (struct braid_interval){.start_ns = now,
						 .ready_ns = now,
						 .flags = BRAID_OFFCPU_SYSCALL | BRAID_OFFCPU_RUNNABLE
											 << BRAID_OFFCPU_CLASS_SHIFT,
						 .from = bpf_get_smp_processor_id()};
		if (offcpu_filters_threads)
			filter_see_thread(t, child);
	}
	thread_time_publish(t, place);
	return 0;
}

/* The thread's next program begins. A thread other than the first one of its process becomes the first. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_thread_exec, struct task_struct *task, __u32 old_tid)
{
	__u32 tid = task->pid, tgid = task->tgid, was = old_tid, user, place;
	struct braid_thread_time *t = thread_time_of(was);
	__u64 now = bpf_ktime_get_ns(), since;

	if (!t || settings_ended(now))
		return 0;
	since = t->since_ns;
	user = t->user;
	thread_time_end(was, since ?: now, now);
	t = since ? thread_time_new(BRAID_MAX_JVMS, user, tgid, tid, &place) : NULL;
	if (!t)
		return 0;
	t->since_ns = t->on_ns = now;
	t->exec_ns = task->se.sum_exec_runtime;
	thread_time_publish(t, place);
	return 0;
}

/* ---- ends ---- */

/* The collector drops the events of threads that the agent has reported itself. */
static __always_inline void thread_emit_cpu(struct task_struct *task)
{
	__u32 tgid = task->tgid;
	struct braid_process *p = bpf_map_lookup_elem(&processes, &tgid);
	struct braid_stack_ref none = {0};
	struct braid_event_jvm_event *e;

	if (!p || !(p->flags & BRAID_PROCESS_LIBJVM)) /* not p->jvm: most threads end after the agent */
		return;
	e = jvm_event_begin(tgid, BRAID_JVM_THREAD_CPU, &none);
	if (!e)
		return;
	e->source = BRAID_SOURCE_KERNEL;
	bpf_get_current_comm(e->text, 16);
	e->event.value = task->se.sum_exec_runtime;
	/* Most kernels count it in ticks, so it may exceed the total. */
	e->event.weight = task->stime < e->event.value ? task->stime : e->event.value;
	bpf_ringbuf_submit(e, events_wake());
}

/* Set before loading: the CPU time of a JVM's threads is reported when they end. */
const volatile bool report_cpu;

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_thread_exit, struct task_struct *task)
{
	__u64 now = bpf_ktime_get_ns();

	if (report_cpu)
		thread_emit_cpu(task);
	if (!settings_ended(now))
		thread_time_end(task->pid, now, now);
	return 0;
}

/* ---- threads that exist already ---- */

static __always_inline bool task_runs(struct task_struct *task)
{
	return bpf_core_field_exists(task->on_cpu) ? task->on_cpu : task == bpf_get_current_task_btf();
}

static __always_inline void thread_time_found(struct braid_thread_time *t, struct task_struct *task, __u64 begin)
{
	bool runs = task_runs(task);
	struct pt_regs *entry = (struct pt_regs *)bpf_task_pt_regs(task);
	__u32 state = task->__state;

	t->since_ns = begin;
	t->exec_ns = task->se.sum_exec_runtime;
	if (queues_noted)
		t->delay_ns = task->sched_info.run_delay;
	t->on_ns = runs ? begin : 0;
	if (runs)
		return;
	if (offcpu_filters_threads)
		filter_see_thread(t, task);
	t->now.flags = offcpu_why(t, task, entry, state, begin) | BRAID_OFFCPU_BEFORE;
	t->now.futex = offcpu_futex(entry, t->now.flags);
	t->now.start_ns = begin;
	t->now.ready_ns = state ? 0 : begin;
}

/*
 * The life of a thread that was followed for locks and waits alone begins: with the interval that it is in, or at
 * `begin` if it runs. It begins by itself when the thread leaves the CPU, so each step is undone if it came too late.
 */
static __always_inline void thread_time_begin(struct braid_thread_time *t, struct task_struct *task, __u64 begin)
{
	__u64 start = *(volatile __u64 *)&t->now.start_ns, since = start ?: begin;

	if (!start && !task_runs(task)) /* it waits for a CPU */
		return;
	if (!start)
		__sync_val_compare_and_swap(&t->on_ns, 0, begin);
	if (__sync_val_compare_and_swap(&t->since_ns, 0, since))
		__sync_val_compare_and_swap(&t->on_ns, begin, 0);
	else if (start && *(volatile __u64 *)&t->now.start_ns != start)
		__sync_val_compare_and_swap(&t->since_ns, start, 0);
	else
		thread_emit_before(t, since);
}

SEC("iter/task")
int on_thread_found(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	const struct braid_offcpu_settings *settings = settings_get();
	const struct braid_offcpu_limits *l;
	struct braid_thread_time *t;
	struct braid_process *p;
	__u32 tid, tgid, place;
	bool sleeps;

	if (!task || !settings || (task->flags & (PF_KTHREAD | PF_EXITING)))
		return 0;
	tid = task->pid;
	tgid = task->tgid;
	p = bpf_map_lookup_elem(&processes, &tgid);
	l = limits_of(p);
	if (!l || !l->all)
		return 0;
	t = thread_time_of(tid);
	if (t) {
		if (!t->since_ns)
			thread_time_begin(t, task, settings->begin_ns);
		return 0;
	}
	t = thread_time_new(process_slot(p), process_user(p), tgid, tid, &place);
	if (!t)
		return 0;
	thread_time_found(t, task, settings->begin_ns);
	sleeps = t->now.start_ns != 0;
	if (sleeps)
		offcpu_before(1);
	/* As a whole, because the thread may be switched meanwhile. */
	if (thread_time_publish(t, place) != t && sleeps)
		offcpu_before(-1);
	return 0;
}

/* ---- threads that are off the CPU when the recording ends, or since before it began ---- */

static __always_inline void asleep_note(struct braid_asleep *a, struct task_struct *task)
{
	struct pt_regs *entry = (struct pt_regs *)bpf_task_pt_regs(task);

	a->pid = task->tgid;
	a->tid = task->pid;
	a->exec_ns = task->se.sum_exec_runtime;
	a->pc = entry->ip;
	a->sp = entry->sp;
	a->fp = entry->bp;
	a->rax = entry->ax;
	a->rbx = entry->bx;
	a->r10 = entry->r10;
	a->r13 = entry->r13;
	a->thread_pointer = task->thread.fsbase;
	returns_note(a, task);
}

struct asleep_scratch {
	struct braid_asleep_call call;
	struct object object;
};

/* One iterator runs at a time. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct asleep_scratch);
} asleep_scratches SEC(".maps");

/* call_polled() of a thread that is off the CPU. */
static __always_inline __u32 asleep_polled(struct task_struct *task, struct pt_regs *entry)
{
	__s32 fd;

	if (!call_polls_one(entry) || bpf_copy_from_user_task(&fd, sizeof(fd), (const void *)entry->di, task, 0) ||
	    fd < 0)
		return 0;
	return (__u32)fd + 1;
}

static __always_inline void asleep_note_object(struct asleep_scratch *s, struct task_struct *task,
					       const struct braid_thread_time *t)
{
	__u32 polled = t->now.polled, flags = t->now.flags;

	if (BRAID_OFFCPU_CLASS(flags) == BRAID_OFFCPU_RUNNABLE)
		return;
	/* Of one that was found asleep, nobody could read it. */
	if (!polled && flags & BRAID_OFFCPU_BEFORE)
		polled = asleep_polled(task, (struct pt_regs *)bpf_task_pt_regs(task));
	object_of_call(&s->object, task, flags & BRAID_OFFCPU_SYSCALL, polled);
	s->call.number = s->object.number;
	s->call.object = s->object.kind;
	s->call.class = s->object.class;
	__builtin_memcpy(s->call.text, s->object.text, sizeof(s->call.text));
}

SEC("iter.s/task") /* it reads the thread's memory */
int on_thread_asleep(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	const struct braid_thread_time *t;
	struct asleep_scratch *s;
	__u32 tid, zero = 0;

	if (!task || (task->flags & PF_EXITING) || !task_has_user_stack(task))
		return 0;
	tid = task->pid;
	t = thread_time_of(tid);
	/* One that has run since its interval began is not in it any more. */
	if (!t || !t->now.start_ns || t->exec_ns != task->se.sum_exec_runtime)
		return 0;
	s = bpf_map_lookup_elem(&asleep_scratches, &zero);
	if (!s)
		return 0;
	__builtin_memset(s, 0, sizeof(*s));
	s->call.asleep.flags = t->now.flags;
	asleep_note(&s->call.asleep, task);
	asleep_note_object(s, task, t);
	bpf_seq_write(ctx->meta->seq, &s->call, sizeof(s->call));
	return 0;
}

#endif
