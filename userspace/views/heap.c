// SPDX-License-Identifier: Apache-2.0
#include "heap.h"

#include <analyze/events.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <util/compare.h>

#define INCOMPLETE (BRAID_HEAP_ABORTED | BRAID_HEAP_FAILED | BRAID_HEAP_REFUSED)

bool heap_histogram_complete(const struct heap_histogram *h)
{
	return h->ended && !(h->flags & INCOMPLETE);
}

/* What the first and the last histogram have of one class and loader. */
struct pair {
	struct heap_row row;
	bool in_first, in_last;
};

/* What is needed while a view is made. The maps have indexes + 1. */
struct draft {
	struct u64map numbers; /* of histograms */
	struct u64map classes; /* of pairs */
	VEC(struct pair) pairs;
	bool first_summed; /* the first histogram has not a row for every class */
};

struct maker {
	const struct analysis *an;
	struct heap_views *v;
	struct u64map processes;  /* of views and drafts, + 1 */
	VEC(struct draft) drafts; /* of each view */
};

/* ---- histograms ---- */

/* The index of the view; SIZE_MAX: no memory. */
static size_t view_of(struct maker *m, uint32_t process)
{
	struct heap_view view = {.process = process, .pid = analysis_process(m->an, process)->pid};
	struct draft draft = {0};
	uint32_t *at = u64map_put(&m->processes, process);

	if (!at || (!*at && (VEC_PUSH(&m->drafts, draft) || VEC_PUSH(&m->v->jvms, view))))
		return SIZE_MAX;
	if (!*at)
		*at = (uint32_t)m->v->jvms.count;
	return *at - 1;
}

static struct heap_histogram *histogram_of(struct maker *m, const struct jvm_event_row *r)
{
	struct heap_histogram fresh = {.number = r->number};
	size_t view = view_of(m, r->process);
	struct heap_view *v = view == SIZE_MAX ? NULL : &m->v->jvms.at[view];
	uint32_t *at = v ? u64map_put(&m->drafts.at[view].numbers, r->number) : NULL;

	if (!at || (!*at && VEC_PUSH(&v->histograms, fresh)))
		return NULL;
	if (!*at)
		*at = (uint32_t)v->histograms.count;
	return &v->histograms.at[*at - 1];
}

static int add_histogram(struct maker *m, const struct event *e)
{
	const struct jvm_event_row *r = e->row;
	struct heap_histogram *h = histogram_of(m, r);

	if (!h)
		return -ENOMEM;
	h->flags |= r->flags;
	if (e->kind == BRAID_JVM_HEAP_ESTIMATE) {
		h->used = r->value;
		h->expected_ns = r->weight;
		h->at_ns = h->ended ? h->at_ns : r->time_ns;
		return 0;
	}
	h->ended = true;
	h->at_ns = event_end_ns(r);
	h->pause_ns = r->duration_ns;
	h->bytes = r->value;
	h->objects = r->weight;
	return 0;
}

static int compare_times(const void *x, const void *y)
{
	const struct heap_histogram *p = x, *q = y;
	int c = compare_u64(p->at_ns, q->at_ns);

	return c ? c : compare_u64(p->number, q->number);
}

static void find_ends(struct heap_view *v)
{
	VEC_SORT(&v->histograms, compare_times);
	for (size_t i = 0; i < v->histograms.count; i++) {
		const struct heap_histogram *h = &v->histograms.at[i];

		if (!heap_histogram_complete(h))
			continue;
		v->first = v->first ?: h;
		v->last = h;
	}
}

/* ---- rows ---- */

static struct pair *pair_of(struct draft *d, const struct analysis *an, const struct event *e)
{
	const struct jvm_event_row *r = e->row;
	struct pair fresh = {
		.row = {.class = *e->name ? e->name : "[unknown]", .loader = strpool_get(&an->a->strings, r->detail)}};
	uint32_t *at = u64map_put(&d->classes, (uint64_t)r->name << 32 | r->detail);

	if (!at || (!*at && VEC_PUSH(&d->pairs, fresh)))
		return NULL;
	if (!*at)
		*at = (uint32_t)d->pairs.count;
	return &d->pairs.at[*at - 1];
}

