// SPDX-License-Identifier: Apache-2.0
/* The page's timeline: what threads waited for, and when they stood still for collectors and other VM operations. */
#include <errno.h>
#include <stdlib.h>

#include <analyze/events.h>

#include "lanes.h"

#define SPANS_MAX 20000U /* the longest ones; a browser draws this many */

struct span {
	uint64_t start_ns, duration_ns;
	uint32_t kind;
	uint32_t thread; /* number in the page */
	uint32_t pid;
	const char *name;
	uint32_t name_id; /* within the kind */
};

typedef VEC(struct span) span_list;

/* Whether all threads of a JVM stand still during such an event. */
static bool timeline_of_all(uint32_t kind)
{
	return kind == BRAID_JVM_GC_PAUSE || kind == BRAID_JVM_SAFEPOINT;
}

/* With lanes, times off the CPU are segments of these, and other events lie over them. */
static bool on_timeline(const struct page *p, uint32_t kind)
{
	return kind == BRAID_JVM_LOCK || kind == BRAID_JVM_WAIT || kind == BRAID_JVM_COMPILE ||
	       (kind == BRAID_JVM_OFFCPU && !p->lanes) || timeline_of_all(kind);
}

static int compare_durations(const void *x, const void *y)
{
	const struct span *p = x, *q = y;

	if (p->duration_ns != q->duration_ns)
		return p->duration_ns > q->duration_ns ? -1 : 1;
	return (p->start_ns > q->start_ns) - (p->start_ns < q->start_ns);
}

static int compare_starts(const void *x, const void *y)
{
	const struct span *p = x, *q = y;

	if (p->start_ns != q->start_ns)
		return p->start_ns < q->start_ns ? -1 : 1;
	if (p->kind != q->kind)
		return p->kind < q->kind ? -1 : 1;
	return (p->thread > q->thread) - (p->thread < q->thread);
}

static int timeline_collect(struct page *p, span_list *spans)
{
	const struct analysis *an = p->an;
	int err = 0;

	if (!analyzer_has_times(an->a))
		return 0;
	for (size_t i = 0; i < an->a->events.count && !err; i++) {
		struct span s;
		struct event e;

		if (!on_timeline(p, an->a->events.at[i].kind) || !events_get(an, i, &e) || !e.duration_ns ||
		    (e.thread == ROW_NONE && !timeline_of_all(e.kind)))
			continue;
		s = (struct span){.start_ns = analysis_since(an, e.start_ns),
				  .duration_ns = e.duration_ns,
				  .kind = e.kind,
				  .pid = analysis_process(an, e.row->process)->pid,
				  .name = e.name,
				  .name_id = e.name_id};
		/* A span that began before the recording is shown from the recording's start. */
		if (e.start_ns < an->start_ns)
			s.duration_ns -=
				s.duration_ns < an->start_ns - e.start_ns ? s.duration_ns : an->start_ns - e.start_ns;
		if (!timeline_of_all(e.kind))
			err = page_thread(p, e.thread, &s.thread);
		err = err ?: VEC_PUSH(spans, s);
	}
	return err;
}

/* Flat: kind, thread (or pid, when all threads stood still), name, start and duration in us. */
static int write_spans(struct page *p, const span_list *spans, size_t count)
{
	struct u64map known = {0};
	VEC(const char *) names = {0};
	int err = 0;

	json_open(&p->j, "spans", '[');
	for (size_t i = 0; i < count && !err; i++) {
		const struct span *s = &spans->at[i];
		uint32_t *at = u64map_put(&known, (uint64_t)s->kind << 32 | s->name_id);

		if (!at || (!*at && VEC_PUSH(&names, s->name))) {
			err = -ENOMEM;
			break;
		}
		if (!*at)
			*at = (uint32_t)names.count;
		json_number(&p->j, NULL, s->kind);
		json_number(&p->j, NULL, timeline_of_all(s->kind) ? s->pid : s->thread);
		json_number(&p->j, NULL, *at - 1);
		json_number(&p->j, NULL, s->start_ns / 1000);
		json_number(&p->j, NULL, s->duration_ns / 1000);
	}
	json_close(&p->j, ']');
	json_open(&p->j, "names", '[');
	for (size_t i = 0; i < names.count; i++)
		json_string(&p->j, NULL, names.at[i]);
	json_close(&p->j, ']');
	free(names.at);
	u64map_free(&known);
	return err;
}

int html_timeline(struct page *p)
{
	span_list spans = {0};
	int err = timeline_collect(p, &spans);
	size_t count = spans.count < SPANS_MAX ? spans.count : SPANS_MAX;

	VEC_SORT(&spans, compare_durations);
	if (count)
		qsort(spans.at, count, sizeof(*spans.at), compare_starts);
	json_open(&p->j, "timeline", '{');
	json_number(&p->j, "from_us", analysis_since(p->an, p->an->from_ns) / 1000);
	json_number(&p->j, "to_us", analysis_end_ns(p->an) / 1000);
	json_number(&p->j, "left_out", spans.count - count);
	json_open(&p->j, "kinds", '{');
	for (uint32_t kind = 0; kind < BRAID_JVM_EVENTS; kind++)
		if (on_timeline(p, kind)) {
			char number[16];

			snprintf(number, sizeof(number), "%u", kind);
			json_string(&p->j, number, kind_of(kind)->title);
		}
	json_close(&p->j, '}');
	err = err ?: write_spans(p, &spans, count);
	json_close(&p->j, '}');
	free(spans.at);
	return err;
}

/* ---- lanes ---- */

static bool has_lives(const struct analysis *an)
{
	for (size_t i = 0; i < an->a->events.count; i++)
		if (an->a->events.at[i].kind == BRAID_JVM_OFFCPU)
			return true;
	return false;
}

int html_lanes(struct page *p, const struct wall *wall)
{
	int err;

	p->lanes = has_lives(p->an);
	json_open(&p->j, "lanes", '{');
	json_open(&p->j, "states", '[');
	for (int s = 0; s < WALL_STATES; s++) {
		json_open(&p->j, NULL, '[');
		json_string(&p->j, NULL, wall_key((enum wall_state)s));
		json_string(&p->j, NULL, wall_title((enum wall_state)s));
		json_close(&p->j, ']');
	}
	json_close(&p->j, ']');
	err = html_cpu_lanes(p, wall);
	if (p->lanes)
		err = err ?: html_thread_lanes(p, wall);
	json_close(&p->j, '}');
	return err;
}
