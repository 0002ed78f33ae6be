// SPDX-License-Identifier: Apache-2.0
#include "stretches.h"

#include <stdlib.h>
#include <string.h>

#include <util/compare.h>

/* ---- spans ---- */

static int choose_spans(struct stretches *to, struct wall *w)
{
	static const struct filter everything;
	struct chosen_stretch c = {.why = STRETCH_SPAN};
	int err = span_choice_new(&to->spans, w, &everything);

	for (size_t i = 0; i < to->spans.spans.count && i < STRETCH_SPANS && !err; i++)
		err = span_choice_stretch(&to->spans, to->spans.spans.at[i], &c.stretch) ?: VEC_PUSH(&to->list, c);
	return err;
}

/* ---- threads ---- */

#define IDLE_SHARE 50 /* a thread that did something for less than 1 / IDLE_SHARE of its life says nothing */

struct candidate {
	uint32_t place;	  /* in the wall */
	uint32_t vthread; /* its id; 0: an OS thread */
	uint64_t busy_ns, waited_ns;
};

struct candidates {
	VEC(struct candidate) list;
};

static int consider(struct candidates *c, const struct wall_thread *t, uint32_t place)
{
	struct candidate one = {place, t->vthread, t->ns[WALL_RUNNING] + t->ns[WALL_RUNNABLE], 0};

	for (int s = WALL_RUNNABLE + 1; s < WALL_STATES; s++)
		one.waited_ns += s == WALL_IDLE || s == WALL_UNKNOWN ? 0 : t->ns[s];
	return one.busy_ns + one.waited_ns < t->life_ns / IDLE_SHARE ? 0 : VEC_PUSH(&c->list, one);
}

static int consider_vthread(void *ctx, const struct wall_thread *t)
{
	return consider(ctx, t, ROW_NONE);
}

static int compare_places(const struct candidate *p, const struct candidate *q)
{
	return compare_u64(p->place, q->place) ?: compare_u64(p->vthread, q->vthread);
}

static int by_busy(const void *x, const void *y)
{
	const struct candidate *p = x, *q = y;

	return compare_u64(q->busy_ns, p->busy_ns) ?: compare_places(p, q);
}

static int by_waited(const void *x, const void *y)
{
	const struct candidate *p = x, *q = y;

	return compare_u64(q->waited_ns, p->waited_ns) ?: compare_places(p, q);
}

static bool is_chosen(const struct stretches *to, uint32_t place)
{
	for (size_t i = 0; i < to->list.count; i++)
		if (to->list.at[i].why != STRETCH_SPAN && to->list.at[i].stretch.thread == place)
			return true;
	return false;
}

/* All of the thread's life that is shown. */
static int add_thread(struct stretches *to, struct wall *w, const struct candidate *c, enum stretch_why why)
{
	uint64_t from_ns = w->an->from_ns > w->an->start_ns ? w->an->from_ns : w->an->start_ns;
	uint64_t to_ns = add_saturating(w->an->start_ns, analysis_end_ns(w->an));
	struct chosen_stretch one = {{.thread = c->place}, why};
	const struct wall_thread *t;
	int err = c->vthread ? span_choice_place(&to->spans, c->vthread, &one.stretch.thread) : 0;

	if (err || one.stretch.thread == ROW_NONE || is_chosen(to, one.stretch.thread))
		return err;
	t = &w->threads.at[one.stretch.thread];
	one.stretch.from_ns = t->start_ns > from_ns ? t->start_ns : from_ns;
	one.stretch.to_ns = t->end_ns < to_ns ? t->end_ns : to_ns;
	return one.stretch.from_ns < one.stretch.to_ns ? VEC_PUSH(&to->list, one) : 0;
}

/* The first of the candidates, in their order, that are not chosen yet. */
static int add_threads(struct stretches *to, struct wall *w, const struct candidates *c, enum stretch_why why)
{
	size_t most = to->list.count + STRETCH_THREADS;
	int err = 0;

	for (size_t i = 0; i < c->list.count && to->list.count < most && !err; i++)
		if (why == STRETCH_BUSY ? c->list.at[i].busy_ns : c->list.at[i].waited_ns)
			err = add_thread(to, w, &c->list.at[i], why);
	return err;
}

static int choose_threads(struct stretches *to, struct wall *w)
{
	struct candidates c = {0};
	int err = 0;

	for (uint32_t i = 0; i < w->an->a->threads.count && !err; i++)
		if (w->threads.at[i].life_ns)
			err = consider(&c, &w->threads.at[i], i);
	err = err ?: wall_each_vthread(w, consider_vthread, &c);
	VEC_SORT(&c.list, by_busy);
	err = err ?: add_threads(to, w, &c, STRETCH_BUSY);
	VEC_SORT(&c.list, by_waited);
	err = err ?: add_threads(to, w, &c, STRETCH_WAITED);
	free(c.list.at);
	return err;
}

int stretches_choose(struct stretches *s, struct wall *w)
{
	return choose_spans(s, w) ?: choose_threads(s, w);
}

void stretches_free(struct stretches *s)
{
	free(s->list.at);
	span_choice_free(&s->spans);
}
