// SPDX-License-Identifier: Apache-2.0
#include "offcpu_events.h"

#include "jvm_emit.h"
#include "kernel/kernel_side.h"
#include "proc/procfs.h"
#include "process/processes.h"

#include <bpf/bpf.h>
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
	if (*comm && strcmp(thread->name, comm) != 0)
		processes_comm(jvms->processes, thread->process->pid, thread->tid, comm);
	leave_to_earlier(thread, e);
	return true;
}

/* ---- the end ---- */

struct ending {
	struct jvms *jvms;
	uint64_t time_ns;
};

static void emit_sleep(struct ending *end, struct process *process, struct thread *thread, uint64_t from_ns,
		       uint64_t until_ns, uint32_t flags)
{
	jvm_events_emit(end->jvms, process,
			&(struct trace_jvm_event){.kind = BRAID_JVM_OFFCPU,
						  .time_ns = from_ns,
						  .duration_ns = until_ns - from_ns,
						  .thread = thread->id,
						  .flags = flags,
						  .source = BRAID_SOURCE_KERNEL});
}

static void emit_sleeper(struct ending *end, uint32_t tid, const struct braid_sleeper *b)
{
	struct jvms *jvms = end->jvms;
	struct process *process = processes_find(jvms->processes, (pid_t)b->pid, end->time_ns);
	struct thread *thread =
		process && !process->ended_ns ? threads_at(jvms->threads, process, (pid_t)tid, end->time_ns) : NULL;

	if (!thread)
		return;
	if (b->counted)
		jvm_events_emit(jvms, process,
				&(struct trace_jvm_event){.kind = BRAID_JVM_COUNTED,
							  .time_ns = end->time_ns,
							  .thread = thread->id,
							  .number = BRAID_JVM_OFFCPU,
							  .value = b->counted,
							  .weight = b->counted_ns,
							  .source = BRAID_SOURCE_KERNEL});
	if (b->pending_ns)
		emit_sleep(end, process, thread, b->pending_ns, b->pending_until_ns, b->flags);
	if (b->start_ns && b->start_ns < end->time_ns)
		emit_sleep(end, process, thread, b->start_ns, end->time_ns, b->flags | BRAID_OFFCPU_OPEN);
}

static void emit_sleepers(struct ending *end)
{
	int fd = kernel_side_sleepers(end->jvms->kernel);
	uint32_t tid, next, *at = NULL;
	struct braid_sleeper b;

	while (fd >= 0 && !bpf_map_get_next_key(fd, at, &next)) {
		tid = next;
		at = &tid;
		if (!bpf_map_lookup_elem(fd, at, &b))
			emit_sleeper(end, tid, &b);
	}
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

void offcpu_finish(struct jvms *jvms)
{
	struct ending end = {.jvms = jvms, .time_ns = now_ns()};

	emit_sleepers(&end);
	if (jvms->options->config.enabled & BRAID_EVENT_TYPE(THREAD))
		processes_each(jvms->processes, emit_threads, &end);
}
