// SPDX-License-Identifier: Apache-2.0
/*
 * The report's tables of a JVM's start, of classes per second, and of the targets of native methods. event_views.c
 * calls it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event_views.h"

#include <util/compare.h>

#define SPANS 10		/* rows for equal parts of the time shown */
#define START_NS 10000000000ULL /* the longest time that counts as a start */

/* ---- the start of one JVM ---- */

struct begun {
	uint32_t process; /* id */
	uint64_t at_ns;	  /* the process's start */
	uint64_t until_ns;
	size_t first, count; /* rows in v->starts */
};

static bool is_phase(const struct event *e)
{
	return e->kind == BRAID_JVM_PHASE && *e->name;
}

static int compare_starts(const void *x, const void *y)
{
	const struct start_view *p = x, *q = y;
	int c = compare_u64(p->at_ns, q->at_ns);

	return c ? c : strcmp(p->phase, q->phase);
}

/*
 * Adds the rows to be filled: phases, and the ends of equal spans between the process's start and the last known event.
 */
static int lay_out(struct event_views *v, const struct analysis *an, struct begun *b)
{
	uint64_t long_ns = b->until_ns - b->at_ns;
	struct start_view row = {.process = b->process, .pid = analysis_process(an, b->process)->pid, .phase = ""};
	int err = 0;

	b->first = v->starts.count;
	for (uint64_t i = 1; i <= SPANS && !err; i++) {
		row.at_ns = long_ns / SPANS * i;
		err = VEC_PUSH(&v->starts, row);
	}
	for (size_t i = 0; i < an->a->events.count && !err; i++) {
		struct event e;

		if (an->a->events.at[i].process != b->process || an->a->events.at[i].kind != BRAID_JVM_PHASE ||
		    !events_get(an, i, &e) || !is_phase(&e) || e.row->time_ns < b->at_ns ||
		    e.row->time_ns > b->until_ns)
			continue;
		row.phase = e.name;
		row.at_ns = e.row->time_ns - b->at_ns;
		if (v->starts.count - b->first < SPANS + 16) /* a JVM has five */
			err = VEC_PUSH(&v->starts, row);
	}
	b->count = v->starts.count - b->first;
	qsort(&v->starts.at[b->first], b->count, sizeof(*v->starts.at), compare_starts);
	return err;
}

static void add_to_start(struct start_view *row, const struct event *e)
{
	switch (e->kind) {
	case BRAID_JVM_CLASS_LOAD:
		row->loaded++;
		break;
	case BRAID_JVM_COMPILE:
		row->compiled++;
		break;
	case BRAID_JVM_THREAD_START:
		row->threads++;
		break;
	case BRAID_JVM_EXCEPTION:
		row->exceptions = add_saturating(row->exceptions, e->weight);
		break;
	case BRAID_JVM_GC_PAUSE:
		row->paused_ns = add_saturating(row->paused_ns, e->duration_ns);
		break;
	default:
		break;
	}
}

/* An event counts in the first row at or after its end; the sums are cumulative. */
static void fill(struct event_views *v, const struct analysis *an, const struct begun *b)
{
	struct start_view *rows = &v->starts.at[b->first];

	for (size_t i = 0; i < an->a->events.count; i++) {
		uint64_t since;
		struct event e;
		size_t r = 0;

		if (an->a->events.at[i].process != b->process || event_end_ns(&an->a->events.at[i]) > b->until_ns ||
		    !events_get(an, i, &e))
			continue;
		since = event_end_ns(e.row) > b->at_ns ? event_end_ns(e.row) - b->at_ns : 0;
		while (r + 1 < b->count && rows[r].at_ns < since)
			r++;
		add_to_start(&rows[r], &e);
	}
	for (size_t r = 1; r < b->count; r++) {
		rows[r].loaded += rows[r - 1].loaded;
		rows[r].compiled += rows[r - 1].compiled;
		rows[r].threads += rows[r - 1].threads;
		rows[r].exceptions = add_saturating(rows[r].exceptions, rows[r - 1].exceptions);
		rows[r].paused_ns = add_saturating(rows[r].paused_ns, rows[r - 1].paused_ns);
	}
}

