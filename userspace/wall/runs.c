// SPDX-License-Identifier: Apache-2.0
#include "runs.h"

#include <stdlib.h>

#include <analyze/events.h>
#include <util/compare.h>

static bool has_cpus(const struct jvm_event_row *r)
{
	return r->kind == BRAID_JVM_OFFCPU && BRAID_OFFCPU_CLASS(r->flags) != BRAID_OFFCPU_UNKNOWN;
}

uint32_t wall_run_cpu(const struct jvm_event_row *row)
{
	return row && has_cpus(row) && !(row->flags & BRAID_OFFCPU_OPEN) ? (uint32_t)(row->weight >> 32) : UINT32_MAX;
}

/* ---- samples ---- */

/* A sample, which says on which CPU its thread was. */
struct sighting {
	uint32_t thread, cpu; /* thread: index of wall->threads */
	uint64_t time_ns;
};

typedef VEC(struct sighting) sightings;

static int compare_sightings(const void *x, const void *y)
{
	const struct sighting *p = x, *q = y;

	return compare_u64(p->thread, q->thread) ?: compare_u64(p->time_ns, q->time_ns) ?: compare_u64(p->cpu, q->cpu);
}

static int see(const struct wall *w, const struct sample *s, sightings *to)
{
	uint32_t row = table_row_of(&w->an->a->threads, s->thread);
	struct sighting one = {.cpu = s->cpu, .time_ns = s->time_ns};

	if (row == ROW_NONE || s->cpu == TRACE_NO_CPU ||
	    ((const struct thread_row *)table_row(&w->an->a->threads, row))->virtual)
		return 0;
	one.thread = w->leader[row];
	return VEC_PUSH(to, one);
}

/* Those of virtual threads are their carriers', too. */
static int find_sightings(const struct wall *w, sightings *to)
{
	const struct analyzer *a = w->an->a;
	int err = 0;

	for (size_t i = 0; i < a->samples.count && !err; i++)
		err = see(w, &a->samples.at[i], to);
	for (size_t i = 0; i < a->carried_samples.count && !err; i++)
		err = see(w, &a->carried_samples.at[i], to);
	VEC_SORT(to, compare_sightings);
	return err;
}

/* ---- runs of one thread ---- */

/* What is known of one thread's CPUs, in order. */
struct tracing {
	wall_runs *to;
	struct wall_run run; /* on one CPU so far; UINT32_MAX: not known */
	const struct sighting *seen;
	size_t at, end;	   /* the thread's next sample, and behind its last one */
	bool inside;	   /* between two times off the CPU */
	uint64_t apart_ns; /* see doubt() */
};

static int leave(struct tracing *t)
{
	int err = t->run.cpu != UINT32_MAX && t->run.start_ns < t->run.end_ns ? VEC_PUSH(t->to, t->run) : 0;

	t->run.cpu = UINT32_MAX;
	return err;
}

/* The thread was on the CPU then. If it was on another one before, it is not known when it came. */
static int arrive(struct tracing *t, uint32_t cpu, uint64_t time_ns)
{
	int err = 0;

	if (t->run.cpu != cpu) {
		err = leave(t);
		t->run.cpu = cpu;
		t->run.start_ns = time_ns;
	}
	t->run.end_ns = time_ns;
	return err;
}

/* At the ends of a life, nobody knows what was between two times that are far apart. */
static int doubt(struct tracing *t, uint64_t time_ns)
{
	bool far = t->run.cpu != UINT32_MAX && time_ns - t->run.end_ns > t->apart_ns;

	return !t->inside && far ? leave(t) : 0;
}

/* Samples between two times off the CPU. */
static int pass(struct tracing *t, uint64_t until_ns)
{
	int err = 0;

	for (; t->at < t->end && t->seen[t->at].time_ns < until_ns && !err; t->at++)
		err = doubt(t, t->seen[t->at].time_ns) ?: arrive(t, t->seen[t->at].cpu, t->seen[t->at].time_ns);
	return err;
}

/* Samples in a time off the CPU are of its begin or end. */
static void skip(struct tracing *t, uint64_t until_ns)
{
	while (t->at < t->end && t->seen[t->at].time_ns < until_ns)
		t->at++;
}

