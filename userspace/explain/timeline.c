// SPDX-License-Identifier: Apache-2.0
#include "timeline.h"

#include <errno.h>
#include <stdlib.h>

#include <util/search.h>

#include <analyze/events.h>
#include <views/event_views.h>

uint32_t timeline_thread(const struct wall *w, uint32_t id)
{
	uint32_t row = table_row_of(&w->an->a->threads, id);

	return row == ROW_NONE ? ROW_NONE : w->leader[row];
}

uint32_t timeline_waited_for(const struct wall *w, const struct wall_segment *s)
{
	if (!s->row || !wall_is_blocked(s->state) || event_is_unmounted(s->row))
		return ROW_NONE;
	return timeline_thread(w, wall_waited_for(w, s->row)->other);
}

/* ---- segments ---- */

static int keep_segment(void *ctx, const struct wall_thread *t, const struct wall_segment *s)
{
	struct timeline_life *life = ctx;

	(void)t;
	return VEC_PUSH(&life->segments, *s);
}

/* The sum of that state, place and kind; without room for one more, that of the state without a stack. NULL: none yet. */
static struct timeline_sum *find_sum(struct timeline_life *life, enum wall_state state, uint32_t site, bool stacked)
{
	for (size_t i = 0; i < life->sums.count; i++) {
		struct timeline_sum *s = &life->sums.at[i];

		if (s->state == state && s->site == site && (s->stack != ROW_NONE) == stacked)
			return s;
	}
	return NULL;
}

static int keep_sum(void *ctx, const struct wall_thread *t, const struct wall_part *p)
{
	struct timeline *tl = ctx;
	struct timeline_life *life = &tl->lives[t - tl->wall->threads.at];
	struct timeline_sum fresh = {.state = p->state, .site = wait_site(tl->wall->an, p->stack), .stack = p->stack};
	struct timeline_sum *s = find_sum(life, fresh.state, fresh.site, fresh.stack != ROW_NONE);

	if (!s && life->sums.count >= TIMELINE_SUMS) {
		fresh.site = fresh.stack = ROW_NONE;
		s = find_sum(life, fresh.state, ROW_NONE, false);
	}
	if (!s && VEC_PUSH(&life->sums, fresh))
		return -ENOMEM;
	s = s ?: &life->sums.at[life->sums.count - 1];
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

int timeline_life(struct timeline *tl, uint32_t thread)
{
	struct timeline_life *life = &tl->lives[thread];

	if (life->made)
		return 0;
	life->made = true;
	return wall_each(tl->wall, &tl->wall->threads.at[thread], keep_segment, life)
		       ?: wall_each_part(tl->wall, &tl->wall->threads.at[thread], keep_sum, tl);
}

size_t timeline_segment_at(const struct timeline_life *life, uint64_t time_ns)
{
	return SEARCH(i, 0, life->segments.count, life->segments.at[i].end_ns <= time_ns);
}

/* ---- samples ---- */

/* One that wall_add_vthread() has added; ROW_NONE: it is none. */
static uint32_t kept_vthread(const struct wall *w, uint32_t vthread)
{
	for (size_t i = w->an->a->threads.count; vthread && i < w->threads.count; i++)
		if (w->threads.at[i].vthread == vthread)
			return (uint32_t)i;
	return ROW_NONE;
}

static int add_sample(struct timeline *tl, const struct sample *s)
{
	const struct analyzer *a = tl->wall->an->a;
	uint32_t row = table_row_of(&a->threads, s->thread);
	struct timeline_sample one = {
		.stack = table_row_of(&a->nodes, s->node), .time_ns = s->time_ns, .weight = s->weight};

	if (row == ROW_NONE)
		return 0;
	one.thread = ((const struct thread_row *)table_row(&a->threads, row))->virtual
			     ? kept_vthread(tl->wall, s->vthread)
			     : tl->wall->leader[row];
	return one.thread == ROW_NONE ? 0 : VEC_PUSH(&tl->samples, one);
}

static int compare_samples(const void *x, const void *y)
{
	const struct timeline_sample *p = x, *q = y;

	if (p->thread != q->thread)
		return p->thread < q->thread ? -1 : 1;
	if (p->time_ns != q->time_ns)
		return p->time_ns < q->time_ns ? -1 : 1;
	return (p->stack > q->stack) - (p->stack < q->stack);
}

static int take_samples(struct timeline *tl)
{
	const struct analyzer *a = tl->wall->an->a;
	int err = 0;

	for (size_t i = 0; i < a->samples.count && !err; i++)
		err = add_sample(tl, &a->samples.at[i]);
	for (size_t i = 0; i < a->carried_samples.count && !err; i++)
		err = add_sample(tl, &a->carried_samples.at[i]);
	VEC_SORT(&tl->samples, compare_samples);
	return err;
}

size_t timeline_sample_at(const struct timeline *tl, uint32_t thread, uint64_t time_ns)
{
	const struct timeline_sample *s = tl->samples.at;

	return SEARCH(i, 0, tl->samples.count,
		      s[i].thread < thread || (s[i].thread == thread && s[i].time_ns < time_ns));
}

/* ---- CPUs ---- */

size_t timeline_run_at(const struct timeline *tl, uint32_t cpu, uint64_t time_ns)
{
	const struct wall_run *run = tl->runs.at;

	return SEARCH(i, 0, tl->runs.count, run[i].cpu < cpu || (run[i].cpu == cpu && run[i].end_ns <= time_ns));
}

/* ---- all ---- */

int timeline_new(struct timeline **out, const struct wall *w)
{
	struct timeline *tl = calloc(1, sizeof(*tl));
	int err = -ENOMEM;

	*out = tl;
	if (!tl)
		return err;
	tl->wall = w;
	tl->lives = calloc(w->threads.count + 1, sizeof(*tl->lives));
	if (tl->lives)
		err = take_samples(tl) ?: wall_runs_find(w, &tl->runs);
	if (err) {
		timeline_free(tl);
		*out = NULL;
	}
	return err;
}

void timeline_free(struct timeline *tl)
{
	if (!tl)
		return;
	for (size_t i = 0; tl->lives && i < tl->wall->threads.count; i++) {
		free(tl->lives[i].segments.at);
		free(tl->lives[i].sums.at);
	}
	free(tl->lives);
	free(tl->samples.at);
	free(tl->runs.at);
	free(tl);
}
