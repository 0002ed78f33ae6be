// SPDX-License-Identifier: Apache-2.0
/*
 * Samples and events from the kernel side: finds their processes and threads, resolves their stacks and emits them.
 * session.h declares the entry point.
 */
#include "session.h"

#include "before.h"
#include "deferred.h"
#include "deferred_wait.h"
#include "dump.h"
#include "hit_events.h"
#include "hit_values.h"
#include "stacks.h"
#include "agents/agents.h"
#include "jvm/jvm.h"
#include "jvm/jvm_events.h"
#include "jvm/layouts.h"
#include "jvm/vthreads.h"
#include "kernel/kernel_side.h"
#include "process/modules.h"
#include "process/processes.h"
#include "process/sideband.h"
#include "process/spans.h"
#include "sink/records.h"

#include <braid/frame.h>
#include <braid/probe.h>

#include <stdlib.h>
#include <string.h>

#define FILES_WAIT_NS 200000000ULL

static void read_sideband(struct session *s)
{
	s->sideband_ns = now_ns();
	sideband_read(s->sideband);
}

/*
 * The side-band is read again if it may have newer reports about the process: it is unknown, or the sample is younger
 * than the last read.
 */
static struct process *process_of(struct session *s, const struct braid_event_sample *e)
{
	struct process *process = processes_find(s->processes, (pid_t)e->pid, e->hdr.time_ns);

	if (!process || e->hdr.time_ns > s->sideband_ns)
		read_sideband(s);
	return processes_get(s->processes, (pid_t)e->pid, e->hdr.time_ns);
}

static void receive_sample(struct session *s, struct process *process, const struct braid_event_sample *e)
{
	struct thread *thread;
	bool complete;
	uint32_t node, vthread;

	thread = process ? threads_at(s->threads, process, (pid_t)e->tid, e->hdr.time_ns) : NULL;
	if (!thread) {
		sink_loss(&s->sink, process ? process->id : 0, "collector", "sample", 1);
		return;
	}
	node = stacks_node(s->stacks, process, e, &complete);
	if (!node)
		sink_loss(&s->sink, process->id, "collector", "stack", 1);
	dump_sample(s->dump, thread, node);
	vthread = vthreads_id(s->vthreads, process, e->vthread);
	s->samples++;
	s->complete += complete;
	sink_sample(&s->sink, &(struct trace_sample){.time_ns = e->hdr.time_ns,
						     .thread = thread->id,
						     .cpu = e->cpu,
						     .node = node,
						     .weight = 1,
						     .vthread = vthread,
						     .event = hit_events_id(s, e->event),
						     .span = spans_id(s->spans, process, e->span),
						     .text = hit_events_values(s, e)});
}

/*
 * Whether it was walked before a change of the process's mappings was known: then none of its addresses can be trusted.
 */
static bool is_stale(const struct process *process, const struct braid_event_sample *e)
{
	return process && !process_layout_known(process, e->generation, e->hdr.time_ns);
}

/* A stack that other events refer to. Stale ones are dropped, as no event refers to them. */
static void receive_stack(struct session *s, const struct braid_event_sample *e)
{
	struct process *process = process_of(s, e);
	bool complete;

	if (process && !is_stale(process, e) && !stacks_node(s->stacks, process, e, &complete))
		sink_loss(&s->sink, process->id, "collector", "stack", 1);
}

static void receive_stale(struct session *s, struct process *process, const struct braid_event_sample *e)
{
	struct {
		struct braid_event_sample event;
		uint64_t frame;
	} end = {.event = *e, .frame = (uint64_t)BRAID_FRAME_END << 60 | BRAID_END_NO_MAPPING};

	end.event.frame_count = 1;
	end.event.stack = BRAID_END_NO_MAPPING;
	receive_sample(s, process, &end.event);
}

/* How long a deferred sample has been waiting for unwind tables. */
enum waited { NOT_YET, STILL, TOO_LONG };

/* Walks the stack and emits the sample. False: it waits, in s->deferred_wait. */
static bool take_deferred(struct session *s, const struct braid_event_deferred *e, enum waited waited)
{
	struct deferred_sample *out = calloc(1, sizeof(*out));
	struct process *process;
	bool complete, waits = false;

	if (!out) {
		sink_loss(&s->sink, 0, "collector", "sample", 1);
		return true;
	}
	out->event = (struct braid_event_sample){.hdr = e->hdr, .pid = e->pid, .event = e->event};
	process = process_of(s, &out->event);
	if (process) {
		layouts_find(&s->jvms, process);
		complete = deferred_unwind(s, process, e, false, out);
		waits = out->early &&
			(waited == STILL || (waited == NOT_YET && deferred_wait_put(&s->deferred_wait, e, now_ns())));
		if (!waits)
			processes_unwound_deferred(s->processes, process, complete);
	}
	if (!waits) {
		out->event.span = e->span;
		receive_sample(s, process, &out->event);
		s->deferred++;
	}
	free(out);
	return !waits;
}

static bool take_waiting(void *ctx, const struct braid_event_deferred *e, bool last)
{
	return take_deferred(ctx, e, last ? TOO_LONG : STILL);
}

static void receive_method(struct session *s, const struct braid_event_method *e)
{
	struct process *process = processes_get(s->processes, (pid_t)e->pid, e->hdr.time_ns);

	if (process && process->jvm)
		jvm_method_seen(process->jvm, e);
}

