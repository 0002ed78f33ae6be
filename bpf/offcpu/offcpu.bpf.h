// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Programs for threads off the CPU: since when, why, on which stack, since when they could run again, and who woke them
 * (waking.bpf.h). Each thread walks its own stack: the waker when it wakes, the sleeper when its system call ends, and
 * only for long times.
 */
#ifndef BRAID_OFFCPU_BPF_H
#define BRAID_OFFCPU_BPF_H

#include "offcpu_emit.bpf.h"
#include "offcpu_filter.bpf.h"
#include "queued.bpf.h"
#include "steady.bpf.h"
#include "thread_time.bpf.h"
#include "why.bpf.h"

/* ---- off the CPU, and on it again ---- */

/* braid_thread_time.started, beside 0 */
enum { STARTED_WHOLE = 1, STARTED_IN_PART };

/* Nobody asks who ends the current interval, so the kernel's own account says since when the thread can run again. */
static __always_inline bool offcpu_asks_queue(const struct braid_thread_time *t)
{
	return queues_noted && stacks_at_start && t->started && t->waker_min_ns == NEVER;
}

static __always_inline void offcpu_start_in_part(struct braid_thread_time *t)
{
	struct braid_offcpu_counts *c = counts_get();

	t->started = STARTED_IN_PART;
	if (c)
		__sync_fetch_and_add(&c->in_part, 1);
}

/* Whether the interval that begins will have room; otherwise it is only counted. */
static __always_inline bool offcpu_start_room(struct braid_thread_time *t, __u64 now)
{
	if (sums_expected(t, now) || jvm_event_room(t->pid, BRAID_JVM_OFFCPU))
		return true;
	t->min_ns = t->waker_min_ns = NEVER;
	return false;
}

/* Whether what is to be walked for has room. A loss is only one if an event is due now. */
static __always_inline bool offcpu_walk_room(const struct braid_thread_time *t)
{
	return t->pending.start_ns && t->pending.selected ? jvm_event_room(t->pid, BRAID_JVM_OFFCPU)
							  : events_room(t->pid);
}

/* What becomes of an interval besides a LOCK. */
enum offcpu_fate { OFFCPU_COUNTED, OFFCPU_ADDED, OFFCPU_EMITTED };

static __always_inline enum offcpu_fate offcpu_fate(struct braid_thread_time *t)
{
	if (t->pending.flags & BRAID_OFFCPU_SHORT)
		return OFFCPU_ADDED;
	if (!t->pending.selected)
		return OFFCPU_COUNTED;
	return sums_wanted(t, &t->pending) ? OFFCPU_ADDED : OFFCPU_EMITTED;
}

/*
 * Takes a stack that is not available later: `starts` for the interval that begins, `walks` for others. The walk needs
 * most of the 512 bytes of stack that older kernels give.
 */
static __always_inline void offcpu_switch_stack(void *ctx, struct braid_thread_time *t, const struct braid_process *p,
						struct task_struct *task, struct pt_regs *entry, bool starts,
						bool walks, __u64 now)
{
	bool adds = t->pending.start_ns && offcpu_fate(t) == OFFCPU_ADDED, room = true;
	__u32 key = 0;

	t->start = (struct braid_stack_ref){0};
	if (task_has_user_stack(task))
		key = offcpu_stack_again(p, task, entry, REUSE_SLEEPER, &t->start);
	if (key == STACK_REUSED) {
		reuse_note_same(thread_reuse_key(task, entry, REUSE_SLEEPER), task, entry, now);
	} else {
		starts = starts && offcpu_start_room(t, now);
		room = starts || adds || (walks && offcpu_walk_room(t));
		if (room && task_has_user_stack(task) && offcpu_stack_walk(p, task, key, &t->start) && starts)
			offcpu_start_in_part(t);
		if (room && task_stays_in_kernel(task))
			offcpu_kernel_stack(ctx, p, &t->start);
	}
	if (!t->pending.start_ns)
		return;
	if (adds && !stack_is_passing(&t->start))
		offcpu_sum_pending(t, &t->start);
	else if (room && t->pending.selected)
		offcpu_emit_pending(t, &t->start);
	else
		offcpu_count_pending(t);
}

/* Sets the limits of the interval that begins. Returns true if its stack is to be taken. */
static __always_inline bool offcpu_start(struct braid_thread_time *t, const struct braid_process *p)
{
	const struct braid_offcpu_limits *l = limits_of(p);

	if (!l || l->min_ns == NEVER)
		return false;
	t->min_ns = l->min_ns;
	t->waker_min_ns = offcpu_sums == BRAID_SUMS_ALWAYS ? NEVER : l->waker_min_ns;
	return true;
}

