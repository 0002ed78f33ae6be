// SPDX-License-Identifier: Apache-2.0
#include "gc.h"

#include "jvm_emit.h"
#include "jvm_state.h"
#include "hotspot/hotspot.h"
#include "sink/names.h"
#include "util/text.h"

#include "util/utf8.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 128
#define SPANS_MAX 4096
#define WAITING_MAX 8192		  /* pauses beyond this are emitted without what probes saw */
#define SPAN_KEPT_NS (10 * 1000000000ULL) /* until the agent's record of the pause has arrived */
#define SAME_STOP_NS 1000000ULL
#define WAIT_NS (2 * 1000000000ULL)
#define NO_CAUSE "No GC"

/* ---- spans ---- */

static struct gc_span *span_add(gc_span_list *s, const struct gc_span *span)
{
	if (s->count == SPANS_MAX || VEC_PUSH(s, *span))
		return NULL;
	return &s->at[s->count - 1];
}

static void span_remove(gc_span_list *s, size_t i)
{
	memmove(&s->at[i], &s->at[i + 1], (s->count - i - 1) * sizeof(*s->at));
	s->count--;
}

/* The one that began last. NULL: it began before the probes were set. */
static struct gc_span *span_open(struct gc *gc, enum braid_probe begin, uint64_t object)
{
	for (size_t i = gc->begun.count; i-- > 0;)
		if (gc->begun.at[i].begin == begin && gc->begun.at[i].object == object)
			return &gc->begun.at[i];
	return NULL;
}

/* ---- pauses ---- */

static struct trace_str what_was_done(const char *collector)
{
	if (text_ends_with(collector, " young") || !strcmp(collector, "ParNew"))
		return trace_str_of("Pause Young");
	return trace_str_of(text_ends_with(collector, " full") ? "Pause Full" : "");
}

static void gc_emit(struct jvm *j, struct trace_jvm_event *e)
{
	jvm_events_emit(j->jvms, j->process, e);
}

static void pause_keep(struct jvm *j, struct trace_jvm_event *e)
{
	struct gc *gc = &j->gc;

	if (gc->waiting.count == WAITING_MAX || VEC_PUSH(&gc->waiting, (struct gc_waiting){.pause = *e}))
		gc_emit(j, e);
}

/* Probes and agents stop one after the other: what began after that would be incomplete. */
static bool is_too_late(const struct jvm *j, uint64_t begin_ns)
{
	return j->jvms->stopped_ns && begin_ns > j->jvms->stopped_ns;
}

bool gc_on_record(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_gc *r = (const void *)rec;
	const char *text = (const char *)(r + 1), *name;
	char collector[NAME_MAX_BYTES], cause[NAME_MAX_BYTES];
	struct trace_jvm_event e = {.kind = BRAID_JVM_GC_PAUSE, .source = BRAID_SOURCE_AGENT};
	struct names *names = j->jvms->names;
	bool seen;

	if (size < sizeof(*r) || size - sizeof(*r) < (size_t)r->collector_len + r->cause_len ||
	    r->start_ns > rec->time_ns)
		return false;
	if (is_too_late(j, r->start_ns))
		return true;
	if (rec->kind == BRAID_REC_GC_START) {
		j->gc.open = r->sequence;
		j->gc.open_ns = rec->time_ns;
		j->gc.open_used = r->used_before;
		return true;
	}
	j->gc.open = 0;
	j->gc.pauses++;
	utf8_from_modified(collector, sizeof(collector), text, r->collector_len);
	utf8_from_modified(cause, sizeof(cause), text + r->collector_len, r->cause_len);
	name = gc_collector_name(collector);
	seen = r->start_ns && r->start_ns >= j->joined_ns;
	e.time_ns = seen ? r->start_ns : rec->time_ns;
	e.duration_ns = rec->time_ns - e.time_ns;
	e.flags = seen ? 0 : BRAID_GC_BEGAN_BEFORE;
	e.name = names_id(names, &j->process->account, trace_str_of(name));
	e.detail = names_id(names, &j->process->account, trace_str_of(cause));
	e.value = r->used_before;
	e.weight = r->used_after;
	e.number = r->sequence;
	e.text = what_was_done(name);
	pause_keep(j, &e);
	return true;
}

/*
 * Whether the span belongs to the pause. Probes and agent see slightly different bounds of a stop-the-world pause, so
 * the middle of one has to be in the other.
 */
