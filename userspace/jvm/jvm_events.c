// SPDX-License-Identifier: Apache-2.0
#include "collect/jvm_events.h"

#include "agents/agents.h"
#include "jvm/jvm_state.h"
#include "sink/names.h"
#include "kernel/offcpu.h"
#include "jvm/probes.h"
#include "proc/procfs.h"
#include "record/stacks.h"
#include "jvm/vthreads.h"

#include <stdlib.h>
#include <string.h>

#define TYPES_FIRST_ROOM 256U

/* What has to be wanted for a kind to be told; nothing, of kinds that are always. */
static const uint32_t wants[BRAID_JVM_EVENTS] = {
	[BRAID_JVM_ALLOC] = BRAID_WANT(ALLOC),
	[BRAID_JVM_LIVE] = BRAID_WANT(LIVE),
	[BRAID_JVM_LOCK] = BRAID_WANT(LOCK),
	[BRAID_JVM_WAIT] = BRAID_WANT(WAIT),
	[BRAID_JVM_BLOCKED] = BRAID_WANT(WAIT),
	[BRAID_JVM_GC_PAUSE] = BRAID_WANT(GC),
	[BRAID_JVM_GC_CYCLE] = BRAID_WANT(GC),
	[BRAID_JVM_GC_PHASE] = BRAID_WANT(GC),
	[BRAID_JVM_SAFEPOINT] = BRAID_WANT(SAFEPOINT),
	[BRAID_JVM_SAFEPOINT_STOP] = BRAID_WANT(SAFEPOINT),
	[BRAID_JVM_THREAD_START] = BRAID_WANT(THREAD),
	[BRAID_JVM_THREAD_END] = BRAID_WANT(THREAD),
	[BRAID_JVM_VTHREAD_START] = BRAID_WANT(VTHREAD),
	[BRAID_JVM_VTHREAD_END] = BRAID_WANT(VTHREAD),
	[BRAID_JVM_CLASS_LOAD] = BRAID_WANT(CLASS),
	[BRAID_JVM_CLASS_PREPARE] = BRAID_WANT(CLASS),
	[BRAID_JVM_CLASS_UNLOAD] = BRAID_WANT(CLASS),
	[BRAID_JVM_COMPILE] = BRAID_WANT(JIT),
	[BRAID_JVM_DEOPT] = BRAID_WANT(JIT),
	[BRAID_JVM_EXCEPTION] = BRAID_WANT(EXCEPTION),
	[BRAID_JVM_NATIVE_BIND] = BRAID_WANT(NATIVE_BIND),
	[BRAID_JVM_RESOURCE] = BRAID_WANT(RESOURCE),
	[BRAID_JVM_CODE_CACHE] = BRAID_WANT(JIT),
	[BRAID_JVM_THREAD_RENAME] = BRAID_WANT(THREAD),
};

/* Whoever tells of an event may not have heard yet that it is not wanted any more. */
static bool is_wanted(const struct session *s, const struct process *process, const struct trace_jvm_event *e)
{
	uint32_t wanted = process && process->jvm ? process->jvm->wanted : s->choices.wanted;
	uint64_t kind = e->kind == BRAID_JVM_COUNTED && e->number < BRAID_JVM_EVENTS ? e->number : e->kind;

	return !wants[kind] || wanted & wants[kind];
}

void jvm_events_emit(struct session *s, const struct process *process, struct trace_jvm_event *e)
{
	if (!is_wanted(s, process, e))
		return;
	e->process = process ? process->id : 0;
	session_emit(s, &(struct trace_rec){.kind = TRACE_JVM_EVENT, .jvm_event = *e});
}

/* ---- classes ---- */

bool events_on_type(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_type *r = (const void *)rec;
	char name[HOTSPOT_NAME_MAX];

	if (size < sizeof(*r) || r->name_len > size - sizeof(*r) || !r->type || r->type > EVENTS_TYPES_MAX)
		return false;
	if (r->type >= j->type_count) {
		uint32_t count = j->type_count ?: TYPES_FIRST_ROOM;
		uint32_t *bigger;

		while (count <= r->type)
			count *= 2;
		bigger = realloc(j->types, count * sizeof(*bigger));
		if (!bigger)
			return true; /* events of it have no name, which is counted then */
		memset(bigger + j->type_count, 0, (count - j->type_count) * sizeof(*bigger));
		j->types = bigger;
		j->type_count = count;
	}
	if (r->is_text)
		utf8_from_modified(name, sizeof(name), r + 1, r->name_len);
	else
		class_name_from_signature(name, sizeof(name), (const char *)(r + 1), r->name_len);
	j->types[r->type] = names_id(j->session->names, trace_str_of(name));
	return true;
}

static uint32_t type_name(const struct jvm *j, uint32_t type)
{
	return type < j->type_count ? j->types[type] : 0;
}

