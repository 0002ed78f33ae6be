// SPDX-License-Identifier: Apache-2.0
#include "span_pairs.h"

#include "definitions.h"
#include "hits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <util/search.h>

#define BETWEEN ".."

struct bound {
	uint64_t time_ns;
	uint32_t thread; /* id */
	bool ends;
};

struct stretch_of_span {
	uint64_t from_ns, to_ns;
	uint32_t thread;
	uint32_t span; /* id */
};

struct pairing {
	struct analyzer *a;
	VEC(struct bound) bounds;
	VEC(struct stretch_of_span) spans; /* by thread and time, not overlapping */
};

/* ---- events ---- */

static int add_bounds(struct pairing *p, const char *typed, bool ends)
{
	const struct hit_event *h;
	int err = hits_by_name(p->a, typed, &h);

	for (size_t i = 0; !err && i < h->samples.count; i++)
		err = VEC_PUSH(&p->bounds, ((struct bound){h->samples.at[i].time_ns, h->samples.at[i].thread, ends}));
	return err;
}

/* ---- pairs ---- */

/* At the same time an end comes first: it is that of an earlier span. */
static int compare_bounds(const void *x, const void *y)
{
	const struct bound *p = x, *q = y;

	if (p->thread != q->thread)
		return p->thread < q->thread ? -1 : 1;
	if (p->time_ns != q->time_ns)
		return p->time_ns < q->time_ns ? -1 : 1;
	return q->ends - p->ends;
}

static int compare_starts(const void *x, const void *y)
{
	const struct stretch_of_span *p = *(const struct stretch_of_span *const *)x;
	const struct stretch_of_span *q = *(const struct stretch_of_span *const *)y;

	if (p->from_ns != q->from_ns)
		return p->from_ns < q->from_ns ? -1 : 1;
	return (p->thread > q->thread) - (p->thread < q->thread);
}

static int make_pairs(struct pairing *p, struct span_pairs *out)
{
	const struct bound *open = NULL;
	int err = 0;

	VEC_SORT(&p->bounds, compare_bounds);
	for (size_t i = 0; i < p->bounds.count && !err; i++) {
		const struct bound *b = &p->bounds.at[i];

		if (open && (!b->ends || b->thread != open->thread)) {
			out->unfinished++;
			open = NULL;
		}
		if (!b->ends)
			open = b;
		else if (open)
			err = VEC_PUSH(&p->spans, ((struct stretch_of_span){open->time_ns, b->time_ns, b->thread, 0}));
		if (b->ends)
			open = NULL;
	}
	out->unfinished += open != NULL;
	return err;
}

/* Ids are in the order of time, also across threads. */
static int number_spans(struct pairing *p)
{
	struct stretch_of_span **order = calloc(p->spans.count + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < p->spans.count; i++)
		order[i] = &p->spans.at[i];
	qsort(order, p->spans.count, sizeof(*order), compare_starts);
	for (size_t i = 0; i < p->spans.count; i++)
		order[i]->span = (uint32_t)i + 1;
	free(order);
	return 0;
}

/* ---- the analyzer's spans ---- */

static int define_spans(struct pairing *p)
{
	struct analyzer *a = p->a;
	int err = 0;

	table_free(&a->spans);
	table_init(&a->spans, sizeof(struct span_row));
	for (size_t i = 0; i < p->spans.count && !err; i++) {
		const struct stretch_of_span *s = &p->spans.at[i];
		const struct thread_row *t = table_get(&a->threads, s->thread);
		struct span_row *row = analyzer_define(a, &a->spans, s->span, &err);

		if (row)
			*row = (struct span_row){.process = t ? t->process : 0, .same = s->span, .span_id = s->span};
	}
	return err;
}

/* The span of the thread at that time; 0: none. */
static uint32_t span_at(const struct pairing *p, uint32_t thread, uint64_t time_ns)
{
	/* the first that ends later, or at that time */
	size_t low = SEARCH(i, 0, p->spans.count,
			    p->spans.at[i].thread < thread ||
				    (p->spans.at[i].thread == thread && p->spans.at[i].to_ns < time_ns));

	if (low == p->spans.count || p->spans.at[low].thread != thread || p->spans.at[low].from_ns > time_ns)
		return 0;
	return p->spans.at[low].span;
}

static void mark(const struct pairing *p, struct sample *samples, size_t count)
{
	for (size_t i = 0; i < count; i++)
		samples[i].span = span_at(p, samples[i].thread, samples[i].time_ns);
}

static void mark_all(const struct pairing *p)
{
	struct analyzer *a = p->a;

	mark(p, a->samples.at, a->samples.count);
	mark(p, a->carried_samples.at, a->carried_samples.count);
	for (size_t i = 0; i < a->hits.count; i++)
		mark(p, a->hits.at[i].samples.at, a->hits.at[i].samples.count);
	for (size_t i = 0; i < a->events.count; i++)
		a->events.at[i].span = span_at(p, a->events.at[i].thread, a->events.at[i].time_ns);
}

int span_pairs_define(struct analyzer *a, const char *pair, struct span_pairs *out)
{
	const char *between = strstr(pair, BETWEEN);
	const char *to = between ? between + strlen(BETWEEN) : "";
	struct pairing p = {.a = a};
	int err;

	memset(out, 0, sizeof(*out));
	if (!between || between == pair || !*to || (size_t)(between - pair) >= sizeof(out->missing))
		return -EINVAL;
	snprintf(out->missing, sizeof(out->missing), "%.*s", (int)(between - pair), pair);
	err = add_bounds(&p, out->missing, false);
	if (!err) {
		snprintf(out->missing, sizeof(out->missing), "%s", to);
		err = add_bounds(&p, to, true);
	}
	if (!err)
		err = make_pairs(&p, out) ?: number_spans(&p) ?: define_spans(&p);
	if (!err)
		mark_all(&p);
	out->spans = p.spans.count;
	free(p.bounds.at);
	free(p.spans.at);
	return err;
}