static bool is_part(const struct gc_span *s, const struct trace_jvm_event *pause)
{
	uint64_t middle = s->start_ns + (s->end_ns - s->start_ns) / 2;
	uint64_t middle_of_pause = pause->time_ns + pause->duration_ns / 2;

	return (middle >= pause->time_ns && middle <= pause->time_ns + pause->duration_ns) ||
	       (middle_of_pause >= s->start_ns && middle_of_pause <= s->end_ns);
}

static struct gc_reporter *reporter_of(struct gc *gc, uint64_t object)
{
	for (uint32_t i = 0; i < gc->reporter_count; i++)
		if (gc->reporters[i].object == object)
			return &gc->reporters[i];
	return NULL;
}

static void reporter_update(struct gc *gc, const struct gc_span *s, const struct trace_jvm_event *pause)
{
	if (gc->reporter_count < GC_REPORTERS_MAX && pause->name && !reporter_of(gc, s->object))
		gc->reporters[gc->reporter_count++] =
			(struct gc_reporter){.object = s->object, .name = pause->name, .what = pause->text};
}

/* Adds what probes have reported during this pause. */
static void pause_complete(struct jvm *j, struct gc_waiting *w)
{
	gc_span_list *spans = &j->gc.ended;
	struct trace_jvm_event *e = &w->pause;

	for (size_t i = 0; i < spans->count;) {
		const struct gc_span *s = &spans->at[i];

		if (!is_part(s, e)) {
			i++;
			continue;
		}
		reporter_update(&j->gc, s, e);
		if (s->begin == BRAID_PROBE_GC_PAUSE) {
			memcpy(w->text, s->text, GC_TEXT_MAX);
		} else {
			e->value = s->before ? s->before : e->value;
			e->weight = s->after ? s->after : e->weight;
			if (s->text[0])
				e->detail = names_id(j->jvms->names, &j->process->account, trace_str_of(s->text));
		}
		span_remove(spans, i);
	}
}

/* Whether a span that began in this pause or before has no end yet: its report is still to come. */
static bool is_unfinished(const struct gc *gc, const struct trace_jvm_event *pause)
{
	for (size_t i = 0; i < gc->begun.count; i++)
		if (gc->begun.at[i].in_pause && gc->begun.at[i].start_ns <= pause->time_ns + pause->duration_ns)
			return true;
	return false;
}

/* The second of two pauses in one stop begins with the heap that the first one left. */
static void pauses_join(struct trace_jvm_event *first, struct trace_jvm_event *second)
{
	uint64_t end_ns = first->time_ns + first->duration_ns;

	if (second->number != first->number + 1 || second->time_ns < end_ns || second->time_ns - end_ns > SAME_STOP_NS)
		return;
	if (!first->weight)
		first->weight = second->value;
	else if (!second->value)
		second->value = first->weight;
}

/*
 * Before it is live the JVM sends no events, so only probes see such pauses. They are emitted when it is known whose
 * pauses they were.
 */
static bool is_early(const struct jvm *j, const struct gc_span *s)
{
	return j->record.start == BRAID_START_ONLOAD && (!j->gc.live_ns || s->end_ns < j->gc.live_ns);
}

static void span_emit_early(struct jvm *j, const struct gc_span *s)
{
	const struct gc_reporter *teller = reporter_of(&j->gc, s->object);
	struct trace_jvm_event e = {
		.kind = BRAID_JVM_GC_PAUSE,
		.time_ns = s->start_ns,
		.duration_ns = s->end_ns - s->start_ns,
		.name = teller ? teller->name : 0,
		.value = s->before,
		.weight = s->after,
		.source = BRAID_SOURCE_PROBE,
		.text = teller ? teller->what : trace_str_of(""),
	};

	if (s->begin == BRAID_PROBE_GC_PAUSE)
		e.text = trace_str_of(s->text);
	else
		e.detail = names_id(j->jvms->names, &j->process->account, trace_str_of(s->text));
	j->gc.pauses++;
	gc_emit(j, &e);
}

/*
 * Handles spans that belong to no pause. The agent's record of a pause that is just ending arrives later, or was lost.
 */
static void spans_settle(struct jvm *j, uint64_t now_ns)
{
	gc_span_list *spans = &j->gc.ended;

	for (size_t i = 0; i < spans->count;) {
		const struct gc_span *s = &spans->at[i];
		bool old = now_ns - s->end_ns > SPAN_KEPT_NS;

		if (is_early(j, s) ? now_ns && !reporter_of(&j->gc, s->object) : !old) {
			i++;
			continue;
		}
		if (is_early(j, s))
			span_emit_early(j, s);
		span_remove(spans, i);
	}
}

