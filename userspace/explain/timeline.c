// SPDX-License-Identifier: Apache-2.0
#include "timeline.h"

#include <errno.h>
#include <stdlib.h>

#include <util/search.h>

#include <analyze/events.h>
#include <analyze/spans.h>
#include <util/compare.h>
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

/* Segments are in order, so these are sums up to each of them. */
static int find_gaps(struct timeline_life *life)
{
	int err = 0;

	for (size_t i = 0; i < life->segments.count && !err; i++) {
		const struct wall_segment *s = &life->segments.at[i];

		err = VEC_PUSH(&life->gaps, life->gap_ns);
		if (s->state == WALL_RUNNING)
			life->gap_ns += s->end_ns - s->start_ns;
	}
	return err;
}

int timeline_life(struct timeline *tl, uint32_t thread)
{
	struct timeline_life *life = &tl->lives[thread];

	if (life->made)
		return 0;
	life->made = true;
	return wall_each(tl->wall, &tl->wall->threads.at[thread], keep_segment, life)
		       ?: find_gaps(life)
		       ?: timeline_sums(tl, thread);
}

uint64_t timeline_gap_at(const struct timeline_life *life, uint64_t time_ns)
{
	size_t i = timeline_segment_at(life, time_ns);
	const struct wall_segment *s = i < life->segments.count ? &life->segments.at[i] : NULL;

	if (!s)
		return life->gap_ns;
	return life->gaps.at[i] + (s->state == WALL_RUNNING && time_ns > s->start_ns ? time_ns - s->start_ns : 0);
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

static int add_sighting(struct timeline *tl, uint32_t thread, const struct sample *s)
{
	struct timeline_sighting one = {thread, spans_same(tl->wall->an->a, s->span), s->time_ns};

	return one.span ? VEC_PUSH(&tl->sightings, one) : 0;
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
	if (one.thread == ROW_NONE)
		return 0;
	return VEC_PUSH(&tl->samples, one) ?: s->span ? add_sighting(tl, one.thread, s) : 0;
}

static int compare_sightings(const void *x, const void *y)
{
	const struct timeline_sighting *p = x, *q = y;

	return compare_u64(p->thread, q->thread) ?: compare_u64(p->time_ns, q->time_ns) ?: compare_u64(p->span, q->span);
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
	VEC_SORT(&tl->sightings, compare_sightings);
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
		err = take_samples(tl) ?: wall_runs_find(w, true, &tl->runs);
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
		free(tl->lives[i].gaps.at);
		free(tl->lives[i].sums.at);
	}
	free(tl->lives);
	free(tl->samples.at);
	free(tl->sightings.at);
	free(tl->runs.at);
	free(tl);
}
