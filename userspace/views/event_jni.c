// SPDX-License-Identifier: Apache-2.0
/*
 * The report's tables of JNI references and of collections that waited for critical sections. event_views.c calls it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event_views.h"
#include "gc.h"

#include <util/compare.h>
#include <util/search.h>

static int add_refs(struct event_views *v, const struct event *e)
{
	struct jni_view one = {.process = e->row->process,
			       .at_ns = event_end_ns(e->row),
			       .created = e->row->value,
			       .deleted = e->row->weight,
			       .unwatched = e->row->number,
			       .others = e->row->flags};

	return VEC_PUSH(&v->jni, one);
}

static int add_pause(struct event_views *v, const struct analysis *an, const struct event *e)
{
	struct held_view one = {.process = e->row->process,
				.number = e->row->number,
				.at_ns = e->start_ns,
				.gc_ns = e->duration_ns,
				.thread = ROW_NONE,
				.stack = ROW_NONE};

	if (strcmp(strpool_get(&an->a->strings, e->row->detail), GC_CAUSE_LOCKER) != 0)
		return 0;
	return VEC_PUSH(&v->held, one);
}

static int compare_at(const void *a, const void *b)
{
	const struct held_view *p = a, *q = b;
	int c = compare_u64(p->process, q->process);

	return c ? c : compare_u64(p->at_ns, q->at_ns);
}

static int compare_held(const void *a, const void *b)
{
	const struct held_view *p = a, *q = b;
	int c = compare_u64(q->section_ns, p->section_ns);

	return c ? c : compare_at(a, b);
}

/* The first pause of the process at that time or later. */
static size_t pause_from(const struct event_views *v, uint32_t process, uint64_t time_ns)
{
	const struct held_view key = {.process = process, .at_ns = time_ns};

	return SEARCH(i, 0, v->held.count, compare_at(&v->held.at[i], &key) < 0);
}

/*
 * The last thread to leave a section runs the collection before its call that ends the section returns. Others may
 * still be in theirs.
 */
static void add_section(struct event_views *v, const struct event *e)
{
	uint64_t end = event_end_ns(e->row);
	size_t at = pause_from(v, e->row->process, end);
	struct held_view *h = at < v->held.count ? &v->held.at[at] : NULL;

	if (!h || h->process != e->row->process || h->at_ns > add_saturating(end, e->row->weight) || end < h->end_ns)
		return;
	h->end_ns = end;
	h->section_ns = e->row->duration_ns;
	h->thread = e->thread;
	h->stack = e->stack;
}

int event_views_jni(struct event_views *v, const struct analysis *an)
{
	int err = 0;
	struct event e;

	for (size_t i = 0; i < events_count(an) && !err; i++) {
		if (!events_get(an, i, &e))
			continue;
		if (e.kind == BRAID_JVM_JNI_REFS)
			err = add_refs(v, &e);
		else if (e.kind == BRAID_JVM_GC_PAUSE && events_recorded(an, BRAID_EVENT_TYPE_JNI_CRITICAL))
			err = add_pause(v, an, &e);
	}
	VEC_SORT(&v->held, compare_at);
	for (size_t i = 0; v->held.count && i < an->a->events.count && !err; i++)
		if (an->a->events.at[i].kind == BRAID_JVM_JNI_CRITICAL && events_get(an, i, &e))
			add_section(v, &e);
	VEC_SORT(&v->held, compare_held);
	return err;
}
