// SPDX-License-Identifier: Apache-2.0
/*
 * Where in a thread's life its sums lie: anywhere between its times off the CPU, or in what is seen there of their
 * span.
 */
#include "timeline.h"

#include <errno.h>
#include <stdlib.h>

#include <analyze/events.h>
#include <analyze/spans.h>
#include <util/compare.h>
#include <util/search.h>

/* The sums of a span, and the first and the last that is recorded of the thread in it. */
struct group {
	uint32_t span;
	uint64_t seen_ns, last_ns;
	VEC(struct timeline_sum) sums;
};

/* The first group is of what has no span. */
struct grouping {
	struct timeline *tl;
	struct timeline_life *life;
	struct u64map of; /* spans to groups */
	VEC(struct group) groups;
};

/* ---- what is seen of spans ---- */

static struct group *group_of(const struct grouping *g, uint32_t span)
{
	return &g->groups.at[span ? u64map_get(&g->of, span) : 0];
}

/* A time in which the thread was in a span; it matters if it has sums there. */
static void see(struct grouping *g, uint32_t span, uint64_t from_ns, uint64_t to_ns)
{
	struct group *s = group_of(g, span);

	if (from_ns < s->seen_ns)
		s->seen_ns = from_ns;
	if (to_ns > s->last_ns)
		s->last_ns = to_ns;
}

/* The group of a row's span is made if there is none. */
static int see_sum(struct grouping *g, const struct jvm_event_row *r)
{
	struct group fresh = {.span = spans_same(g->tl->wall->an->a, r->span), .seen_ns = UINT64_MAX};
	uint32_t *at = fresh.span ? u64map_put(&g->of, fresh.span) : NULL;

	if (!fresh.span)
		return 0;
	if (!at || (!*at && VEC_PUSH(&g->groups, fresh)))
		return -ENOMEM;
	if (!*at)
		*at = (uint32_t)g->groups.count - 1;
	see(g, fresh.span, r->time_ns, add_saturating(r->time_ns, r->duration_ns));
	return 0;
}

static void see_others(struct grouping *g, uint32_t thread)
{
	const struct timeline *tl = g->tl;
	const struct analyzer *a = tl->wall->an->a;
	size_t i = SEARCH(k, 0, tl->sightings.count, tl->sightings.at[k].thread < thread);

	for (; i < tl->sightings.count && tl->sightings.at[i].thread == thread; i++)
		see(g, tl->sightings.at[i].span, tl->sightings.at[i].time_ns, tl->sightings.at[i].time_ns);
	for (i = 0; i < g->life->segments.count; i++) {
		const struct wall_segment *s = &g->life->segments.at[i];

		if (s->row && s->row->span)
			see(g, spans_same(a, s->row->span), s->start_ns, s->end_ns);
	}
}

static int see_all(struct grouping *g, uint32_t thread)
{
	const struct wall *w = g->tl->wall;
	const struct wall_range *sums = &w->threads.at[thread].sums;
	struct group none = {.last_ns = UINT64_MAX};
	int err = VEC_PUSH(&g->groups, none);

	for (size_t i = sums->first; i < sums->first + sums->count && !err; i++)
		err = see_sum(g, &w->an->a->events.at[w->sums[i]]);
	if (!err && g->groups.count > 1)
		see_others(g, thread);
	return err;
}

/* ---- sums ---- */

/* The sum of that state, place and kind; NULL: none yet. */
static struct timeline_sum *find_sum(struct group *of, enum wall_state state, uint32_t site, bool stacked)
{
	for (size_t i = 0; i < of->sums.count; i++) {
		struct timeline_sum *s = &of->sums.at[i];

		if (s->state == state && s->site == site && (s->stack != ROW_NONE) == stacked)
			return s;
	}
	return NULL;
}

/* The same, and makes it. Without room for one more, it is that of the state without a stack. NULL without memory. */
static struct timeline_sum *sum_of(struct group *of, enum wall_state state, uint32_t site, uint32_t stack)
{
	struct timeline_sum fresh = {.state = state, .span = of->span, .site = site, .stack = stack};
	struct timeline_sum *s = find_sum(of, state, site, stack != ROW_NONE);

	if (!s && of->sums.count >= (of->span ? TIMELINE_SPAN_SUMS : TIMELINE_SUMS)) {
		fresh.site = fresh.stack = ROW_NONE;
		s = find_sum(of, state, ROW_NONE, false);
	}
	if (!s && VEC_PUSH(&of->sums, fresh))
		return NULL;
	return s ?: &of->sums.at[of->sums.count - 1];
}