static void receive_vthread(struct session *s, const struct braid_event_vthread *e)
{
	struct process *process = processes_get(s->processes, (pid_t)e->pid, e->hdr.time_ns);

	if (process)
		vthreads_seen(s->vthreads, process, e);
}

static void receive_span(struct session *s, const struct braid_event_span *e)
{
	struct process *process = processes_get(s->processes, (pid_t)e->pid, e->hdr.time_ns);

	if (process && e->hdr.size >= sizeof(*e))
		(void)spans_seen(s->spans, process, e);
}

/* One read of the ring. It stops at an event that refers to records still in its JVM's ring. */
struct reading {
	struct session *session;
	struct process *process; /* the process of the waiting event; NULL: none waits */
	union {
		struct braid_event_jvm_event event;
		struct braid_event_compile compile;
	} waits;
};

static uint32_t node_of(struct session *s, struct process *process, const struct braid_event_jvm_event *e)
{
	uint32_t node;

	if (!e->stack)
		return 0;
	/* The stack was walked before a change of the mappings was known. */
	if (!process_layout_known(process, e->generation, e->hdr.time_ns))
		return stacks_end(s->stacks, process, BRAID_END_NO_MAPPING, e->hdr.time_ns);
	node = stacks_known(s->stacks, process, e->stack);
	if (!node)
		sink_loss(&s->sink, process->id, "collector", "stack", 1);
	return node;
}

static void receive_event(struct session *s, struct process *process, const struct braid_event_jvm_event *e)
{
	const struct process *other = e->other_stack ? jvm_events_other(&s->jvms, process, e) : NULL;
	bool before = e->event.kind == BRAID_JVM_OFFCPU && !e->stack && e->event.flags & BRAID_OFFCPU_BEFORE;
	struct asleep_known known = before ? before_known(s->before, process, e->tid) : (struct asleep_known){0};
	const struct event_nodes nodes = {
		.own = before ? known.node : node_of(s, process, e),
		.span = known.span,
		.object = known.object,
		.other = other ? stacks_known(s->stacks, other, e->other_stack) : 0,
	};

	jvm_events_receive(&s->jvms, process, e, &nodes);
}

void session_add_event(struct session *s, const struct braid_event_jvm_event *e)
{
	struct process *process = processes_get(s->processes, (pid_t)e->pid, e->hdr.time_ns);

	if (process)
		receive_event(s, process, e);
	else
		sink_loss(&s->sink, 0, "collector", "jvm_event", 1);
}

/* False: the event waits. */
static bool receive_jvm_event(struct reading *r, const struct braid_event_jvm_event *e)
{
	struct session *s = r->session;
	struct braid_event_sample like = {.hdr = e->hdr, .pid = e->pid};
	struct process *process = process_of(s, &like);

	if (!process) {
		sink_loss(&s->sink, 0, "collector", "jvm_event", 1);
	} else if (e->hdr.size > sizeof(r->waits) || jvm_events_ready(&s->jvms, process, e)) {
		receive_event(s, process, e);
	} else {
		r->process = process;
		memcpy(&r->waits, e, e->hdr.size);
	}
	return !r->process;
}

static bool on_event(void *ctx, const struct braid_event *event)
{
	struct reading *r = ctx;
	struct session *s = r->session;
	const struct braid_event_sample *e = (const void *)event;
	struct process *process;

	if (event->kind == BRAID_EVENT_DEFERRED) {
		(void)take_deferred(s, (const void *)event, NOT_YET);
	} else if (event->kind == BRAID_EVENT_METHOD) {
		receive_method(s, (const void *)event);
	} else if (event->kind == BRAID_EVENT_VTHREAD) {
		receive_vthread(s, (const void *)event);
	} else if (event->kind == BRAID_EVENT_SPAN) {
		receive_span(s, (const void *)event);
	} else if (event->kind == BRAID_EVENT_HIT) {
		hit_values_keep(&s->hit_values, (const void *)event);
	} else if (event->kind == BRAID_EVENT_STACK) {
		receive_stack(s, e);
	} else if (event->kind == BRAID_EVENT_JVM_EVENT) {
		return receive_jvm_event(r, (const void *)event);
	} else if (event->kind == BRAID_EVENT_SAMPLE) {
		process = process_of(s, e);
		if (is_stale(process, e))
			receive_stale(s, process, e);
		else
			receive_sample(s, process, e);
	}
	return true;
}

void session_read_samples(struct session *s)
{
	struct reading r = {.session = s};
	size_t budget = kernel_side_event_bytes(s->kernel);

	s->samples_ns = now_ns();
	read_sideband(s);
	modules_wait(s->modules);
	deferred_wait_each(s->deferred_wait, s->samples_ns, modules_results(s->modules), take_waiting, s);
	do {
		r.process = NULL;
		kernel_side_read_events(s->kernel, on_event, &r, &budget);
		if (r.process) {
			agents_catch_up(s->agents, r.process);
			receive_event(s, r.process, &r.waits.event);
		}
	} while (r.process && budget);
}

/*
 * Samples in files that are being read wait in the ring, but not for long. When an eighth of the ring is full they are
 * read in any case.
 */
void session_tick_samples(struct session *s)
{
	stacks_name_read(s->stacks);
	modules_wait(s->modules);
	if (modules_reading(s->modules) && now_ns() - s->samples_ns < FILES_WAIT_NS)
		read_sideband(s);
	else
		session_read_samples(s);
}
