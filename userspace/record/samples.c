// SPDX-License-Identifier: Apache-2.0
/* Samples as they come from the kernel side: whose they are, what their stacks mean, and out they go. */
#include "record/session.h"

#include "jvm/jvm.h"
#include "collect/jvm_events.h"
#include "kernel/kernel_side.h"
#include "record/late.h"
#include "process/processes.h"
#include "process/sideband.h"
#include "record/stacks.h"
#include "jvm/vthreads.h"

#include <braid/frame.h>

#include <stdlib.h>

static void read_sideband(struct session *s)
{
	s->sideband_ns = now_ns();
	sideband_read(s->sideband);
}

/* A process that is not known, or not as the sample found it, was told of since the side-band was read. */
static struct process *process_of(struct session *s, const struct braid_event_sample *e)
{
	struct process *process = processes_find(s->processes, (pid_t)e->pid, e->hdr.time_ns);

	if (!process || e->hdr.time_ns > s->sideband_ns)
		read_sideband(s);
	return processes_get(s->processes, (pid_t)e->pid, e->hdr.time_ns);
}

static void take_sample(struct session *s, struct process *process, const struct braid_event_sample *e)
{
	struct thread *thread;
	bool complete;
	uint32_t node, vthread;

	thread = process ? processes_thread_at(s->processes, process, (pid_t)e->tid, e->hdr.time_ns) : NULL;
	if (!thread) {
		session_loss(s, 0, "collector", "sample", 1);
		return;
	}
	node = stacks_node(s->stacks, process, e, &complete);
	if (!node)
		session_loss(s, process->id, "collector", "stack", 1);
	vthread = vthreads_id(s->vthreads, process->id, e->vthread);
	s->samples++;
	s->complete += complete;
	session_emit(s, &(struct trace_rec){.kind = TRACE_SAMPLE,
					    .sample = {.time_ns = e->hdr.time_ns,
						       .thread = thread->id,
						       .cpu = e->cpu,
						       .node = node,
						       .weight = 1,
						       .vthread = vthread}});
}

/* Walked before what it found at its addresses was known to be something else: then nothing in it is. */
static bool is_stale(const struct process *process, const struct braid_event_sample *e)
{
	return process && !process_layout_known(process, e->generation, e->hdr.time_ns);
}

/* A stack that other events refer to. What was walked by what is not so any more, nobody asks for. */
static void take_stack(struct session *s, const struct braid_event_sample *e)
{
	struct process *process = process_of(s, e);
	bool complete;

	if (process && !is_stale(process, e) && !stacks_node(s->stacks, process, e, &complete))
		session_loss(s, process->id, "collector", "stack", 1);
}

static void take_jvm_event(struct session *s, const struct braid_event_jvm *e)
{
	struct braid_event_sample like = {.hdr = e->hdr, .pid = e->pid};
	struct process *process = process_of(s, &like);

	if (process)
		jvm_events_take(s, process, e);
	else
		session_loss(s, 0, "collector", "jvm_event", 1);
}

static void take_stale(struct session *s, struct process *process, const struct braid_event_sample *e)
{
	struct {
		struct braid_event_sample event;
		uint64_t frame;
	} end = {.event = *e, .frame = (uint64_t)BRAID_FRAME_END << 60 | BRAID_END_NO_MAPPING};

	end.event.frame_count = 1;
	end.event.stack = BRAID_END_NO_MAPPING;
	take_sample(s, process, &end.event);
}

static void take_late(struct session *s, const struct braid_event_late *e)
{
	struct late_sample *out = calloc(1, sizeof(*out));
	struct process *process;

	if (!out) {
		session_loss(s, 0, "collector", "sample", 1);
		return;
	}
	out->event = (struct braid_event_sample){.hdr = e->hdr, .pid = e->pid};
	process = process_of(s, &out->event);
	if (process)
		processes_walked_late(s->processes, process, late_walk(s, process, e, out));
	take_sample(s, process, &out->event);
	s->late++;
	free(out);
}

static void take_method(struct session *s, const struct braid_event_method *e)
{
	struct process *process = processes_get(s->processes, (pid_t)e->pid, e->hdr.time_ns);

	if (process && process->jvm)
		jvm_method_seen(process->jvm, e);
}

static void take_vthread(struct session *s, const struct braid_event_vthread *e)
{
	struct process *process = processes_get(s->processes, (pid_t)e->pid, e->hdr.time_ns);

	if (process)
		vthreads_seen(s->vthreads, process->id, e);
}

static void on_sample(void *ctx, const struct braid_event *event)
{
	struct session *s = ctx;
	const struct braid_event_sample *e = (const void *)event;
	struct process *process;

	if (event->kind == BRAID_EVENT_LATE) {
		take_late(s, (const void *)event);
	} else if (event->kind == BRAID_EVENT_METHOD) {
		take_method(s, (const void *)event);
	} else if (event->kind == BRAID_EVENT_VTHREAD) {
		take_vthread(s, (const void *)event);
	} else if (event->kind == BRAID_EVENT_STACK) {
		take_stack(s, e);
	} else if (event->kind == BRAID_EVENT_JVM) {
		take_jvm_event(s, (const void *)event);
	} else if (event->kind == BRAID_EVENT_SAMPLE) {
		process = process_of(s, e);
		if (is_stale(process, e))
			take_stale(s, process, e);
		else
			take_sample(s, process, e);
	}
}

void session_read_samples(struct session *s)
{
	read_sideband(s);
	(void)kernel_side_consume_samples(s->kernel, on_sample, s);
}