void gc_on_live(struct jvm *j, uint64_t time_ns)
{
	j->gc.live_ns = time_ns;
}

void gc_settle(struct jvm *j, uint64_t now_ns)
{
	struct gc *gc = &j->gc;
	size_t ready = 0;

	while (ready < gc->waiting.count && (!is_unfinished(gc, &gc->waiting.at[ready].pause) ||
					     now_ns - gc->waiting.at[ready].pause.time_ns > WAIT_NS))
		pause_complete(j, &gc->waiting.at[ready++]);
	for (size_t i = 1; i < ready; i++)
		pauses_join(&gc->waiting.at[i - 1].pause, &gc->waiting.at[i].pause);
	for (size_t i = 0; i < ready; i++) {
		struct gc_waiting *w = &gc->waiting.at[i];

		if (w->text[0])
			w->pause.text = trace_str_of(w->text);
		gc_emit(j, &w->pause);
	}
	gc->waiting.count -= ready;
	if (ready)
		memmove(gc->waiting.at, gc->waiting.at + ready, gc->waiting.count * sizeof(*gc->waiting.at));
	spans_settle(j, now_ns);
}

/* ---- probes ---- */

static void cycle_emit(struct jvm *j, const struct gc_span *s, uint32_t flags)
{
	struct thread *leader = threads_now(j->jvms->threads, j->process, s->tid);
	const char *name = leader && leader->named ? gc_leader_name(leader->name) : "";
	/* G1's cycle begins after a young collection, whose cause may still be set; an unknown collector's may, too */
	const char *cause = *name && strncmp(name, "G1 ", 3) ? s->text : "";
	struct trace_jvm_event e = {
		.kind = BRAID_JVM_GC_CYCLE,
		.time_ns = s->start_ns,
		.duration_ns = s->end_ns - s->start_ns,
		.thread = leader ? leader->id : 0,
		.name = names_id(j->jvms->names, &j->process->account, trace_str_of(name)),
		.detail = names_id(j->jvms->names, &j->process->account, trace_str_of(cause)),
		.value = s->before,
		.weight = s->after,
		.number = s->number,
		.flags = flags,
		.source = BRAID_SOURCE_PROBE,
	};

	gc_emit(j, &e);
}

static void phase_emit(struct jvm *j, const struct gc_span *s)
{
	struct thread *thread = threads_now(j->jvms->threads, j->process, s->tid);
	struct trace_jvm_event e = {
		.kind = BRAID_JVM_GC_PHASE,
		.time_ns = s->start_ns,
		.duration_ns = s->end_ns - s->start_ns,
		.thread = thread ? thread->id : 0,
		.name = names_id(j->jvms->names, &j->process->account, trace_str_of(s->text)),
		.number = s->number,
		.source = BRAID_SOURCE_PROBE,
	};

	gc_emit(j, &e);
}

/* The page with the name may not have been in memory when the kernel side read it. */
static void text_take(struct gc_span *s, struct process *process, const struct braid_event_jvm_event *e)
{
	char raw[sizeof(e->text)];
	pid_t pid = process->pid;

	memcpy(raw, e->text, sizeof(raw));
	if (!raw[0] && e->event.weight && hotspot_read_process(&pid, e->event.weight, raw, sizeof(raw)))
		raw[0] = '\0';
	if (!strncmp(raw, NO_CAUSE, sizeof(raw)))
		raw[0] = '\0';
	utf8_printable(s->text, sizeof(s->text), raw, strnlen(raw, sizeof(raw)));
}

static void on_begin(struct jvm *j, const struct braid_event_jvm_event *e, enum braid_probe probe)
{
	struct thread *thread = threads_now(j->jvms->threads, j->process, (pid_t)e->tid);
	struct gc_span s = {
		.begin = probe, .object = e->event.number, .tid = (pid_t)e->tid, .start_ns = e->hdr.time_ns};
	struct gc_span *before = probe == BRAID_PROBE_GC_BEGIN ? span_open(&j->gc, probe, s.object) : NULL;

	text_take(&s, j->process, e);
	s.in_pause = thread && !strcmp(thread->name, "VM Thread");
	if (probe == BRAID_PROBE_GC_BEGIN && !s.in_pause)
		s.number = ++j->gc.cycles;
	for (size_t i = j->gc.begun.count; probe == BRAID_PROBE_GC_PHASE && !s.number && i-- > 0;)
		if (j->gc.begun.at[i].begin == BRAID_PROBE_GC_BEGIN && j->gc.begun.at[i].tid == s.tid)
			s.number = j->gc.begun.at[i].number;
	if (before) { /* abandoned for another cycle */
		if (!before->in_pause) {
			before->end_ns = s.start_ns;
			cycle_emit(j, before, 0);
		}
		span_remove(&j->gc.begun, (size_t)(before - j->gc.begun.at));
	}
	if (!span_add(&j->gc.begun, &s))
		sink_loss(j->jvms->sink, j->process->id, "collector", "gc", 1);
}

