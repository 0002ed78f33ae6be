// SPDX-License-Identifier: Apache-2.0
#include "offcpu_events.h"

#include "jvm_emit.h"
#include "vthread_times.h"
#include "vthreads.h"
#include "kernel/kernel_side.h"
#include "proc/procfs.h"
#include "process/processes.h"

#include <braid/interval.h>

#include <string.h>

/* One OS thread can be several Java threads in turn. Its CPU time before this one belongs to the earlier one. */
static void leave_to_earlier(const struct thread *t, struct trace_jvm_event *e)
{
	e->value -= t->java_cpu_ns < e->value ? t->java_cpu_ns : e->value;
	e->weight -= t->java_system_ns < e->weight ? t->java_system_ns : e->weight;
	if (e->weight > e->value)
		e->weight = e->value;
}

bool offcpu_end_known(struct jvms *jvms, struct process *process, const struct braid_event_jvm_event *e)
{
	const struct thread *t = threads_at(jvms->threads, process, (pid_t)e->tid, e->hdr.time_ns);

	return !t || (t->flags & TRACE_THREAD_JAVA && !t->java_runs);
}

bool offcpu_ended(struct jvms *jvms, struct thread *thread, const char *comm, struct trace_jvm_event *e)
{
	if (thread->flags & TRACE_THREAD_JAVA && !thread->java_runs)
		return false;
	/* The thread was seen too late to read its name. */
	if (*comm && strcmp(thread->comm, comm) != 0)
		processes_comm(jvms->processes, thread->process->pid, thread->tid, comm);
	leave_to_earlier(thread, e);
	return true;
}

void offcpu_note_nap(struct thread *t, const struct trace_jvm_event *e)
{
	bool nap = e->kind == BRAID_JVM_OFFCPU && e->flags & BRAID_OFFCPU_IRQ && !e->other;

	if (nap && e->node && t->nap_node == e->node)
		return;
	t->nap_node = nap ? e->node : 0;
	t->nap_ns = e->time_ns;
}

/* ---- the end ---- */

struct ending {
	struct jvms *jvms;
	uint64_t time_ns;
	asleep_known_fn known;
	void *ctx;
};

/* The class of a file is known better when it is looked up. */
static uint32_t flags_of(const struct braid_interval *i, const struct asleep_known *known)
{
	uint32_t class = BRAID_OFFCPU_CLASS(i->flags);

	if (known->looked)
		return i->flags | BRAID_OFFCPU_LOOKED;
	if (!known->class || class < BRAID_OFFCPU_SOCKET || class > BRAID_OFFCPU_FILE)
		return i->flags;
	return (i->flags & ~(0xfU << BRAID_OFFCPU_CLASS_SHIFT)) | known->class << BRAID_OFFCPU_CLASS_SHIFT;
}

/* Its waker is not known. One that has not ended has no waker, but what it waits for may have an owner. */
static void emit_interval(struct ending *end, struct process *process, struct thread *thread,
			  const struct braid_interval *i, struct asleep_known known)
{
	struct trace_jvm_event e = {.kind = BRAID_JVM_OFFCPU,
				    .time_ns = i->start_ns,
				    .duration_ns = i->end_ns - i->start_ns,
				    .thread = thread->id,
				    .node = known.node,
				    .name = known.object,
				    .value = braid_interval_ready(i),
				    .weight = (uint64_t)i->to << 32 | i->from,
				    .number = known.number ?: i->futex,
				    .flags = flags_of(i, &known),
				    .vthread = vthreads_id(end->jvms->vthreads, process, i->vthread),
				    .span = known.span,
				    .other = known.owner,
				    .other_vthread = known.owner_vthread,
				    .source = BRAID_SOURCE_KERNEL};

	jvm_events_emit(end->jvms, process, &e);
	if (!known.is_lock)
		return;
	e.kind = BRAID_JVM_LOCK;
	if (!known.is_parked && e.node && thread->nap_node == e.node) {
		e.time_ns = thread->nap_ns;
		e.duration_ns = i->end_ns - thread->nap_ns;
	}
	e.flags = BRAID_LOCK_OPEN | (known.is_parked ? BRAID_LOCK_PARKED : 0);
	e.value = e.weight = e.number = 0;
	jvm_events_emit(end->jvms, process, &e);
}

static void emit_counted(struct ending *end, struct process *process, struct thread *thread,
			 const struct braid_thread_time *t)
{
	for (uint32_t class = 0; class < BRAID_OFFCPU_CLASSES; class ++)
		if (t->counted[class] | t->counted_ns[class])
			jvm_events_emit(end->jvms, process,
					&(struct trace_jvm_event){.kind = BRAID_JVM_COUNTED,
								  .time_ns = end->time_ns,
								  .thread = thread->id,
								  .number = BRAID_JVM_OFFCPU,
								  .value = t->counted[class],
								  .weight = t->counted_ns[class],
								  .flags = class << BRAID_OFFCPU_CLASS_SHIFT,
								  .source = BRAID_SOURCE_KERNEL});
}