static int add_row(struct draft *d, const struct heap_view *v, const struct analysis *an, const struct event *e)
{
	const struct jvm_event_row *r = e->row;
	struct pair *pair = pair_of(d, an, e);

	if (!pair)
		return -ENOMEM;
	if (r->number == v->first->number) {
		pair->in_first = true;
		d->first_summed |= r->flags != 0;
		pair->row.first_bytes = add_saturating(pair->row.first_bytes, r->value);
		pair->row.first_objects = add_saturating(pair->row.first_objects, r->weight);
	}
	if (r->number == v->last->number) {
		pair->in_last = true;
		pair->row.classes = r->flags;
		pair->row.bytes = add_saturating(pair->row.bytes, r->value);
		pair->row.objects = add_saturating(pair->row.objects, r->weight);
	}
	return 0;
}

static uint64_t growth(const struct heap_row *r)
{
	return r->compared && r->bytes > r->first_bytes ? r->bytes - r->first_bytes : 0;
}

static int compare_names(const struct heap_row *p, const struct heap_row *q)
{
	int c = strcmp(p->class, q->class);

	return c ? c : strcmp(p->loader, q->loader);
}

static int compare_rows(const void *x, const void *y)
{
	const struct heap_row *p = x, *q = y;
	int c = compare_u64(q->bytes, p->bytes);

	c = c ?: compare_u64(p->classes != 0, q->classes != 0);
	return c ?: compare_names(p, q);
}

static int compare_growth(const void *x, const void *y)
{
	int c = compare_u64(growth(y), growth(x));

	return c ?: compare_names(x, y);
}

static int keep_rows(struct heap_view *v, const struct draft *d)
{
	int err = 0;

	for (size_t i = 0; i < d->pairs.count && !err; i++) {
		const struct pair *p = &d->pairs.at[i];
		struct heap_row row = p->row;

		if (!p->in_last)
			continue;
		row.compared = v->first != v->last && !row.classes && (p->in_first || !d->first_summed);
		err = VEC_PUSH(&v->rows, row);
		if (!err && growth(&row))
			err = VEC_PUSH(&v->grown, row);
	}
	VEC_SORT(&v->rows, compare_rows);
	VEC_SORT(&v->grown, compare_growth);
	return err;
}

static bool is_end(const struct heap_view *v, uint64_t number)
{
	return v->last && (number == v->first->number || number == v->last->number);
}

static int add_rows(struct maker *m)
{
	const struct analysis *an = m->an;
	int err = 0;

	for (size_t i = 0; i < an->a->events.count && !err; i++) {
		const struct jvm_event_row *r = &an->a->events.at[i];
		uint32_t at = r->kind == BRAID_JVM_HEAP_CLASS ? u64map_get(&m->processes, r->process) : 0;
		struct event e;

		if (at && is_end(&m->v->jvms.at[at - 1], r->number) && events_get(an, i, &e))
			err = add_row(&m->drafts.at[at - 1], &m->v->jvms.at[at - 1], an, &e);
	}
	for (size_t i = 0; i < m->v->jvms.count && !err; i++)
		err = keep_rows(&m->v->jvms.at[i], &m->drafts.at[i]);
	return err;
}

static int compare_views(const void *x, const void *y)
{
	const struct heap_view *p = x, *q = y;
	int c = compare_u64(p->pid, q->pid);

	return c ? c : compare_u64(p->process, q->process);
}

static void maker_free(struct maker *m)
{
	for (size_t i = 0; i < m->drafts.count; i++) {
		u64map_free(&m->drafts.at[i].numbers);
		u64map_free(&m->drafts.at[i].classes);
		free(m->drafts.at[i].pairs.at);
	}
	free(m->drafts.at);
	u64map_free(&m->processes);
}

int heap_views_new(struct heap_views *v, const struct analysis *an)
{
	struct maker m = {.an = an, .v = v};
	int err = 0;

	for (size_t i = 0; i < an->a->events.count && !err; i++) {
		const struct jvm_event_row *r = &an->a->events.at[i];
		struct event e;

		if ((r->kind == BRAID_JVM_HEAP ||
		     (r->kind == BRAID_JVM_HEAP_ESTIMATE && !(r->flags & BRAID_HEAP_COPIED && !r->number))) &&
		    events_get(an, i, &e))
			err = add_histogram(&m, &e);
	}
	for (size_t i = 0; i < v->jvms.count; i++)
		find_ends(&v->jvms.at[i]);
	err = err ?: add_rows(&m);
	VEC_SORT(&v->jvms, compare_views);
	maker_free(&m);
	return err;
}

void heap_views_free(struct heap_views *v)
{
	for (size_t i = 0; i < v->jvms.count; i++) {
		free(v->jvms.at[i].histograms.at);
		free(v->jvms.at[i].rows.at);
		free(v->jvms.at[i].grown.at);
	}
	free(v->jvms.at);
}