/* From one time off the CPU to the next. */
static int pass_row(struct tracing *x, const struct jvm_event_row *r)
{
	int err = pass(x, r->time_ns) ?: doubt(x, r->time_ns);

	if (!err && (x->inside || x->run.cpu != UINT32_MAX))
		err = arrive(x, (uint32_t)r->weight, r->time_ns);
	return err ?: leave(x);
}

static int add_runs(struct tracing *x, const struct wall *w, uint32_t thread)
{
	const struct wall_thread *t = &w->threads.at[thread];
	int err = 0;

	x->run = (struct wall_run){.thread = thread, .cpu = UINT32_MAX};
	x->inside = false;
	if (!t->known)
		x->at = x->end;
	for (size_t i = t->rows.first; i < t->rows.first + t->rows.count && !err; i++) {
		const struct jvm_event_row *r = &w->an->a->events.at[w->rows[i]];

		if (!has_cpus(r))
			continue;
		err = pass_row(x, r);
		skip(x, event_end_ns(r));
		if (!err && wall_run_cpu(r) != UINT32_MAX)
			err = arrive(x, wall_run_cpu(r), event_end_ns(r));
		x->inside = true;
	}
	x->inside = false;
	return err ?: pass(x, t->end_ns) ?: leave(x);
}

/* ---- all ---- */

static int compare_runs(const void *x, const void *y)
{
	const struct wall_run *p = x, *q = y;

	if (p->cpu != q->cpu)
		return p->cpu < q->cpu ? -1 : 1;
	if (p->start_ns != q->start_ns)
		return p->start_ns < q->start_ns ? -1 : 1;
	if (p->end_ns != q->end_ns)
		return p->end_ns < q->end_ns ? -1 : 1;
	return p->thread < q->thread ? -1 : p->thread > q->thread;
}

/* Gives what is left of the last run until then, and of those that it interrupted. */
static int give(wall_runs *open, uint64_t until_ns, wall_runs *to)
{
	uint64_t free_ns;
	int err = 0;

	while (open->count && !err) {
		struct wall_run *last = &open->at[open->count - 1], part = *last;

		if (last->end_ns > until_ns)
			part.end_ns = last->start_ns = until_ns;
		if (part.start_ns < part.end_ns)
			err = VEC_PUSH(to, part);
		if (last->end_ns > until_ns)
			break;
		/* One that ended while it was interrupted hands on when the CPU is free. */
		free_ns = part.start_ns > part.end_ns ? part.start_ns : part.end_ns;
		open->count--;
		if (open->count && open->at[open->count - 1].start_ns < free_ns)
			open->at[open->count - 1].start_ns = free_ns;
	}
	return err;
}

/*
 * If two overlap, the later thread had the CPU: the earlier one was off it for a short time, or on another one, and is
 * back when the later one leaves it.
 */
static int separate_runs(const wall_runs *runs, wall_runs *to)
{
	wall_runs open = {0};
	int err = 0;

	for (size_t i = 0; i < runs->count && !err; i++) {
		bool first = i && runs->at[i].cpu != runs->at[i - 1].cpu;

		err = give(&open, first ? UINT64_MAX : runs->at[i].start_ns, to) ?: VEC_PUSH(&open, runs->at[i]);
	}
	err = err ?: give(&open, UINT64_MAX, to);
	free(open.at);
	return err;
}

int wall_runs_find(const struct wall *w, bool samples, wall_runs *to)
{
	sightings seen = {0};
	wall_runs runs = {0};
	struct tracing x = {.to = &runs, .apart_ns = 2 * analyzer_period_ns(w->an->a)};
	size_t count = w->an->a->threads.count;
	int err = samples ? find_sightings(w, &seen) : 0;

	x.seen = seen.at;
	for (size_t i = 0; i < count && !err; i++) { /* not virtual ones: their carriers run */
		while (x.end < seen.count && seen.at[x.end].thread == i)
			x.end++;
		err = add_runs(&x, w, (uint32_t)i);
		x.at = x.end;
	}
	free(seen.at);
	VEC_SORT(&runs, compare_runs);
	err = err ?: separate_runs(&runs, to);
	free(runs.at);
	return err;
}
