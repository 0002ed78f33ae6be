// SPDX-License-Identifier: Apache-2.0
#include "kernel/offcpu.h"

#include "agents/agents.h"
#include "braid.skel.h"
#include "collect/jvm_events.h"
#include "kernel/kernel_side.h"
#include "process/processes.h"
#include "proc/procfs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#define SLEEPERS 32768 /* threads of JVMs at a time */

/*
 * Of a monitor that was fought for the owner is of interest, whatever the least time that sleeps are told of; but where
 * threads hand over every few microseconds, walking a stack each time would cost them more than the lock does.
 */
#define OWNER_MIN_NS 50000ULL

int offcpu_choose(struct braid_bpf *b, const struct braid_choices *c)
{
	bool sleeps = c->wanted & BRAID_WANT(WAIT), wakers = c->wanted & (BRAID_WANT(WAIT) | BRAID_WANT(LOCK));
	int err = bpf_program__set_autoload(b->progs.on_switch, wakers);

	b->rodata->sleep_stacks = sleeps;
	err = err ?: bpf_program__set_autoload(b->progs.on_waking, wakers);
	err = err ?: bpf_program__set_autoload(b->progs.on_syscall_end, sleeps);
	err = err ?: bpf_program__set_autoload(b->progs.on_thread_exit, c->wanted & BRAID_WANT(THREAD));
	return err ?: bpf_map__set_max_entries(b->maps.sleepers, wakers ? SLEEPERS : 1);
}

void offcpu_limits(struct braid_jvm *jvm, const struct braid_choices *c)
{
	uint64_t owner_min = c->lock_min_ns > OWNER_MIN_NS ? c->lock_min_ns : OWNER_MIN_NS;

	jvm->sleep_min_ns = jvm->waker_min_ns = c->wanted & BRAID_WANT(WAIT) ? c->wait_min_ns : UINT64_MAX;
	if (c->wanted & BRAID_WANT(LOCK) && owner_min < jvm->waker_min_ns)
		jvm->waker_min_ns = owner_min;
}

/* What ends a sleep first, so that none that was seen to begin is not seen to end. */
int offcpu_attach(struct braid_bpf *b, struct bpf_link *links[OFFCPU_LINKS])
{
	struct bpf_program *programs[OFFCPU_LINKS] = {b->progs.on_thread_exit, b->progs.on_syscall_end,
						      b->progs.on_waking, b->progs.on_switch};

	for (int i = 0; i < OFFCPU_LINKS; i++) {
		if (!bpf_program__autoload(programs[i]))
			continue;
		links[i] = bpf_program__attach(programs[i]);
		if (!links[i])
			return -errno;
	}
	return 0;
}

void offcpu_detach(struct bpf_link *links[OFFCPU_LINKS])
{
	for (int i = OFFCPU_LINKS; i-- > 0;) {
		bpf_link__destroy(links[i]);
		links[i] = NULL;
	}
}

/* An OS thread can be one Java thread after the other: what it used before is the earlier one's. */
static void leave_to_earlier(const struct thread *t, struct trace_jvm_event *e)
{
	e->value -= t->java_cpu_ns < e->value ? t->java_cpu_ns : e->value;
	e->weight -= t->java_system_ns < e->weight ? t->java_system_ns : e->weight;
	if (e->weight > e->value)
		e->weight = e->value;
}

bool offcpu_ended(struct session *s, struct thread *thread, const char *comm, struct trace_jvm_event *e)
{
	if (!(thread->flags & TRACE_THREAD_JAVA) || thread->java_runs)
		agents_catch_up(s->agents, thread->process); /* which may have its end, and even its start */
	if (thread->flags & TRACE_THREAD_JAVA && !thread->java_runs)
		return false;
	/* One that was seen too late to ask for its name. */
	if (*comm && strcmp(thread->name, comm) != 0)
		processes_comm(s->processes, thread->process->pid, thread->tid, comm);
	leave_to_earlier(thread, e);
	return true;
}

/* ---- the end ---- */

struct ending {
	struct session *session;
	uint64_t time_ns;
};

static void tell_sleep(struct ending *end, struct process *process, struct thread *thread, uint64_t from_ns,
		       uint64_t until_ns, uint32_t flags)
{
	jvm_events_emit(end->session, process,
			&(struct trace_jvm_event){.kind = BRAID_JVM_BLOCKED,
						  .time_ns = from_ns,
						  .duration_ns = until_ns - from_ns,
						  .thread = thread->id,
						  .flags = flags,
						  .source = BRAID_SOURCE_KERNEL});
}

static void tell_sleeper(struct ending *end, uint32_t tid, const struct braid_sleeper *b)
{
	struct session *s = end->session;
	struct process *process = processes_find(s->processes, (pid_t)b->pid, end->time_ns);
	struct thread *thread = process && !process->ended_ns
					? processes_thread_at(s->processes, process, (pid_t)tid, end->time_ns)
					: NULL;

	if (!thread)
		return;
	if (b->counted)
		jvm_events_emit(s, process,
				&(struct trace_jvm_event){.kind = BRAID_JVM_COUNTED,
							  .time_ns = end->time_ns,
							  .thread = thread->id,
							  .number = BRAID_JVM_BLOCKED,
							  .value = b->counted,
							  .weight = b->counted_ns,
							  .source = BRAID_SOURCE_KERNEL});
	if (b->untold_ns)
		tell_sleep(end, process, thread, b->untold_ns, b->untold_until_ns, b->flags);
	if (b->start_ns && b->start_ns < end->time_ns)
		tell_sleep(end, process, thread, b->start_ns, end->time_ns, b->flags | BRAID_BLOCKED_OPEN);
}

static void tell_sleepers(struct ending *end)
{
	int fd = kernel_side_sleepers(end->session->kernel);
	uint32_t tid, next, *at = NULL;
	struct braid_sleeper b;

	while (fd >= 0 && !bpf_map_get_next_key(fd, at, &next)) {
		tid = next;
		at = &tid;
		if (!bpf_map_lookup_elem(fd, at, &b))
			tell_sleeper(end, tid, &b);
	}
}

static void tell_cpu(void *ctx, pid_t pid, pid_t tid)
{
	struct ending *end = ctx;
	struct session *s = end->session;
	struct process *process = processes_find(s->processes, pid, end->time_ns);
	struct thread *thread = process ? processes_thread_at(s->processes, process, tid, end->time_ns) : NULL;
	struct trace_jvm_event e = {
		.kind = BRAID_JVM_THREAD_CPU, .time_ns = end->time_ns, .source = BRAID_SOURCE_KERNEL};
	uint64_t cpu_ns, kernel_ns;

	if (!thread || procfs_cpu_ns(pid, tid, &cpu_ns, &kernel_ns))
		return;
	e.thread = thread->id;
	e.value = cpu_ns;
	e.weight = kernel_ns;
	leave_to_earlier(thread, &e);
	jvm_events_emit(s, process, &e);
}

static void tell_threads(void *ctx, struct process *process)
{
	if (process->jvm && !process->ended_ns)
		(void)procfs_threads(process->pid, tell_cpu, ctx); /* it may be gone by now */
}

void offcpu_finish(struct session *s)
{
	struct ending end = {.session = s, .time_ns = now_ns()};

	tell_sleepers(&end);
	if (s->options->choices.wanted & BRAID_WANT(THREAD))
		processes_each(s->processes, tell_threads, &end);
}
