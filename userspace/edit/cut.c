// SPDX-License-Identifier: Apache-2.0
/* A part of a trace: what a filter selects, and what it needs. edit.h is its interface. */
#include <errno.h>
#include <stdlib.h>

#include <analyze/events.h>
#include <analyze/stream.h>
#include <analyze/vthreads.h>
#include <wall/wall.h>

#include "needed.h"
#include "put.h"

struct cut {
	const struct analysis *an;
	struct wall *wall;	  /* NULL: the lives of threads are not recorded, or not cut */
	struct u64map vthread_of; /* id of a virtual thread to its place in wall->threads, plus one */
	bool *given;		  /* of each of wall->threads: a record has its time */
	struct u64map derived;	  /* row of an event_is_derived() to the number of its event, plus one */
	struct needed needed;
	struct edit_counts *counts;
};

/* Events that matter outside of their time: what was enabled, and threads that live on. */
static bool is_lasting(uint32_t kind)
{
	switch (kind) {
	case BRAID_JVM_CONFIG:
	case BRAID_JVM_PHASE:
	case BRAID_JVM_THREAD_START:
	case BRAID_JVM_THREAD_END:
	case BRAID_JVM_THREAD_RENAME:
		return true;
	default:
		return false;
	}
}

/* Time off the CPU is part of the thread's life also if another event reports it as a wait. */
static bool selects_life(const struct analysis *an, const struct jvm_event_row *row)
{
	uint64_t start_ns = row->time_ns, duration_ns = row->duration_ns;

	return row->kind == BRAID_JVM_OFFCPU && analysis_clip(an, &start_ns, &duration_ns) &&
	       analysis_selects_thread(an, table_row_of(&an->a->threads, row->thread)) &&
	       analysis_selects_stack(an, table_row_of(&an->a->nodes, row->node)) &&
	       analysis_selects_span(an, row->span);
}

/* What an allocation became is of the thread, the stack and the time of the allocation, whenever it is said. */
static bool selects_derived(const struct cut *c, const struct jvm_event_row *row)
{
	uint32_t number = u64map_get(&c->derived, (uint64_t)(row - c->an->a->events.at));
	struct event e;

	return number && events_get(c->an, number - 1, &e);
}

static bool selects_event(const struct cut *c, const struct jvm_event_row *row)
{
	const struct analysis *an = c->an;
	struct event e;

	if (is_lasting(row->kind))
		return analysis_selects_process(an, analysis_process(an, row->process));
	if (event_is_derived(row))
		return selects_derived(c, row);
	if (row->kind == BRAID_JVM_JNI_STACK) /* of references that may be reported at any time */
		return event_selected_whenever(an, row);
	return events_of_row(an, row, &e) || selects_life(an, row);
}

static bool selects_time(const struct analysis *an, const struct trace_rec *rec)
{
	uint64_t time_ns = event_time_ns(rec);

	return !time_ns || analysis_selects_time(an, time_ns);
}

/* Whether the filter selects an event that has a thread. */
static bool selects(const struct cut *c, const struct trace_rec *rec, const struct jvm_event_row *row)
{
	struct timed t;

	if (rec->kind == TRACE_SAMPLE)
		return stream_sample(c->an, &rec->sample, &t);
	return row && selects_event(c, row);
}

/* Whether an event concerns a process as a whole, or the recording. */
static bool is_of_process(const struct trace_rec *rec)
{
	return rec->kind >= TRACE_FIRST_EVENT && rec->kind != TRACE_SAMPLE && rec->kind != TRACE_JVM_EVENT;
}

static bool keeps(struct cut *c, const struct trace_rec *rec, const struct jvm_event_row *row)
{
	bool sized = rec->kind == TRACE_CODE_LOAD || rec->kind == TRACE_CODE_UNLOAD;

	if (rec->kind < TRACE_FIRST_EVENT)
		return needed_has(&c->needed, rec);
	if (!is_of_process(rec))
		return selects(c, rec, row);
	return needed_has_all(&c->needed, rec) && (!sized || selects_time(c->an, rec));
}

static int find_needed(struct cut *c, struct stream *s)
{
	const struct jvm_event_row *row;
	struct trace_rec rec;
	int got, err = 0;

	while (!err && (got = stream_record(s, &rec, &row)) != 0) {
		if (got < 0)
			return got;
		if (rec.kind < TRACE_FIRST_EVENT)
			err = needed_define(&c->needed, &rec);
		else if (!is_of_process(&rec) && selects(c, &rec, row))
			err = needed_event(&c->needed, &rec);
	}
	return err ? err : needed_close(&c->needed);
}

