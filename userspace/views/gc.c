// SPDX-License-Identifier: Apache-2.0
#include "gc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <braid/jvm_event.h>

#include <analyze/analysis.h>

#include <util/compare.h>

/* ---- sums ---- */

static int compare_names(const void *x, const void *y)
{
	const struct gc_sum *p = x, *q = y;
	int c = strcmp(p->name, q->name);

	if (!c)
		c = strcmp(p->what, q->what);
	return c ? c : strcmp(p->cause, q->cause);
}

static int gc_sums_compare(const void *x, const void *y)
{
	const struct gc_sum *p = x, *q = y;
	int c = compare_u64(q->total_ns, p->total_ns);

	return c ? c : compare_names(x, y);
}

/* Merges rows with the same names, in place. Returns the number of rows left. */
static size_t sums_merge(struct gc_sum *at, size_t count)
{
	size_t kept = 0;

	if (!count)
		return 0;
	qsort(at, count, sizeof(*at), compare_names);
	for (size_t i = 1; i < count; i++) {
		struct gc_sum *to = &at[kept];

		if (compare_names(to, &at[i])) {
			at[++kept] = at[i];
			continue;
		}
		to->count++;
		to->total_ns = add_saturating(to->total_ns, at[i].total_ns);
		if (at[i].max_ns > to->max_ns)
			to->max_ns = at[i].max_ns;
	}
	qsort(at, kept + 1, sizeof(*at), gc_sums_compare);
	return kept + 1;
}

/* ---- pauses ---- */

static int compare_pauses(const void *x, const void *y)
{
	const struct gc_pause *p = x, *q = y;
	int c = compare_u64(q->duration_ns, p->duration_ns);

	if (!c)
		c = compare_u64(p->flags, q->flags);
	if (!c)
		c = compare_u64(p->start_ns, q->start_ns);
	if (!c)
		c = compare_u64(p->process, q->process);
	return c ? c : compare_u64(p->number, q->number);
}

/* `sum` has the duration inside the window, which began at `start_ns`. */
static int take_pause(struct gc_view *g, const struct jvm_event_row *e, const struct gc_sum *sum, uint64_t start_ns)
{
	const struct gc_pause p = {
		.process = e->process,
		.flags = e->flags,
		.number = e->number,
		.start_ns = start_ns,
		.duration_ns = e->flags & BRAID_GC_PARTIAL ? 0 : sum->total_ns,
		.used_before = e->value,
		.used_after = e->weight,
		.collector = sum->name,
		.cause = sum->cause,
		.what = sum->what,
	};

	if (VEC_PUSH(&g->longest, p))
		return -ENOMEM;
	g->count++;
	if (e->flags & BRAID_GC_PARTIAL)
		return 0;
	g->timed++;
	g->total_ns = add_saturating(g->total_ns, p.duration_ns);
	return VEC_PUSH(&g->pauses, *sum);
}

static void figure_pauses(struct gc_view *g)
{
	VEC_SORT(&g->longest, compare_pauses);
	if (!g->timed)
		return;
	g->mean_ns = g->total_ns / g->timed;
	g->max_ns = g->longest.at[0].duration_ns;
	/* nearest rank */
	g->p99_ns = g->longest.at[g->timed - (g->timed * 99 + 99) / 100].duration_ns;
}

static bool is_collection(const struct jvm_event_row *e)
{
	return e->kind >= BRAID_JVM_GC_PAUSE && e->kind <= BRAID_JVM_GC_PHASE;
}

int gc_view_fill(struct gc_view *g, const struct analysis *an)
{
	const struct analyzer *a = an->a;
	int err = 0;

	for (size_t i = 0; i < a->events.count && !err; i++) {
		const struct jvm_event_row *e = &a->events.at[i];
		uint64_t start_ns = e->time_ns, duration_ns = e->duration_ns;
		struct gc_sum sum = {.count = 1};

		if (!is_collection(e) || !analysis_selects_process(an, analysis_process(an, e->process)) ||
		    !analysis_clip(an, &start_ns, &duration_ns))
			continue;
		sum.total_ns = sum.max_ns = duration_ns;
		sum.name = strpool_get(&a->strings, e->name);
		sum.cause = strpool_get(&a->strings, e->detail);
		sum.what = strpool_get(&a->strings, e->text);
		if (e->kind == BRAID_JVM_GC_PAUSE)
			err = take_pause(g, e, &sum, start_ns);
		else if (e->kind == BRAID_JVM_GC_CYCLE && !(e->flags & BRAID_GC_PARTIAL))
			err = VEC_PUSH(&g->cycles, sum);
		else if (e->kind == BRAID_JVM_GC_PHASE)
			err = VEC_PUSH(&g->phases, sum);
	}
	figure_pauses(g);
	g->pauses.count = sums_merge(g->pauses.at, g->pauses.count);
	g->cycles.count = sums_merge(g->cycles.at, g->cycles.count);
	g->phases.count = sums_merge(g->phases.at, g->phases.count);
	return err;
}

void gc_view_free(struct gc_view *g)
{
	free(g->pauses.at);
	free(g->cycles.at);
	free(g->phases.at);
	free(g->longest.at);
}