/*
 * Follows the current thread from now on, if it is to be followed. Returns the place of its entry, or 0. A global
 * function: the verifier checks it once, and what comes after it only for one outcome.
 */
__noinline __u32 offcpu_follow(__u32 place, bool ready, __u64 now)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct braid_thread_time *t = thread_time_at(place);
	__u32 tgid = task->tgid, tid = task->pid;
	const struct braid_offcpu_limits *l;
	struct braid_process *p;

	if (task->flags & PF_EXITING) /* its time has been reported */
		return place;
	p = bpf_map_lookup_elem(&processes, &tgid);
	l = limits_of(p);
	if (!limits_follow(l) || (ready && !l->all))
		return 0;
	if (!t) {
		t = thread_time_new(process_slot(p), process_user(p), tgid, tid, &place);
		t = t ? thread_time_publish(t, place) : NULL;
		place = thread_place(tid);
	}
	if (t && l->all) {
		thread_emit_before(t, now);
		t->since_ns = t->on_ns = now;
	}
	return place;
}

/* The entry of the current thread, at `place` if it has one; NULL: it is not followed. */
static __always_inline struct braid_thread_time *offcpu_own(__u32 place, bool ready, __u64 now)
{
	struct braid_thread_time *t = thread_time_at(place);

	if (t && t->since_ns)
		return t;
	return thread_time_at(offcpu_follow(place, ready, now));
}

/* The thread can run a program when such an interval has ended, before it goes on. */
static __always_inline bool offcpu_has_end(__u32 flags)
{
	return switch_ends || !interval_without_end(flags);
}

/* Whether the stack has to be taken now; a pending interval was in this same call. */
static __always_inline bool offcpu_walks(const struct braid_thread_time *t, struct task_struct *task, __u32 flags)
{
	const struct braid_offcpu_limits *l;

	if (t->pending.start_ns)
		return true;
	if (stacks_at_start || offcpu_has_end(flags) || !(task_has_user_stack(task) || task_stays_in_kernel(task)))
		return false;
	l = limits_of_pid(t->pid);
	return l && l->min_ns != NEVER;
}

/* Whether the current interval, which is too short for an event, is added up. Sums have no virtual thread. */
static __always_inline bool now_is_summed_short(struct braid_thread_time *t)
{
	if (!offcpu_sums_short || !t->since_ns || t->now.vthread)
		return false;
	return !offcpu_filtered || (filter_may_select_alike(t) && filter_selects(t, &t->now));
}

/*
 * Adds the current interval, which is too short for an event, to the sum of its stack, or keeps it until its thread can
 * walk that. False: it is to be counted.
 */
static __always_inline bool offcpu_ended_short(struct braid_thread_time *t, bool late)
{
	if (!now_is_summed_short(t))
		return false;
	t->now.flags |= BRAID_OFFCPU_SHORT;
	if (!late && offcpu_has_end(t->now.flags))
		pending_set(t, &t->now);
	else if (t->start.generation)
		sum_add(t, &t->now, &t->start);
	else
		return false;
	return true;
}

/* Emits the current interval without its object: the thread may be in another call. */
static __noinline void offcpu_emit_late(struct braid_thread_time *t, __u32 tid)
{
	struct braid_event_jvm_event *e = offcpu_begin(t, tid, &t->now, &t->start, bpf_ktime_get_ns());

	if (e)
		bpf_ringbuf_submit(e, events_wake());
	else
		interval_count(t, &t->now);
}

/*
 * Emits, keeps or counts the interval that ends, and which is long enough for some process. `late`: its thread has run
 * since, perhaps left its system call. `again`: a thread that comes back can take its stack itself; otherwise the
 * collector has it. Returns true if the caller has to emit the interval.
 */
static __always_inline bool offcpu_ended(struct braid_thread_time *t, __u32 tid, bool late, bool again)
{
	const struct braid_offcpu_limits *l = limits_of_pid(t->pid);
	__u64 ns = t->now.end_ns - t->now.start_ns;
	bool park, known;

	if (!l)
		return false;
	known = stacks_at_start && !late && !again && t->now.flags & BRAID_OFFCPU_BEFORE;
	late |= stacks_at_start && !(t->now.flags & BRAID_OFFCPU_BEFORE);
	park = !late && l->locks && offcpu_is_park(&t->now, l, ns);
	t->now.selected = interval_is_selected(t, &t->now, l);
	if (l->min_ns == NEVER) {
		if (park)
			pending_set(t, &t->now);
		else if (t->since_ns)
			interval_count(t, &t->now);
	} else if (!t->now.selected && offcpu_ended_short(t, late)) {
		return false;
	} else if (!t->now.selected && !park) {
		interval_count(t, &t->now);
	} else if (known) {
		return true;
	} else if (!late && offcpu_has_end(t->now.flags)) {
		pending_set(t, &t->now);
	} else if (t->start.generation && sums_wanted(t, &t->now)) {
		sum_add(t, &t->now, &t->start);
	} else {
		offcpu_emit_late(t, tid);
	}
	return false;
}