static void emit_time(struct ending *end, struct process *process, struct thread *thread,
		      const struct braid_thread_time *t)
{
	if (t->since_ns)
		jvm_events_emit(end->jvms, process,
				&(struct trace_jvm_event){.kind = BRAID_JVM_THREAD_TIME,
							  .time_ns = t->since_ns,
							  .duration_ns = end->time_ns - t->since_ns,
							  .thread = thread->id,
							  .value = t->run_ns,
							  .weight = t->ready_ns,
							  .source = BRAID_SOURCE_KERNEL});
}

/* What a thread is in when the recording ends. */
static void emit_open(struct ending *end, struct process *process, struct thread *thread, struct braid_thread_time *t)
{
	t->now.end_ns = end->time_ns;
	t->now.flags |= BRAID_OFFCPU_OPEN;
	t->now.to = t->now.from;
	t->now.ready_ns = t->now.ready_ns ?: end->time_ns;
	t->ready_ns += braid_interval_ready(&t->now);
	if (braid_offcpu_selects(kernel_side_offcpu_filter(end->jvms->kernel), t, &t->now, true))
		emit_interval(end, process, thread, &t->now, end->known(end->ctx, process, t->tid));
	else
		braid_interval_count(t, &t->now);
}

/* Its process may have ended without a report of that which could be read. */
static void emit_thread(void *ctx, struct braid_thread_time *t)
{
	struct ending *end = ctx;
	struct jvms *jvms = end->jvms;
	struct process *process = processes_get(jvms->processes, (pid_t)t->pid, end->time_ns);
	struct thread *thread =
		process && !process->ended_ns ? threads_at(jvms->threads, process, (pid_t)t->tid, end->time_ns) : NULL;

	if (!thread || t->since_ns >= end->time_ns)
		return;
	if (t->pending.start_ns && t->pending.selected)
		emit_interval(end, process, thread, &t->pending, (struct asleep_known){0});
	else if (t->pending.start_ns)
		braid_interval_count(t, &t->pending);
	if (t->now.start_ns && t->now.start_ns < end->time_ns)
		emit_open(end, process, thread, t);
	if (t->on_ns && t->on_ns < end->time_ns)
		t->run_ns += end->time_ns - t->on_ns;
	vthread_times_carried(jvms, process, t, end->time_ns);
	emit_counted(end, process, thread, t);
	emit_time(end, process, thread, t);
}

static void emit_thread_times(struct ending *end)
{
	uint64_t stopped_ns = kernel_side_followed_until(end->jvms->kernel);
	struct ending stopped = {.jvms = end->jvms, .time_ns = stopped_ns, .known = end->known, .ctx = end->ctx};

	kernel_side_each_thread(end->jvms->kernel, emit_thread, &stopped);
	vthread_times_end(end->jvms, BRAID_MAX_JVMS, stopped_ns);
}

static void emit_cpu(void *ctx, pid_t pid, pid_t tid)
{
	struct ending *end = ctx;
	struct jvms *jvms = end->jvms;
	struct process *process = processes_find(jvms->processes, pid, end->time_ns);
	struct thread *thread = process ? threads_at(jvms->threads, process, tid, end->time_ns) : NULL;
	struct trace_jvm_event e = {
		.kind = BRAID_JVM_THREAD_CPU, .time_ns = end->time_ns, .source = BRAID_SOURCE_KERNEL};
	uint64_t cpu_ns, kernel_ns;

	if (!thread || procfs_cpu_ns(pid, tid, &cpu_ns, &kernel_ns))
		return;
	e.thread = thread->id;
	e.value = cpu_ns;
	e.weight = kernel_ns;
	leave_to_earlier(thread, &e);
	jvm_events_emit(jvms, process, &e);
}

static void emit_threads(void *ctx, struct process *process)
{
	if (process->jvm && !process->ended_ns)
		(void)procfs_threads(process->pid, emit_cpu, ctx); /* it may have ended by now */
}

void offcpu_finish(struct jvms *jvms, asleep_known_fn known, void *ctx)
{
	struct ending end = {.jvms = jvms, .time_ns = now_ns(), .known = known, .ctx = ctx};

	emit_thread_times(&end);
	if (jvms->options->config.enabled & BRAID_EVENT_TYPE(THREAD))
		processes_each(jvms->processes, emit_threads, &end);
}
