// SPDX-License-Identifier: Apache-2.0
#include "span_path.h"

#include <errno.h>
#include <stdlib.h>

#include <analyze/events.h>
#include <analyze/spans.h>
#include <analyze/vthreads.h>
#include <util/compare.h>

/* Something that is recorded of a thread, in the span or not. */
struct seen {
	uint64_t who; /* a thread's row, or a virtual thread's id */
	uint64_t from_ns, to_ns;
	bool in;
};

/* A thread in the span. */
struct visit {
	struct span_leg leg;
	uint64_t until_ns; /* from then on it was elsewhere */
};

struct finding {
	const struct wall *w;
	const struct span_sum *span;
	struct u64map who; /* threads that were in the span */
	VEC(struct seen) all;
	VEC(struct visit) visits;
	struct span_path *p;
};

#define IS_VIRTUAL (1ULL << 32)

static uint64_t who_of(const struct analyzer *a, uint32_t row, uint32_t vthread)
{
	return vthreads_get(a, vthread) ? IS_VIRTUAL | vthread : row;
}

/* ---- what was seen ---- */

typedef int (*seen_fn)(struct finding *f, const struct seen *s);

static bool is_in(const struct finding *f, uint32_t span)
{
	return span && spans_same(f->w->an->a, span) == f->span->row->same;
}

static int each_sample(struct finding *f, const struct sample *s, seen_fn fn)
{
	const struct analyzer *a = f->w->an->a;
	uint32_t row = table_row_of(&a->threads, s->thread);
	struct seen one = {who_of(a, row, s->vthread), s->time_ns, s->time_ns, is_in(f, s->span)};

	return row == ROW_NONE ? 0 : fn(f, &one);
}

/* Outside of the span, only what surely was the thread's own. */
static int each_event(struct finding *f, size_t i, seen_fn fn)
{
	struct seen one;
	struct event e;

	if (!events_get(f->w->an, i, &e) || e.thread == ROW_NONE)
		return 0;
	one = (struct seen){who_of(f->w->an->a, e.thread, e.row->vthread), e.start_ns,
			    add_saturating(e.start_ns, e.duration_ns), is_in(f, e.row->span)};
	return one.in || e.kind == BRAID_JVM_OFFCPU ? fn(f, &one) : 0;
}

static int each_seen(struct finding *f, seen_fn fn)
{
	const struct analyzer *a = f->w->an->a;
	int err = 0;

	for (size_t i = 0; i < a->samples.count && !err; i++)
		err = each_sample(f, &a->samples.at[i], fn);
	for (size_t i = 0; i < a->hits.count; i++)
		for (size_t k = 0; k < a->hits.at[i].samples.count && !err; k++)
			err = each_sample(f, &a->hits.at[i].samples.at[k], fn);
	for (size_t i = 0; i < events_count(f->w->an) && !err; i++)
		err = each_event(f, i, fn);
	return err;
}

static int take_thread(struct finding *f, const struct seen *s)
{
	uint32_t *at = s->in ? u64map_put(&f->who, s->who) : NULL;

	if (s->in && !at)
		return -ENOMEM;
	if (at)
		*at = 1;
	return 0;
}

static int take_seen(struct finding *f, const struct seen *s)
{
	bool near = s->to_ns >= f->span->first_ns && s->from_ns <= f->span->last_ns;

	return near && u64map_get(&f->who, s->who) ? VEC_PUSH(&f->all, *s) : 0;
}

/* ---- visits ---- */

static int compare_seen(const void *x, const void *y)
{
	const struct seen *p = x, *q = y;

	return compare_u64(p->who, q->who)
		       ?: compare_u64(p->from_ns, q->from_ns)
		       ?: compare_u64(p->to_ns, q->to_ns)
		       ?: p->in - q->in;
}

static int compare_visits(const void *x, const void *y)
{
	const struct visit *p = x, *q = y;

	return compare_u64(p->leg.from_ns, q->leg.from_ns)
		       ?: compare_u64(p->leg.to_ns, q->leg.to_ns)
		       ?: compare_u64(p->leg.thread, q->leg.thread);
}

/* The visits of one thread, whose sightings are in order. */
static int add_visits(struct finding *f, const struct seen *s, size_t count, uint32_t thread)
{
	struct visit v = {.leg.thread = thread, .until_ns = UINT64_MAX};
	bool open = false;
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		if (s[i].in && !open)
			v.leg.from_ns = v.leg.to_ns = s[i].from_ns;
		if (s[i].in && s[i].to_ns > v.leg.to_ns)
			v.leg.to_ns = s[i].to_ns;
		if (!s[i].in && open) {
			v.until_ns = s[i].from_ns;
			err = VEC_PUSH(&f->visits, v);
		}
		open = s[i].in;
	}
	v.until_ns = UINT64_MAX;
	return err ?: open ? VEC_PUSH(&f->visits, v) : 0;
}