static int keep_sum(void *ctx, const struct wall_thread *t, const struct wall_part *p)
{
	struct grouping *g = ctx;
	const struct analysis *an = g->tl->wall->an;
	struct group *of = group_of(g, p->row ? spans_same(an->a, p->row->span) : 0);
	struct timeline_sum *s = sum_of(of, p->state, wait_site(an, p->stack), p->stack);

	(void)t;
	if (!s)
		return -ENOMEM;
	s->ns = add_saturating(s->ns, p->ns);
	if (s->stack == ROW_NONE)
		return 0;
	s->count = add_saturating(s->count, p->row->value);
	if (p->row->duration_ns > s->longest_ns) {
		s->stack = p->stack;
		s->longest_ns = p->row->duration_ns;
		s->longest_at_ns = p->row->time_ns;
	}
	return 0;
}

/* ---- places ---- */

/* What of a sum has no room in what is seen of its span lies anywhere. */
static int move_excess(struct grouping *g, struct timeline_sum *s, uint64_t room_ns, uint64_t all_ns)
{
	uint64_t kept = wall_share(s->ns, room_ns, all_ns);
	struct timeline_sum *to = sum_of(&g->groups.at[0], s->state, s->site, s->stack);

	if (!to)
		return -ENOMEM;
	to->ns = add_saturating(to->ns, s->ns - kept);
	s->ns = kept;
	return 0;
}

static int place_group(struct grouping *g, struct group *of)
{
	uint64_t from_ns = of->span ? timeline_gap_at(g->life, of->seen_ns) : 0;
	uint64_t to_ns = of->span ? timeline_gap_at(g->life, of->last_ns) : g->life->gap_ns, all_ns = 0;
	int err = 0;

	for (size_t i = 0; i < of->sums.count; i++) {
		of->sums.at[i].from_ns = from_ns;
		of->sums.at[i].to_ns = to_ns;
		all_ns = add_saturating(all_ns, of->sums.at[i].ns);
	}
	for (size_t i = 0; i < of->sums.count && of->span && all_ns > to_ns - from_ns && !err; i++)
		err = move_excess(g, &of->sums.at[i], to_ns - from_ns, all_ns);
	return err;
}

static int compare_sums(const void *x, const void *y)
{
	const struct timeline_sum *p = x, *q = y;

	return compare_u64(p->from_ns, q->from_ns)
		       ?: compare_u64(p->span, q->span)
		       ?: compare_u64(p->state, q->state)
		       ?: compare_u64(p->site, q->site)
		       ?: compare_u64(p->stack, q->stack);
}

/* Spans first, because what they have too much is added to the others. */
static int place_all(struct grouping *g)
{
	struct timeline_life *life = g->life;
	uint64_t reach_ns = 0;
	int err = 0;

	for (size_t i = g->groups.count; i-- > 0 && !err;)
		err = place_group(g, &g->groups.at[i]);
	for (size_t i = 0; i < g->groups.count && !err; i++)
		for (size_t k = 0; k < g->groups.at[i].sums.count && !err; k++)
			err = VEC_PUSH(&life->sums, g->groups.at[i].sums.at[k]);
	VEC_SORT(&life->sums, compare_sums);
	for (size_t i = 0; i < life->sums.count; i++) {
		if (life->sums.at[i].to_ns > reach_ns)
			reach_ns = life->sums.at[i].to_ns;
		life->sums.at[i].reach_ns = reach_ns;
	}
	return err;
}

int timeline_sums(struct timeline *tl, uint32_t thread)
{
	struct grouping g = {.tl = tl, .life = &tl->lives[thread]};
	int err = see_all(&g, thread) ?: wall_each_part(tl->wall, &tl->wall->threads.at[thread], keep_sum, &g)
						 ?: place_all(&g);

	for (size_t i = 0; i < g.groups.count; i++)
		free(g.groups.at[i].sums.at);
	free(g.groups.at);
	u64map_free(&g.of);
	return err;
}

/* ---- parts ---- */

uint64_t timeline_sum_part(const struct timeline_sum *s, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t from = from_ns > s->from_ns ? from_ns : s->from_ns, to = to_ns < s->to_ns ? to_ns : s->to_ns;
	uint64_t all = s->to_ns - s->from_ns;

	return from < to ? wall_share(s->ns, to - s->from_ns, all) - wall_share(s->ns, from - s->from_ns, all) : 0;
}

size_t timeline_sum_after(const struct timeline_life *life, uint64_t from_ns)
{
	return SEARCH(i, 0, life->sums.count, life->sums.at[i].reach_ns <= from_ns);
}