/* The same for an interval whose stack was taken at its start. With `again`, one that is not whole is taken again. */
static __always_inline bool offcpu_ended_started(struct braid_thread_time *t, __u32 tid, bool late, bool again)
{
	if (again && !late && t->started == STARTED_IN_PART && offcpu_has_end(t->now.flags)) {
		t->now.selected = 1;
		pending_set(t, &t->now);
	} else if (t->start.generation && sums_wanted(t, &t->now)) {
		sum_add(t, &t->now, &t->start);
	} else if (late) {
		offcpu_emit_late(t, tid);
	} else {
		return true;
	}
	return false;
}

/* The current interval ends, whatever becomes of it. */
static __always_inline void offcpu_close(struct braid_thread_time *t, __u64 end)
{
	end = later(end, t->now.start_ns);
	t->now.end_ns = end;
	t->now.to = bpf_get_smp_processor_id();
	if (!t->now.ready_ns)
		interval_unwoken(t);
	t->early_ns = 0;
	if (t->since_ns) {
		t->on_ns = end;
		t->ready_ns += braid_interval_ready(&t->now);
	}
}

/* The current interval, which has ended, is too short for all processes, or not selected. */
static __always_inline bool offcpu_is_counted(const struct braid_thread_time *t,
					      const struct braid_offcpu_settings *settings)
{
	__u64 least = stacks_at_start && t->started ? t->min_ns : settings->least_ns;

	return t->now.end_ns - t->now.start_ns < least;
}

/*
 * Decides what becomes of the current interval, which has ended and is long enough for some process. Returns true if
 * the caller has to emit it, and to clear it then. A global function: the verifier checks it once, and not at each
 * call.
 */
__noinline int offcpu_end_long(struct braid_thread_time *t, __u32 tid, bool late)
{
	struct braid_offcpu_settings *settings = settings_get();
	bool again = settings && settings->ends, emits;

	if (!t)
		return 0;
	if (!stacks_at_start || !t->started)
		emits = offcpu_ended(t, tid, late, again);
	else
		emits = offcpu_ended_started(t, tid, late, again);
	if (!emits)
		t->now.start_ns = 0;
	return emits;
}

/* Ends the current interval. Returns what offcpu_end_long() does. Most intervals are counted, which takes no call. */
static __always_inline bool offcpu_end(struct braid_thread_time *t, __u32 tid, __u64 end, bool late)
{
	const struct braid_offcpu_settings *settings = settings_get();

	offcpu_close(t, end);
	if (stacks_at_start && t->started == STARTED_WHOLE && settings && sum_add_again(t, settings))
		return false;
	if (t->now.flags & BRAID_OFFCPU_BEFORE)
		offcpu_before(-1);
	if (settings && !offcpu_is_counted(t, settings))
		return offcpu_end_long(t, tid, late);
	if (!offcpu_ended_short(t, late))
		braid_interval_count(t, &t->now);
	t->now.start_ns = 0;
	return false;
}

/*
 * Nothing has reported that the thread came back to the CPU, but the kernel knows how long it has run since. A global
 * function: the verifier checks it once.
 */
__noinline int offcpu_end_missed(struct braid_thread_time *t, __u32 tid, __u64 exec, __u64 now)
{
	__u64 ran, most;

	if (!t)
		return 0;
	ran = exec - t->exec_ns;
	most = now - t->now.start_ns;
	if (!(stacks_at_start && t->started) && offcpu_has_end(t->now.flags))
		t->start = (struct braid_stack_ref){0};
	offcpu_end(t, tid, now - (ran < most ? ran : most), true);
	return 0;
}

/* Nothing has reported that the thread left the CPU; why it did is not known. */
static __always_inline void offcpu_begin_missed(struct braid_thread_time *t, __u64 exec, __u64 now)
{
	__u64 ran = exec - t->exec_ns, most = now - t->on_ns, start = t->on_ns + (ran < most ? ran : most);

	t->start = (struct braid_stack_ref){0};
	steady_forget(t);
	t->started = 0;
	t->now = (struct braid_interval){.start_ns = start,
					 .ready_ns = now,
					 .flags = BRAID_OFFCPU_SYSCALL,
					 .from = bpf_get_smp_processor_id(),
					 .vthread = t->vthread};
	thread_time_ran(t, start);
}

