// SPDX-License-Identifier: Apache-2.0
/*
 * The report's tables of compilations: by tier, the longest ones, methods that are compiled repeatedly, and the code
 * cache. event_views.c calls it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event_views.h"

#include <util/compare.h>

static uint32_t pid_of(const struct analysis *an, const struct event *e)
{
	return analysis_process(an, e->row->process)->pid;
}

/* ---- methods ---- */

static struct method_compiles *method_of(struct event_views *v, struct u64map *of, const struct event *e)
{
	struct method_compiles fresh = {.method = e->name, .process = e->row->process};
	uint32_t *at = u64map_put(of, (uint64_t)e->row->process << 32 | e->name_id);

	if (!at || (!*at && VEC_PUSH(&v->storms, fresh)))
		return NULL;
	if (!*at)
		*at = (uint32_t)v->storms.count;
	return &v->storms.at[*at - 1];
}

static int add_compile(struct event_views *v, const struct analysis *an, struct u64map *of, const struct event *e)
{
	struct level_view *level = &v->levels[e->row->flags & BRAID_COMPILE_LEVEL];
	struct compile_view one = {.method = *e->name ? e->name : "[unknown]",
				   .pid = pid_of(an, e),
				   .flags = e->row->flags,
				   .at_ns = e->start_ns,
				   .duration_ns = e->duration_ns,
				   .bytes = e->row->value};
	struct method_compiles *m;

	level->count++;
	level->timed += e->duration_ns > 0;
	level->ns = add_saturating(level->ns, e->duration_ns);
	level->bytes = add_saturating(level->bytes, e->row->value);
	level->failed += (e->row->flags & BRAID_COMPILE_FAILED) != 0;
	if (VEC_PUSH(&v->compiles, one))
		return -ENOMEM;
	if (!e->name_id || !(e->row->flags & BRAID_COMPILE_LEVEL)) /* a native wrapper is no compilation */
		return 0;
	m = method_of(v, of, e);
	if (!m)
		return -ENOMEM;
	m->count++;
	m->ns = add_saturating(m->ns, e->duration_ns);
	m->bytes = add_saturating(m->bytes, e->row->value);
	return 0;
}

static int add_deopt(struct event_views *v, struct u64map *of, const struct event *e)
{
	struct method_compiles *m = e->name_id ? method_of(v, of, e) : NULL;

	if (m)
		m->deopts++;
	return m || !e->name_id ? 0 : -ENOMEM;
}

static int compare_storms(const void *x, const void *y)
{
	const struct method_compiles *p = x, *q = y;
	int c = compare_u64(q->count, p->count);

	if (!c)
		c = compare_u64(q->ns, p->ns);
	if (!c)
		c = strcmp(p->method, q->method);
	return c ? c : compare_u64(p->process, q->process);
}

static void keep_storms(struct event_views *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->storms.count; i++)
		if (v->storms.at[i].count >= STORM)
			v->storms.at[n++] = v->storms.at[i];
	v->storms.count = n;
	VEC_SORT(&v->storms, compare_storms);
}

static int compare_compiles(const void *x, const void *y)
{
	const struct compile_view *p = x, *q = y;
	int c = compare_u64(q->duration_ns, p->duration_ns);

	if (!c)
		c = compare_u64(q->bytes, p->bytes);
	if (!c)
		c = compare_u64(p->at_ns, q->at_ns);
	return c ? c : strcmp(p->method, q->method);
}

/* ---- code cache ---- */

static int add_heap(struct event_views *v, const struct analysis *an, const struct event *e)
{
	struct code_heap_view fresh = {
		.heap = e->name, .pid = pid_of(an, e), .first = e->row->value, .first_ns = e->row->time_ns};
	struct code_heap_view *h = NULL;

	/* A JVM has at most three code heaps. */
	for (size_t i = 0; i < v->heaps.count && !h; i++)
		if (v->heaps.at[i].pid == fresh.pid && strcmp(v->heaps.at[i].heap, fresh.heap) == 0)
			h = &v->heaps.at[i];
	if (!h) {
		if (v->heaps.count >= 64)
			return 0;
		if (VEC_PUSH(&v->heaps, fresh))
			return -ENOMEM;
		h = &v->heaps.at[v->heaps.count - 1];
	}
	if (e->row->time_ns < h->first_ns) {
		h->first_ns = e->row->time_ns;
		h->first = e->row->value;
	}
	if (e->row->time_ns >= h->last_ns) {
		h->last_ns = e->row->time_ns;
		h->last = e->row->value;
		h->reserved = e->row->weight;
	}
	if (e->row->value > h->max)
		h->max = e->row->value;
	return 0;
}

static int compare_heaps(const void *x, const void *y)
{
	const struct code_heap_view *p = x, *q = y;
	int c = compare_u64(p->pid, q->pid);

	return c ? c : strcmp(p->heap, q->heap);
}

int event_views_jit(struct event_views *v, const struct analysis *an)
{
	struct u64map of = {0};
	int err = 0;

	for (size_t i = 0; i < an->a->events.count && !err; i++) {
		uint32_t kind = an->a->events.at[i].kind;
		struct event e;

		if ((kind != BRAID_JVM_COMPILE && kind != BRAID_JVM_DEOPT && kind != BRAID_JVM_CODE_CACHE) ||
		    !events_get(an, i, &e))
			continue;
		err = kind == BRAID_JVM_COMPILE ? add_compile(v, an, &of, &e)
		      : kind == BRAID_JVM_DEOPT ? add_deopt(v, &of, &e)
						: add_heap(v, an, &e);
	}
	u64map_free(&of);
	keep_storms(v);
	VEC_SORT(&v->compiles, compare_compiles);
	VEC_SORT(&v->heaps, compare_heaps);
	return err;
}
