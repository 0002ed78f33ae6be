// SPDX-License-Identifier: Apache-2.0
#include "span_view.h"

#include <analyze/events.h>
#include <analyze/spans.h>
#include <analyze/vthreads.h>
#include <util/compare.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct seen_in {
	uint32_t thread, vthread; /* a row, and an id */
};

static struct seen_in in_thread(const struct span_view *v, uint32_t thread, uint32_t vthread)
{
	return (struct seen_in){thread, vthreads_get(v->an->a, vthread) ? vthread : 0};
}

/* While they are added, there is one for each row of a->spans, with `row` NULL until something is seen in it. */
static struct span_sum *seen(struct span_view *v, uint32_t span, struct seen_in in, uint64_t from_ns, uint64_t to_ns)
{
	const struct analyzer *a = v->an->a;
	size_t row = table_find(&a->spans, spans_same(a, span));
	struct span_sum *s = row == TABLE_NONE ? NULL : &v->sums.at[row];

	if (!s)
		return NULL;
	if (!s->row) {
		s->row = table_row(&a->spans, row);
		s->pid = analysis_process(v->an, s->row->process)->pid;
		s->thread = in.thread;
		s->vthread = in.vthread;
		s->first_ns = from_ns;
	}
	s->others = s->others || s->thread != in.thread || s->vthread != in.vthread;
	s->first_ns = from_ns < s->first_ns ? from_ns : s->first_ns;
	s->last_ns = to_ns > s->last_ns ? to_ns : s->last_ns;
	return s;
}

static void add_sample(struct span_view *v, const struct sample *r)
{
	const struct analysis *an = v->an;
	uint32_t row = table_row_of(&an->a->threads, r->thread);
	struct span_sum *s;

	if (!r->span || !analysis_selects_time(an, r->time_ns) || !analysis_selects_span(an, r->span) ||
	    !analysis_selects_thread(an, row) || !analysis_selects_stack(an, table_row_of(&an->a->nodes, r->node)))
		return;
	s = seen(v, r->span, in_thread(v, row, r->vthread), r->time_ns, r->time_ns);
	if (!s)
		return;
	s->samples = add_saturating(s->samples, r->weight);
	v->samples = add_saturating(v->samples, r->weight);
}

static void add_hit(struct span_view *v, const struct sample *r)
{
	uint32_t row = table_row_of(&v->an->a->threads, r->thread);
	struct span_sum *s = NULL;

	if (r->span && analysis_selects_time(v->an, r->time_ns) && analysis_selects_span(v->an, r->span) &&
	    analysis_selects_thread(v->an, row))
		s = seen(v, r->span, in_thread(v, row, r->vthread), r->time_ns, r->time_ns);
	if (s)
		s->events++;
}

static bool is_offcpu(uint32_t kind)
{
	return kind == BRAID_JVM_OFFCPU || kind == BRAID_JVM_LOCK || kind == BRAID_JVM_WAIT;
}

static void add_event(struct span_view *v, const struct event *e)
{
	uint64_t ns = e->summed ? e->weight : e->duration_ns;
	struct span_sum *s;

	if (!e->row->span)
		return;
	s = seen(v, e->row->span, in_thread(v, e->thread, e->row->vthread), e->start_ns,
		 add_saturating(e->start_ns, e->duration_ns));
	if (!s)
		return;
	s->events = add_saturating(s->events, e->count);
	if (!is_offcpu(e->kind))
		return;
	s->offcpu_ns = add_saturating(s->offcpu_ns, ns);
	v->offcpu_ns = add_saturating(v->offcpu_ns, ns);
}

/*
 * In which span it was is not known, whatever spans are selected: it was only counted, or added up before spans were
 * made.
 */