/* JDK 11 also reports parts of pauses. CMS's pauses have no "Pause" in their names. */
static bool is_pause(const struct gc_span *s)
{
	return !strncmp(s->text, "Pause ", 6) || !strcmp(s->text, "Initial Mark") || !strcmp(s->text, "Final Mark");
}

static void on_end(struct jvm *j, const struct braid_event_jvm_event *e, enum braid_probe begin)
{
	struct gc_span *open = span_open(&j->gc, begin, e->event.number), s;

	if (!open)
		return;
	s = *open;
	s.end_ns = e->hdr.time_ns > s.start_ns ? e->hdr.time_ns : s.start_ns;
	span_remove(&j->gc.begun, (size_t)(open - j->gc.begun.at));
	if (begin == BRAID_PROBE_GC_PHASE)
		phase_emit(j, &s);
	else if (begin == BRAID_PROBE_GC_BEGIN && !s.in_pause)
		cycle_emit(j, &s, 0);
	else if ((begin == BRAID_PROBE_GC_BEGIN || is_pause(&s)) && !span_add(&j->gc.ended, &s))
		sink_loss(j->jvms->sink, j->process->id, "collector", "gc", 1);
}

static void on_heap(struct jvm *j, const struct braid_event_jvm_event *e)
{
	struct gc_span *open = span_open(&j->gc, BRAID_PROBE_GC_BEGIN, e->event.number);

	if (open && e->event.detail == 0) /* GCWhen::BeforeGC, AfterGC */
		open->before = e->event.value;
	else if (open && e->event.detail == 1)
		open->after = e->event.value;
}

void gc_on_probe(struct process *process, const struct braid_event_jvm_event *e)
{
	struct jvm *j = process->jvm;

	if (!jvm_had_agent(j))
		return;
	if (!(j->enabled & BRAID_EVENT_TYPE(GC))) {
		j->gc.begun.count = 0; /* disabled now: the probes are still set */
		return;
	}
	switch (e->event.name) {
	case BRAID_PROBE_GC_BEGIN:
	case BRAID_PROBE_GC_PAUSE:
	case BRAID_PROBE_GC_PHASE:
		if (!is_too_late(j, e->hdr.time_ns))
			on_begin(j, e, (enum braid_probe)e->event.name);
		break;
	case BRAID_PROBE_GC_END:
		on_end(j, e, BRAID_PROBE_GC_BEGIN);
		break;
	case BRAID_PROBE_GC_PAUSE_END:
		on_end(j, e, BRAID_PROBE_GC_PAUSE);
		break;
	case BRAID_PROBE_GC_PHASE_END:
		on_end(j, e, BRAID_PROBE_GC_PHASE);
		break;
	case BRAID_PROBE_GC_HEAP:
		on_heap(j, e);
		break;
	default:
		break;
	}
}

/* ---- the end ---- */

void gc_end(struct jvm *j)
{
	struct gc *gc = &j->gc;
	struct trace_jvm_event e = {
		.kind = BRAID_JVM_GC_PAUSE,
		.source = BRAID_SOURCE_AGENT,
		.time_ns = gc->open_ns,
		.value = gc->open_used,
		.number = gc->open,
		.flags = BRAID_GC_NOT_ENDED,
	};

	gc_settle(j, 0);
	if (gc->open)
		gc_emit(j, &e);
	gc->open = 0;
	for (size_t i = 0; i < gc->begun.count; i++) {
		struct gc_span *s = &gc->begun.at[i];

		s->end_ns = s->start_ns;
		if (s->begin == BRAID_PROBE_GC_BEGIN && !s->in_pause)
			cycle_emit(j, s, BRAID_GC_NOT_ENDED);
	}
	gc->begun.count = 0;
}

void gc_free(struct gc *gc)
{
	free(gc->begun.at);
	free(gc->ended.at);
	free(gc->waiting.at);
}
