// SPDX-License-Identifier: Apache-2.0
#include "runs.h"

#include <stdlib.h>

#include <analyze/events.h>

static bool has_cpus(const struct jvm_event_row *r)
{
	return r->kind == BRAID_JVM_OFFCPU && BRAID_OFFCPU_CLASS(r->flags) != BRAID_OFFCPU_UNKNOWN;
}

uint32_t wall_run_cpu(const struct jvm_event_row *row)
{
	return row && has_cpus(row) && !(row->flags & BRAID_OFFCPU_OPEN) ? (uint32_t)(row->weight >> 32) : UINT32_MAX;
}

/* Between two times off the CPU, if the thread left the CPU that it had come back to. */
static int add_runs(const struct wall *w, uint32_t thread, wall_runs *to)
{
	const struct wall_thread *t = &w->threads.at[thread];
	const struct jvm_event_row *last = NULL;
	int err = 0;

	for (size_t i = t->rows.first; i < t->rows.first + t->rows.count && !err; i++) {
		const struct jvm_event_row *r = &w->an->a->events.at[w->rows[i]];
		struct wall_run run = {.thread = thread, .end_ns = r->time_ns};

		if (!has_cpus(r))
			continue;
		run.cpu = wall_run_cpu(last);
		run.start_ns = last ? event_end_ns(last) : 0;
		if (run.cpu != UINT32_MAX && run.cpu == (uint32_t)r->weight && run.start_ns < run.end_ns)
			err = VEC_PUSH(to, run);
		last = r;
	}
	return err;
}

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

/* If two overlap, the later thread had the CPU: the earlier one was off it for a short time. The rest is not known. */
static void separate_runs(wall_runs *runs)
{
	for (size_t i = 0; i + 1 < runs->count; i++) {
		struct wall_run *run = &runs->at[i];
		const struct wall_run *next = run + 1;

		if (run->cpu == next->cpu && run->end_ns > next->start_ns)
			run->end_ns = next->start_ns;
	}
}

int wall_runs_find(const struct wall *w, wall_runs *to)
{
	int err = 0;

	for (size_t i = 0; i < w->an->a->threads.count && !err; i++) /* not virtual ones: their carriers run */
		err = add_runs(w, (uint32_t)i, to);
	VEC_SORT(to, compare_runs);
	separate_runs(to);
	return err;
}
