// SPDX-License-Identifier: Apache-2.0
#include "jvm_events.h"

#include "heap_count.h"
#include "jvm_emit.h"
#include "jvm_state.h"
#include "kernel_events.h"
#include "offcpu_events.h"
#include "offcpu_names.h"
#include "parked.h"
#include "probes.h"
#include "vthreads.h"
#include "process/spans.h"
#include "sink/names.h"

#include <stdlib.h>
#include <string.h>

/* ---- classes ---- */

bool events_on_type(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_type *r = (const void *)rec;
	char name[HOTSPOT_NAME_MAX];

	if (size < sizeof(*r) || r->name_len > size - sizeof(*r) || !r->type || r->type > EVENTS_TYPES_MAX)
		return false;
	if (!jvm_reach(j, (void **)&j->types, &j->type_count, r->type, sizeof(*j->types)))
		return true; /* its events have no name, which is counted then */
	if (r->is_text)
		utf8_from_modified(name, sizeof(name), r + 1, r->name_len);
	else
		class_name_from_signature(name, sizeof(name), (const char *)(r + 1), r->name_len);
	j->types[r->type] = names_id(j->jvms->names, &j->process->account, trace_str_of(name));
	return true;
}

static uint32_t type_name(const struct jvm *j, uint64_t type)
{
	return type < j->type_count ? j->types[type] : 0;
}

static uint32_t name_of_type(struct jvms *jvms, const struct process *process, uint64_t type)
{
	uint32_t name;

	if (!type || !process->jvm)
		return 0;
	name = type_name(process->jvm, type);
	if (!name)
		sink_loss(jvms->sink, process->id, "collector", "type", 1);
	return name;
}

static uint32_t name_of_method(struct jvms *jvms, struct process *process, uint32_t method)
{
	char text[2 * HOTSPOT_NAME_MAX];

	if (!method || !process->jvm || !methods_name(process->jvm, method, text, sizeof(text)))
		return 0;
	return names_id(jvms->names, &process->account, trace_str_of(text));
}

/* Whether `number` is that of a CALL record, and `weight` the id of a text. */
static bool has_call(uint32_t kind)
{
	return kind == BRAID_JVM_METHOD || kind == BRAID_JVM_FIELD;
}

static bool has_writer(uint32_t kind)
{
	return kind == BRAID_JVM_FIELD || kind == BRAID_JVM_FIELD_WRITES;
}

bool jvm_events_ready(struct jvms *jvms, struct process *process, const struct braid_event_jvm_event *e)
{
	const struct jvm *j = process->jvm;

	if (e->hdr.size < sizeof(*e))
		return true;
	switch (e->source) {
	case BRAID_SOURCE_AGENT:
		return !j || ((!e->event.name || type_name(j, e->event.name)) &&
			      (!e->event.detail || methods_defined(j, (uint32_t)e->event.detail)) &&
			      (!has_call(e->event.kind) || calls_known(j, e->event.number)) &&
			      (!has_writer(e->event.kind) || !e->event.weight || type_name(j, e->event.weight)));
	case BRAID_SOURCE_KERNEL:
		return e->event.kind != BRAID_JVM_THREAD_CPU || offcpu_end_known(jvms, process, e);
	default:
		return probes_ready(process, e);
	}
}

/* ---- events ---- */

struct process *jvm_events_other(struct jvms *jvms, struct process *process, const struct braid_event_jvm_event *e)
{
	if (!e->event.other_tid)
		return NULL;
	if (e->other_pid && (pid_t)e->other_pid != process->pid)
		return processes_get(jvms->processes, (pid_t)e->other_pid, e->hdr.time_ns);
	return process;
}

static uint32_t other_thread(struct jvms *jvms, struct process *process, const struct braid_event_jvm_event *e)
{
	struct process *other = jvm_events_other(jvms, process, e);
	pid_t tid = (pid_t)e->event.other_tid;
	struct thread *t;

	if (!other)
		return 0;
	if (!e->other_pid)
		tid = threads_host_tid(jvms->threads, process, tid);
	t = tid > 0 ? threads_at(jvms->threads, other, tid, e->hdr.time_ns) : NULL;
	return t ? t->id : 0;
}

/* An interval off the CPU can be a LOCK, too. */
static void receive_offcpu(struct jvms *jvms, struct process *process, const struct braid_event_jvm_event *e,
			   const struct trace_jvm_event *what)
{
	bool all = jvm_events_enabled(jvms, process) & BRAID_EVENT_TYPE(OFFCPU);
	struct trace_jvm_event lock = *what, offcpu = *what;
	bool is_lock = parked_explain(jvms, process, e, &lock);
	char text[WAKER_TEXT_MAX];

	if (e->sleep & BRAID_SLEEP_VIRTUAL) {
		lock.other_vthread = offcpu.other_vthread = vthreads_id(jvms->vthreads, process, e->event.number);
		offcpu.number = 0;
	}
	if (e->sleep & BRAID_SLEEP_AFTER)
		lock.other = lock.other_vthread = 0;
	if (is_lock)
		jvm_events_emit(jvms, process, &lock);
	if (!(e->sleep & BRAID_SLEEP_LONG) || (is_lock && !all))
		return;
	if (!e->other_pid) /* the owner of the lock */
		offcpu.other = offcpu.other_node = offcpu.other_vthread = 0;
	offcpu.name = parked_class(jvms, process, e)
			      ?: offcpu_object(jvms, process, e->sleep >> BRAID_SLEEP_OBJECT_SHIFT, e->text)
			      ?: what->name;
	if (!offcpu.other && offcpu_waker(&jvms->irqs, e, text))
		offcpu.text = trace_str_of(text);
	jvm_events_emit(jvms, process, &offcpu);
}