/* Its definition may still be in the agent's ring, unless that is where the event is from. */
static uint32_t name_of_type(struct session *s, struct process *process, uint32_t type, bool from_ring)
{
	uint32_t name;

	if (!type || !process->jvm)
		return 0;
	name = type_name(process->jvm, type);
	if (!name && !from_ring) {
		agents_catch_up(s->agents, process);
		name = type_name(process->jvm, type);
	}
	if (!name)
		session_loss(s, process->id, "collector", "type", 1);
	return name;
}

static uint32_t name_of_method(struct session *s, struct process *process, uint32_t method, bool from_ring)
{
	char text[2 * HOTSPOT_NAME_MAX];
	bool known;

	if (!method || !process->jvm)
		return 0;
	known = methods_name(process->jvm, method, text, sizeof(text));
	if (!known && !from_ring) {
		agents_catch_up(s->agents, process);
		known = methods_name(process->jvm, method, text, sizeof(text));
	}
	return !known ? 0 : names_id(s->names, trace_str_of(text));
}

/* ---- events ---- */

static uint32_t node_of(struct session *s, struct process *process, const struct braid_event_jvm *e, uint64_t hash)
{
	uint32_t node;

	if (!hash)
		return 0;
	/* Walked before what was found at its addresses was known to be something else. */
	if (!process_layout_known(process, e->generation, e->hdr.time_ns))
		return stacks_end(s->stacks, process, BRAID_END_NO_MAPPING, e->hdr.time_ns);
	node = stacks_known(s->stacks, process, hash);
	if (!node)
		session_loss(s, process->id, "collector", "stack", 1);
	return node;
}

/* Who let go, woke, or is waited for. */
static void take_other(struct session *s, struct process *process, const struct braid_event_jvm *e,
		       struct trace_jvm_event *to)
{
	pid_t tid = (pid_t)e->what.other_tid;
	struct process *other = process;
	struct thread *t;

	if (!tid)
		return;
	if (e->other_pid && (pid_t)e->other_pid != process->pid)
		other = processes_get(s->processes, (pid_t)e->other_pid, e->hdr.time_ns);
	if (!other)
		return;
	if (!e->other_pid && process->in_namespace)
		tid = procfs_host_tid(process->pid, tid);
	t = tid > 0 ? processes_thread_at(s->processes, other, tid, e->hdr.time_ns) : NULL;
	to->other = t ? t->id : 0;
	to->other_node = e->other_stack ? stacks_known(s->stacks, other, e->other_stack) : 0;
}

/* `from_ring`: what came before it in the agent's ring is known, and the ring is being drained. */
static void take(struct session *s, struct process *process, const struct braid_event_jvm *e, bool from_ring)
{
	const struct braid_demand *what = &e->what;
	struct thread *thread =
		e->tid ? processes_thread_at(s->processes, process, (pid_t)e->tid, e->hdr.time_ns) : NULL;
	struct trace_jvm_event to = {
		.kind = what->kind,
		.thread = thread ? thread->id : 0,
		.value = what->value,
		.weight = what->weight,
		.number = what->number,
		.flags = what->flags,
		.source = e->source,
	};
	uint64_t end = what->end_ns;

	if (e->hdr.size < sizeof(*e) || !what->kind || what->kind >= BRAID_JVM_EVENTS)
		return;
	if (what->kind == BRAID_JVM_THREAD_CPU && thread && e->source == BRAID_SOURCE_KERNEL &&
	    !offcpu_ended(s, thread, e->text, &to))
		return;
	/* What the JVM says of times is good for what has passed. */
	if (!end || end > e->hdr.time_ns)
		end = e->hdr.time_ns;
	to.time_ns = what->start_ns && what->start_ns < end ? what->start_ns : end;
	to.duration_ns = end - to.time_ns;
	to.node = node_of(s, process, e, e->stack);
	to.vthread = vthreads_id(s->vthreads, process->id, e->vthread);
	if (e->source == BRAID_SOURCE_AGENT) {
		to.name = name_of_type(s, process, what->name, from_ring);
		to.detail = name_of_method(s, process, what->detail, from_ring);
	} else if (e->source == BRAID_SOURCE_PROBE && !probes_explain(s, process, e, &to)) {
		return;
	}
	take_other(s, process, e, &to);
	jvm_events_emit(s, process, &to);
}

void jvm_events_take(struct session *s, struct process *process, const struct braid_event_jvm *e)
{
	take(s, process, e, false);
}

bool events_on_demand(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_demand *r = (const void *)rec;
	struct braid_event_jvm e = {
		.hdr = {.kind = BRAID_EVENT_JVM, .size = sizeof(e), .time_ns = rec->time_ns},
		.pid = (uint32_t)j->process->pid,
		.source = BRAID_SOURCE_AGENT,
	};
	pid_t tid = (pid_t)rec->tid;

	if (size < sizeof(*r))
		return false;
	if (tid && j->process->in_namespace)
		tid = procfs_host_tid(j->process->pid, tid);
	e.tid = tid > 0 ? (uint32_t)tid : 0;
	e.what = r->what;
	take(j->session, j->process, &e, true);
	return true;
}