static void add_counted(struct span_view *v, const struct jvm_event_row *r)
{
	const struct analysis *an = v->an;
	uint64_t at_ns = r->time_ns, ns = r->duration_ns;

	if (r->kind != BRAID_JVM_COUNTED || r->number != BRAID_JVM_OFFCPU || r->span ||
	    (event_is_sum(r) && !an->a->made.count) || !analysis_clip(an, &at_ns, &ns) ||
	    !analysis_selects_thread(an, event_thread(an->a, r)) ||
	    !analysis_selects_stack(an, table_row_of(&an->a->nodes, r->node)))
		return;
	v->counted_ns = add_saturating(v->counted_ns, r->weight);
}

/* Samples and events whose span is not known, although their thread was in one. */
static uint64_t lost_spans(const struct analyzer *a)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < a->losses.count; i++)
		if (strcmp(strpool_get(&a->strings, a->losses.at[i].kind), "span") == 0)
			lost = add_saturating(lost, a->losses.at[i].count);
	return lost;
}

static int by_start(const struct span_sum *x, const struct span_sum *y)
{
	return compare_u64(x->first_ns, y->first_ns) ?: (x->row > y->row) - (x->row < y->row);
}

static int by_samples(const void *a, const void *b)
{
	const struct span_sum *x = a, *y = b;

	return compare_u64(y->samples, x->samples) ?: compare_u64(y->offcpu_ns, x->offcpu_ns) ?: by_start(x, y);
}

static int by_offcpu(const void *a, const void *b)
{
	const struct span_sum *x = a, *y = b;

	return compare_u64(y->offcpu_ns, x->offcpu_ns) ?: compare_u64(y->samples, x->samples) ?: by_start(x, y);
}

static int by_duration(const void *a, const void *b)
{
	const struct span_sum *x = a, *y = b;

	return compare_u64(y->last_ns - y->first_ns, x->last_ns - x->first_ns) ?: by_start(x, y);
}

void span_view_sort(struct span_view *v, enum span_order order)
{
	static int (*const compare[])(const void *, const void *) = {
		[SPANS_BY_SAMPLES] = by_samples, [SPANS_BY_OFFCPU] = by_offcpu, [SPANS_BY_DURATION] = by_duration};

	VEC_SORT(&v->sums, compare[order]);
}

/* When a span that was made began and ended is known, whatever was seen in it. */
static void place_made(struct span_view *v)
{
	const struct span_stretches *made = &v->an->a->made;

	for (size_t i = 0; i < made->count; i++) {
		size_t row = table_find(&v->an->a->spans, made->at[i].span);

		if (row == TABLE_NONE || !v->sums.at[row].row)
			continue;
		v->sums.at[row].first_ns = made->at[i].from_ns;
		v->sums.at[row].last_ns = made->at[i].to_ns;
	}
}

int span_view_new(struct span_view **out, const struct analysis *an)
{
	struct span_view *v = calloc(1, sizeof(*v));
	size_t used = 0;
	struct event e;

	*out = v;
	if (!v)
		return -ENOMEM;
	v->an = an;
	v->sums.at = calloc(an->a->spans.count + 1, sizeof(*v->sums.at));
	if (!v->sums.at)
		return -ENOMEM;
	for (size_t i = 0; i < an->a->samples.count; i++)
		add_sample(v, &an->a->samples.at[i]);
	for (size_t i = 0; i < an->a->hits.count; i++)
		for (size_t k = 0; k < an->a->hits.at[i].samples.count; k++)
			add_hit(v, &an->a->hits.at[i].samples.at[k]);
	for (size_t i = 0; i < events_count(an); i++)
		if (events_get_summed(an, i, &e))
			add_event(v, &e);
	for (size_t i = 0; i < an->a->events.count; i++)
		add_counted(v, &an->a->events.at[i]);
	place_made(v);
	v->lost = lost_spans(an->a);
	for (size_t i = 0; i < an->a->spans.count; i++)
		if (v->sums.at[i].row)
			v->sums.at[used++] = v->sums.at[i];
	v->sums.count = used;
	span_view_sort(v, SPANS_BY_SAMPLES);
	return 0;
}

void span_view_free(struct span_view *v)
{
	if (v)
		free(v->sums.at);
	free(v);
}