/* Names in an agent's event. */
static void explain_reported(struct jvms *jvms, struct process *process, const struct braid_jvm_event *what,
			     struct trace_jvm_event *to, char values[CALL_VALUES_MAX])
{
	to->name = name_of_type(jvms, process, what->name);
	to->detail = name_of_method(jvms, process, what->detail);
	if (has_call(what->kind) && process->jvm)
		calls_explain(process->jvm, what->number, to, values);
	if (has_writer(what->kind)) {
		to->detail = name_of_type(jvms, process, what->weight);
		to->weight = 0;
	}
	if (what->kind == BRAID_JVM_JNI_REF)
		to->detail = names_id(jvms->names, &process->account,
				      trace_str_of(what->flags & BRAID_JNI_WEAK ? "weak global" : "global"));
}

void jvm_events_receive(struct jvms *jvms, struct process *process, const struct braid_event_jvm_event *e,
			const struct event_nodes *nodes)
{
	const struct braid_jvm_event *what = &e->event;
	struct thread *thread = e->tid ? threads_at(jvms->threads, process, (pid_t)e->tid, e->hdr.time_ns) : NULL;
	struct trace_jvm_event to = {
		.kind = what->kind,
		.thread = thread ? thread->id : 0,
		.value = what->value,
		.weight = what->weight,
		.number = what->number,
		.flags = what->flags,
		.source = e->source,
	};
	uint64_t since = e->source == BRAID_SOURCE_AGENT && process->jvm ? process->jvm->joined_ns : 0;
	uint64_t start = what->start_ns, end = what->end_ns;
	char text[KERNEL_EVENT_TEXT], values[CALL_VALUES_MAX];

	if (e->hdr.size < sizeof(*e) || !what->kind || what->kind >= BRAID_JVM_EVENTS ||
	    (kernel_events_are(what->kind) && e->source != BRAID_SOURCE_KERNEL))
		return;
	if (what->kind == BRAID_JVM_THREAD_CPU && thread && e->source == BRAID_SOURCE_KERNEL &&
	    !offcpu_ended(jvms, thread, e->text, &to))
		return;
	/*
	 * Times in the JVM's reports are valid only from when its agent was loaded. The kernel's may belong to a
	 * program before an exec, and then hdr.time_ns is a time of that.
	 */
	if (!end || (end > e->hdr.time_ns && e->source != BRAID_SOURCE_KERNEL))
		end = e->hdr.time_ns;
	if (end < since)
		end = since;
	if (start && start < since)
		start = since;
	to.time_ns = start && start < end ? start : end;
	to.duration_ns = end - to.time_ns;
	to.node = nodes->own;
	to.vthread = vthreads_id(jvms->vthreads, process, e->vthread);
	to.span = nodes->span ?: spans_id(jvms->spans, process, e->span);
	to.name = nodes->object;
	if (e->source == BRAID_SOURCE_AGENT) {
		explain_reported(jvms, process, what, &to, values);
	} else if (kernel_events_are(what->kind) && !kernel_events_explain(jvms, process, e, &to, text)) {
		return;
	} else if (what->kind == BRAID_JVM_MALLOC || what->kind == BRAID_JVM_UNFREED) {
		to.name = names_id(jvms->names, &process->account, trace_str_of("alloc")); /* the probe */
	} else if (e->source == BRAID_SOURCE_PROBE && !probes_explain(jvms, process, e, &to)) {
		return;
	}
	to.other = other_thread(jvms, process, e);
	to.other_node = nodes->other;
	if (thread && (what->kind == BRAID_JVM_OFFCPU || what->kind == BRAID_JVM_LOCK))
		offcpu_note_nap(thread, &to);
	if (what->kind == BRAID_JVM_OFFCPU)
		receive_offcpu(jvms, process, e, &to);
	else
		jvm_events_emit(jvms, process, &to);
	if (what->kind == BRAID_JVM_HEAP_COPY && e->source == BRAID_SOURCE_AGENT && process->jvm)
		heap_count_begin(process->jvm, &to);
}

bool events_on_jvm_event(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_jvm_event *r = (const void *)rec;
	struct braid_event_jvm_event e = {
		.hdr = {.kind = BRAID_EVENT_JVM_EVENT, .size = sizeof(e), .time_ns = rec->time_ns},
		.pid = (uint32_t)j->process->pid,
		.source = BRAID_SOURCE_AGENT,
	};
	pid_t tid = (pid_t)rec->tid;

	if (size < sizeof(*r))
		return false;
	if (tid)
		tid = threads_host_tid(j->jvms->threads, j->process, tid);
	e.tid = tid > 0 ? (uint32_t)tid : 0;
	e.event = r->event;
	jvm_events_receive(j->jvms, j->process, &e, &(struct event_nodes){0});
	return true;
}