/* Finds all that is to be known of the interval that begins. */
static __always_inline void offcpu_find(void *ctx, struct braid_thread_time *t, struct task_struct *task,
					struct pt_regs *entry, __u32 place, __u32 state, __u64 now)
{
	__u32 flags = offcpu_why(t, task, entry, state, now), tgid = task->tgid;
	bool starts, walks, may, recent = false;
	struct braid_process *p;

	thread_time_ran(t, now);
	t->now = (struct braid_interval){.ready_ns = state ? 0 : now,
					 .futex = offcpu_futex(entry, flags),
					 .flags = flags,
					 .from = bpf_get_smp_processor_id(),
					 .polled = state ? call_polled(entry) : 0,
					 .vthread = t->vthread};
	walks = offcpu_walks(t, task, flags);
	may = stacks_at_start && !(offcpu_filtered && !filter_may_select_alike(t));
	if (stacks_at_start) {
		steady_forget(t);
		recent = may && !walks && steady_stack(t, task, entry, place, now);
		t->started = STARTED_WHOLE;
		if (!recent)
			t->min_ns = t->waker_min_ns = NEVER;
		if (!may && !walks)
			steady_unselected(t, now);
		steady_note(t, entry, state);
	}
	if (!recent && (may || walks)) {
		p = bpf_map_lookup_elem(&processes, &tgid);
		starts = may && offcpu_start(t, p);
		if (starts || walks)
			offcpu_switch_stack(ctx, t, p, task, entry, starts, walks, now);
	}
}

static __always_inline void offcpu_out(void *ctx, struct task_struct *task, __u32 place, __u32 state, __u64 now)
{
	struct braid_thread_time *t = offcpu_own(place, !state, now);
	__u64 exec = task->se.sum_exec_runtime;
	struct pt_regs *entry;

	if (!t)
		return;
	/* What began its life, or has mounted a virtual thread, has read another clock. */
	now = later(now, later(t->on_ns, t->mounted_ns));
	if (t->now.start_ns)
		offcpu_end_missed(t, task->pid, exec, now);
	t->exec_ns = exec;
	if (queues_noted)
		t->delay_ns = task->sched_info.run_delay;
	if (!state && !t->since_ns)
		return;
	if (offcpu_filters_threads)
		filter_see_thread(t, task);
	entry = (struct pt_regs *)bpf_task_pt_regs(task);
	if (stacks_at_start && steady_holds(t, entry, state, now))
		steady_begin(t, state, now);
	else
		offcpu_find(ctx, t, task, entry, place, state, now);
	barrier(); /* the waker reads the limits only after this */
	t->now.start_ns = now;
}

/* Emits the interval that ends with this switch. Its object needs the stack that offcpu_end() has in other calls. */
static __noinline void offcpu_emit_in(struct braid_thread_time *t, struct task_struct *next, __u64 now)
{
	offcpu_emit(t, next, &t->now, &t->start, now);
	t->now.start_ns = 0;
}

static __always_inline void offcpu_in(struct task_struct *next, __u32 place, __u64 now)
{
	struct braid_thread_time *t = thread_time_at(place);
	__u32 tid = next->pid;
	__u64 exec = next->se.sum_exec_runtime;

	if (!t)
		return;
	if (!t->now.start_ns && t->on_ns)
		offcpu_begin_missed(t, exec, now);
	t->exec_ns = exec;
	if (queues_noted && stacks_at_start && t->now.start_ns && !t->now.ready_ns && !t->early_ns)
		t->now.ready_ns = queued_since(t, next, now);
	/* A new thread comes from no switch. */
	if (t->now.start_ns && offcpu_end(t, tid, now, !exec))
		offcpu_emit_in(t, next, now);
}

/* on_switch has not run for the current thread, which comes back, or the recording has ended. */
static __noinline void offcpu_in_missed(struct braid_thread_time *t, __u32 tid)
{
	const struct braid_offcpu_settings *settings = settings_get();
	__u64 now = bpf_ktime_get_ns();

	if (settings && now <= settings->end_ns)
		offcpu_end(t, tid, now, stacks_at_start && (t->started || !settings->ends));
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int state)
{
	const struct braid_offcpu_settings *settings = settings_get();
	__u32 from = thread_place(prev->pid), to = thread_place(next->pid);
	bool leaves = from;
	__u64 now;

	if (!settings)
		return 0;
	if (!leaves && !settings->complete) /* it may have to be followed from now on */
		leaves = !(prev->flags & PF_KTHREAD);
	if (!leaves && !to)
		return 0;
	now = switch_time(next);
	if (now > settings->end_ns)
		return 0;
	if (leaves)
		offcpu_out(ctx, prev, from, preempt ? 0 : state, now);
	if (to)
		offcpu_in(next, to, now);
	return 0;
}

#endif