static int find_visits(struct finding *f, span_place_fn place, void *ctx)
{
	int err = each_seen(f, take_thread) ?: each_seen(f, take_seen);

	VEC_SORT(&f->all, compare_seen);
	for (size_t i = 0, next; i < f->all.count && !err; i = next) {
		uint64_t who = f->all.at[i].who;
		uint32_t thread;

		for (next = i + 1; next < f->all.count && f->all.at[next].who == who;)
			next++;
		err = place(ctx, (uint32_t)who, who & IS_VIRTUAL ? (uint32_t)who : 0, &thread);
		if (!err && thread != ROW_NONE)
			err = add_visits(f, &f->all.at[i], next - i, thread);
	}
	VEC_SORT(&f->visits, compare_visits);
	return err;
}

/* ---- who had it ---- */

/* Where the span ended; NULL: there are no visits. */
static const struct visit *last_visit(const struct finding *f)
{
	const struct visit *last = NULL;

	for (size_t i = 0; i < f->visits.count; i++)
		if (!last || f->visits.at[i].leg.to_ns >= last->leg.to_ns)
			last = &f->visits.at[i];
	return last;
}

/*
 * Who woke the thread before it was seen in the span, while in the span itself; *at_ns becomes when. NULL: it is not
 * known.
 */
static const struct visit *handed_by(const struct finding *f, const struct span_leg *to, uint64_t *at_ns)
{
	const struct wall *w = f->w;
	bool os = !w->threads.at[to->thread].vthread; /* who wakes a virtual one is not recorded */
	const struct jvm_event_row *r = os ? wall_last(w, to->thread, to->from_ns, true) : NULL;
	uint32_t row =
		r && wall_is_blocked(wall_state_of(w->an, r)) ? table_row_of(&w->an->a->threads, r->other) : ROW_NONE;

	uint64_t woken_ns;

	if (row == ROW_NONE)
		return NULL;
	woken_ns = wall_woken_ns(r);
	for (size_t i = f->visits.count; i-- > 0;) {
		const struct visit *v = &f->visits.at[i];

		if (v->leg.thread == w->leader[row] && v->leg.thread != to->thread && v->leg.from_ns < woken_ns &&
		    woken_ns <= v->until_ns) {
			*at_ns = woken_ns;
			return v;
		}
	}
	return NULL;
}

/* Without a wake-up, the one that was in the span at that time, and left it first; else the one that was in it last. */
static const struct visit *before(const struct finding *f, uint64_t at_ns, size_t *others)
{
	const struct visit *best = NULL;

	*others = 0;
	for (size_t i = 0; i < f->visits.count && f->visits.at[i].leg.from_ns < at_ns; i++) {
		const struct visit *v = &f->visits.at[i];
		bool there = v->leg.to_ns >= at_ns;

		*others += there;
		if (!best || (there ? best->leg.to_ns < at_ns || v->leg.to_ns < best->leg.to_ns
				    : v->leg.to_ns > best->leg.to_ns))
			best = v;
	}
	return best;
}

/* Each leg begins before the one after it, so this ends. */
static int find_legs(struct finding *f)
{
	const struct visit *v = last_visit(f), *by;
	uint64_t to_ns = v ? v->leg.to_ns : 0;
	int err = 0;

	while (v && !err) {
		struct span_leg leg = {v->leg.thread, v->leg.from_ns, to_ns};
		size_t others = 0;

		by = handed_by(f, &leg, &leg.from_ns);
		v = by ?: before(f, leg.from_ns, &others);
		f->p->guesses += others > 1;
		to_ns = by || !v || leg.from_ns < v->leg.to_ns ? leg.from_ns : v->leg.to_ns;
		err = VEC_PUSH(&f->p->legs, leg);
	}
	for (size_t i = 0, k = f->p->legs.count; i + 1 < k; i++) {
		struct span_leg leg = f->p->legs.at[i];

		f->p->legs.at[i] = f->p->legs.at[--k];
		f->p->legs.at[k] = leg;
	}
	return err;
}

int span_path_new(struct span_path **out, const struct wall *w, const struct span_sum *span, span_place_fn place,
		  void *ctx)
{
	struct finding f = {.w = w, .span = span, .p = calloc(1, sizeof(*f.p))};
	int err = f.p ? find_visits(&f, place, ctx) ?: find_legs(&f) : -ENOMEM;

	for (size_t i = 0; i < f.visits.count && !err; i++)
		err = VEC_PUSH(&f.p->seen, f.visits.at[i].leg);
	u64map_free(&f.who);
	free(f.all.at);
	free(f.visits.at);
	if (err) {
		span_path_free(f.p);
		f.p = NULL;
	}
	*out = f.p;
	return err;
}

void span_path_free(struct span_path *p)
{
	if (!p)
		return;
	free(p->seen.at);
	free(p->legs.at);
	free(p);
}
