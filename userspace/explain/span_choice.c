// SPDX-License-Identifier: Apache-2.0
#include "span_choice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <analyze/spans.h>
#include <util/compare.h>

static uint64_t duration(const struct span_sum *s)
{
	return s->last_ns - s->first_ns;
}

static int compare_spans(const void *x, const void *y)
{
	const struct span_sum *p = *(const struct span_sum *const *)x, *q = *(const struct span_sum *const *)y;

	return compare_u64(duration(q), duration(p))
		       ?: compare_u64(p->row->span_id, q->row->span_id)
		       ?: (p > q) - (p < q);
}

/* Whether the time of its first thread is recorded. */
static bool has_times(const struct wall *w, const struct span_sum *s)
{
	struct wall_thread t;

	if (s->thread == ROW_NONE || s->first_ns >= s->last_ns)
		return false;
	return s->vthread ? wall_vthread(w, s->vthread, &t) : w->threads.at[w->leader[s->thread]].life_ns > 0;
}

int span_choice_new(struct span_choice *c, struct wall *w, const struct filter *f)
{
	int err;

	*c = (struct span_choice){.wall = w};
	err = span_view_new(&c->view, w->an);
	for (size_t i = 0; !err && i < c->view->sums.count; i++) {
		const struct span_sum *s = &c->view->sums.at[i];

		if (spans_selected(w->an->a, f, s->row) && has_times(w, s))
			err = VEC_PUSH(&c->spans, s);
	}
	VEC_SORT(&c->spans, compare_spans);
	return err;
}

void span_choice_free(struct span_choice *c)
{
	span_view_free(c->view);
	free(c->spans.at);
	for (size_t i = 0; i < c->paths.count; i++)
		span_path_free(c->paths.at[i]);
	free(c->paths.at);
	u64map_free(&c->vthreads);
	*c = (struct span_choice){0};
}

const struct span_sum *span_choice_find(const struct span_choice *c, uint64_t id)
{
	for (size_t i = 0; i < c->spans.count; i++)
		if (c->spans.at[i]->row->span_id == id)
			return c->spans.at[i];
	return NULL;
}

/* ---- the typical one ---- */

static bool is_called_like(const struct analyzer *a, const struct span_row *x, const struct span_row *y)
{
	for (size_t i = 0; i < SPANS_NAMES; i++)
		if (spans_attribute(a, x, spans_names[i]) != spans_attribute(a, y, spans_names[i]))
			return false;
	return true;
}

const struct span_sum *span_choice_typical(const struct span_choice *c, const struct span_sum *like, size_t *of)
{
	const struct span_sum *typical = NULL;
	size_t seen = 0;

	*of = 0;
	for (size_t i = 0; i < c->spans.count; i++)
		*of += is_called_like(c->wall->an->a, c->spans.at[i]->row, like->row);
	for (size_t i = 0; i < c->spans.count && !typical; i++)
		if (is_called_like(c->wall->an->a, c->spans.at[i]->row, like->row) && seen++ == *of / 2)
			typical = c->spans.at[i];
	return typical;
}

/* ---- stretches ---- */

int span_choice_place(struct span_choice *c, uint32_t vthread, uint32_t *thread)
{
	uint32_t *known = u64map_put(&c->vthreads, vthread);
	struct wall_thread t;
	int err = 0;

	if (!known)
		return -ENOMEM;
	if (!*known && wall_vthread(c->wall, vthread, &t)) {
		err = wall_add_vthread(c->wall, &t);
		*known = (uint32_t)c->wall->threads.count;
	}
	*thread = *known && !err ? *known - 1 : ROW_NONE;
	return err;
}

static int place(void *ctx, uint32_t row, uint32_t vthread, uint32_t *thread)
{
	struct span_choice *c = ctx;

	*thread = ROW_NONE;
	if (vthread)
		return span_choice_place(c, vthread, thread);
	if (c->wall->threads.at[c->wall->leader[row]].life_ns)
		*thread = c->wall->leader[row];
	return 0;
}

/* A virtual thread is one thread, whatever its carriers are. */
static bool is_of_one_thread(const struct span_path *p)
{
	for (size_t i = 1; i < p->seen.count; i++)
		if (p->seen.at[i].thread != p->seen.at[0].thread)
			return false;
	return true;
}

static int find_path(struct span_choice *c, const struct span_sum *span, struct stretch *s)
{
	struct span_path *p;
	int err = span_path_new(&p, c->wall, span, place, c);

	if (err || VEC_PUSH(&c->paths, p)) {
		span_path_free(p);
		return -ENOMEM;
	}
	if (is_of_one_thread(p))
		return 0;
	s->path = p;
	s->thread = p->legs.at[p->legs.count - 1].thread;
	return 0;
}

int span_choice_stretch(struct span_choice *c, const struct span_sum *span, struct stretch *s)
{
	int err;

	*s = (struct stretch){.from_ns = span->first_ns, .to_ns = span->last_ns, .span = span->row};
	err = place(c, span->thread, span->vthread, &s->thread);
	return err ?: span->others ? find_path(c, span, s) : 0;
}