/* The time of the JVM's death, UINT64_MAX without one. */
static uint64_t death_of(const struct analysis *an, uint32_t process)
{
	const struct jvm_event_row *rows = an->a->events.at;

	for (size_t i = 0; i < an->a->events.count; i++)
		if (rows[i].kind == BRAID_JVM_PHASE && rows[i].process == process &&
		    strcmp(strpool_get(&an->a->strings, rows[i].name), "death") == 0)
			return rows[i].time_ns;
	return UINT64_MAX;
}

/* Only for JVMs whose byte code began to run in the recording. */
static int view_start(struct event_views *v, const struct analysis *an, const struct event *e)
{
	struct begun b = {.process = e->row->process,
			  .at_ns = analysis_process(an, e->row->process)->start_ns,
			  .until_ns = an->a->last_ns};
	uint64_t death_ns = death_of(an, b.process);
	int err;

	if (death_ns < b.until_ns)
		b.until_ns = death_ns;
	/* A process that became a JVM long after its start. */
	if (!b.at_ns || b.at_ns > e->row->time_ns || e->row->time_ns - b.at_ns > START_NS)
		b.at_ns = e->row->time_ns;
	if (b.until_ns < b.at_ns)
		return 0;
	if (b.until_ns - b.at_ns > START_NS)
		b.until_ns = b.at_ns + START_NS;
	err = lay_out(v, an, &b);
	if (!err)
		fill(v, an, &b);
	return err;
}

static int view_starts(struct event_views *v, const struct analysis *an)
{
	unsigned jvms = 0;
	int err = 0;

	if (!v->kinds[BRAID_JVM_PHASE].count)
		return 0;
	for (size_t i = 0; i < an->a->events.count && !err; i++) {
		struct event e;

		if (an->a->events.at[i].kind != BRAID_JVM_PHASE || !events_get(an, i, &e) ||
		    strcmp(e.name, "start") != 0 || jvms++ >= 16)
			continue;
		err = view_start(v, an, &e);
	}
	return err;
}

/* ---- classes per second ---- */

static int compare_seconds(const void *x, const void *y)
{
	return compare_u64(((const struct class_second *)x)->second, ((const struct class_second *)y)->second);
}

static int view_classes(struct event_views *v, const struct analysis *an)
{
	struct u64map of = {0}; /* second to its index + 1 */
	int err = 0;

	for (size_t i = 0; i < an->a->events.count && !err; i++) {
		uint32_t kind = an->a->events.at[i].kind, *at;
		struct class_second fresh = {0};
		struct event e;

		if ((kind != BRAID_JVM_CLASS_LOAD && kind != BRAID_JVM_CLASS_UNLOAD) || !events_get(an, i, &e))
			continue;
		fresh.second = analysis_since(an, e.row->time_ns) / 1000000000;
		at = u64map_put(&of, fresh.second);
		if (!at || (!*at && VEC_PUSH(&v->classes, fresh))) {
			err = -ENOMEM;
			break;
		}
		if (!*at)
			*at = (uint32_t)v->classes.count;
		if (kind == BRAID_JVM_CLASS_LOAD)
			v->classes.at[*at - 1].loaded++;
		else
			v->classes.at[*at - 1].unloaded = add_saturating(v->classes.at[*at - 1].unloaded, e.weight);
	}
	u64map_free(&of);
	VEC_SORT(&v->classes, compare_seconds);
	return err;
}

/* ---- native methods ---- */

static int compare_binds(const void *x, const void *y)
{
	const struct bind_view *p = x, *q = y;
	int c = compare_u64(p->pid, q->pid);

	if (!c)
		c = strcmp(p->method, q->method);
	return c ? c : compare_u64(p->address, q->address);
}

static int view_binds(struct event_views *v, const struct analysis *an)
{
	int err = 0;

	for (size_t i = 0; i < an->a->events.count && !err; i++) {
		struct bind_view b;
		struct event e;

		if (an->a->events.at[i].kind != BRAID_JVM_NATIVE_BIND || !events_get(an, i, &e))
			continue;
		b = (struct bind_view){.pid = analysis_process(an, e.row->process)->pid,
				       .method = *e.name ? e.name : "[unknown]",
				       .symbol = strpool_get(&an->a->strings, e.row->text),
				       .address = e.row->number};
		err = VEC_PUSH(&v->binds, b);
	}
	VEC_SORT(&v->binds, compare_binds);
	return err;
}

int event_views_start(struct event_views *v, const struct analysis *an)
{
	return view_starts(v, an) ?: view_classes(v, an) ?: view_binds(v, an);
}