static int find_derived(struct cut *c)
{
	for (size_t i = c->an->a->events.count; i < events_count(c->an); i++) {
		uint32_t *at = u64map_put(&c->derived, events_row(c->an, i));

		if (!at)
			return -ENOMEM;
		*at = (uint32_t)i + 1;
	}
	return 0;
}

/* ---- lives of threads ---- */

static int lives_init(struct cut *c)
{
	int err = 0;

	if (!analysis_has_window(c->an) || !events_recorded(c->an, BRAID_EVENT_TYPE_OFFCPU))
		return 0;
	err = wall_new(&c->wall, c->an);
	c->given = err ? NULL : calloc(c->wall->threads.count + 1, sizeof(*c->given));
	if (!c->given)
		return -ENOMEM;
	for (size_t i = 0; !err && i < c->wall->threads.count; i++) {
		uint32_t id = c->wall->threads.at[i].vthread;
		uint32_t *at = id ? u64map_put(&c->vthread_of, id) : NULL;

		if (at)
			*at = (uint32_t)i + 1;
		else if (id)
			err = -ENOMEM;
	}
	return err;
}

static const struct wall_thread *life_of(const struct cut *c, const struct trace_jvm_event *e)
{
	uint32_t vthread = u64map_get(&c->vthread_of, e->vthread);
	uint32_t row = table_row_of(&c->an->a->threads, e->thread);

	if (e->vthread)
		return vthread ? &c->wall->threads.at[vthread - 1] : NULL;
	return row == ROW_NONE ? NULL : &c->wall->threads.at[c->wall->leader[row]];
}

/*
 * How long a thread ran is known in sum. Of the part, it is what an analysis of the whole trace has for its window. The
 * first record says it if a thread has several, as in a merged trace.
 */
static void cut_life(const struct cut *c, struct trace_jvm_event *e)
{
	const struct wall_thread *t = c->wall && e->kind == BRAID_JVM_THREAD_TIME ? life_of(c, e) : NULL;
	bool *given;

	if (!t || !analysis_clip(c->an, &e->time_ns, &e->duration_ns))
		return;
	given = &c->given[t - c->wall->threads.at];
	e->value = *given ? 0 : t->ns[WALL_RUNNING];
	e->weight = *given ? 0 : t->ns[WALL_RUNNABLE];
	*given = true;
}

static int write_kept(struct cut *c, struct stream *s, struct trace_writer *w)
{
	const struct jvm_event_row *row;
	uint64_t left_from_ns, left_to_ns;
	struct trace_rec rec;
	int got, err = 0;

	while (!err && (got = stream_record(s, &rec, &row)) != 0) {
		bool kept;

		if (got < 0)
			return got;
		kept = keeps(c, &rec, row);
		if (kept && rec.kind == TRACE_JVM_EVENT)
			cut_life(c, &rec.jvm_event);
		err = put_kept(w, &rec, kept, c->counts);
	}
	trace_reader_left_out(s->reader, &left_from_ns, &left_to_ns);
	c->counts->unread = left_to_ns;
	/* The window of a part of a part is the smaller one, because the analysis was made under the larger one. */
	if (!err && c->an->from_ns)
		err = put_info_number(w, WINDOW_FROM, c->an->from_ns);
	if (!err && c->an->to_ns != UINT64_MAX)
		err = put_info_number(w, WINDOW_TO, c->an->to_ns);
	return err ?: put_lost(w, c->counts);
}

int edit_cut(struct trace_writer *w, struct trace_reader *r, const struct analysis *an, struct edit_counts *counts)
{
	struct cut c = {.an = an, .counts = counts};
	struct stream s;
	int err;

	*counts = (struct edit_counts){0};
	needed_init(&c.needed);
	stream_begin(&s, r, an);
	err = lives_init(&c) ?: find_derived(&c) ?: find_needed(&c, &s);
	if (!err) {
		stream_begin(&s, r, an);
		err = write_kept(&c, &s, w);
	}
	needed_free(&c.needed);
	wall_free(c.wall);
	u64map_free(&c.vthread_of);
	u64map_free(&c.derived);
	free(c.given);
	return err;
}
