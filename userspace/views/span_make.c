// SPDX-License-Identifier: Apache-2.0
#include "span_make.h"

#include <analyze/definitions.h>
#include <analyze/events.h>
#include <analyze/spans.h>
#include <analyze/vthreads.h>
#include <util/compare.h>

#include <errno.h>
#include <stdlib.h>

static int compare_starts(const void *x, const void *y)
{
	const struct span_stretch *p = *(const struct span_stretch *const *)x;
	const struct span_stretch *q = *(const struct span_stretch *const *)y;
	int c = compare_u64(p->from_ns, q->from_ns);

	return c ? c : compare_u64(p->owner, q->owner);
}

/* From two that begin at once, the longer one is outside. */
static int compare_nested(const void *x, const void *y)
{
	const struct span_stretch *p = x, *q = y;

	return compare_u64(p->owner, q->owner) ?: compare_u64(p->from_ns, q->from_ns) ?: compare_u64(q->to_ns, p->to_ns);
}

void span_make_outermost(struct span_stretches *s)
{
	size_t used = 0;

	VEC_SORT(s, compare_nested);
	for (size_t i = 0; i < s->count; i++) {
		const struct span_stretch *last = used ? &s->at[used - 1] : NULL;

		if (!last || last->owner != s->at[i].owner || s->at[i].from_ns >= last->to_ns)
			s->at[used++] = s->at[i];
	}
	s->count = used;
}

/* Ids are in the order of time, also across threads. */
static int number_spans(struct span_stretches *s)
{
	struct span_stretch **order = calloc(s->count + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < s->count; i++)
		order[i] = &s->at[i];
	qsort(order, s->count, sizeof(*order), compare_starts);
	for (size_t i = 0; i < s->count; i++)
		order[i]->span = (uint32_t)i + 1;
	free(order);
	return 0;
}

/* ---- the analyzer's spans ---- */

static uint32_t process_of(const struct analyzer *a, uint64_t owner)
{
	const struct vthread_row *v = owner > UINT32_MAX ? vthreads_get(a, (uint32_t)owner) : NULL;
	const struct thread_row *t = owner > UINT32_MAX ? NULL : table_get(&a->threads, (uint32_t)owner);

	return v ? v->process : t ? t->process : 0;
}

static int define_spans(struct analyzer *a, const struct span_stretches *s)
{
	int err = 0;

	table_free(&a->spans);
	table_init(&a->spans, sizeof(struct span_row));
	for (size_t i = 0; i < s->count && !err; i++) {
		const struct span_stretch *one = &s->at[i];
		struct span_row *row = analyzer_define(a, &a->spans, one->span, &err);

		if (row)
			*row = (struct span_row){
				.process = process_of(a, one->owner), .same = one->span, .span_id = one->span};
	}
	return err;
}

static void mark(const struct span_stretches *s, struct sample *samples, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct sample *one = &samples[i];

		one->span = spans_made_at(s, one->thread, one->vthread, one->time_ns, one->time_ns);
	}
}

/* Samples with values are kept apart from the others, too. */
static void mark_values(const struct span_stretches *s, struct hit_event *h)
{
	for (size_t i = 0; i < h->values.count; i++)
		mark(s, &h->values.at[i].sample, 1);
}

/*
 * What was only counted, or added up: of several times, nobody knows where they were, as the row has that of the
 * longest.
 */
static bool is_many(const struct jvm_event_row *r)
{
	return r->kind == BRAID_JVM_COUNTED && !(event_is_sum(r) && r->value == 1);
}

/* Whether a row has the times of switches. */
static bool is_off_cpu(const struct jvm_event_row *r)
{
	return r->kind == BRAID_JVM_OFFCPU || event_is_sum(r) ||
	       (r->kind == BRAID_JVM_LOCK && r->source == BRAID_SOURCE_KERNEL);
}

/* A thread that is off the CPU neither begins nor ends a span. */
static void mark_event(const struct span_stretches *s, struct jvm_event_row *r)
{
	uint64_t from_ns = r->time_ns, to_ns = event_end_ns(r);

	if (is_off_cpu(r))
		from_ns = to_ns = event_middle_ns(r);
	r->span = is_many(r) ? 0 : spans_made_at(s, r->thread, r->vthread, from_ns, to_ns);
}

static void mark_all(struct analyzer *a, const struct span_stretches *s)
{
	mark(s, a->samples.at, a->samples.count);
	mark(s, a->carried_samples.at, a->carried_samples.count);
	mark_values(s, &a->sampling);
	for (size_t i = 0; i < a->hits.count; i++) {
		mark(s, a->hits.at[i].samples.at, a->hits.at[i].samples.count);
		mark_values(s, &a->hits.at[i]);
	}
	for (size_t i = 0; i < a->events.count; i++)
		mark_event(s, &a->events.at[i]);
}

static int keep(struct analyzer *a, const struct span_stretches *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (VEC_PUSH(&a->made, s->at[i]))
			return -ENOMEM;
	return 0;
}

int span_make(struct analyzer *a, struct span_stretches *s)
{
	int err = number_spans(s) ?: define_spans(a, s) ?: keep(a, s);

	if (!err)
		mark_all(a, s);
	return err;
}
