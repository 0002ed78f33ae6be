// SPDX-License-Identifier: Apache-2.0
/* The events of a flame graph with their times, so that the page can show a part of them. */
#include <errno.h>
#include <stdlib.h>

#include <analyze/events.h>

#include "page.h"

struct timed {
	uint64_t time_ns;
	uint64_t weight;
	uint32_t thread, place;
};

/*
 * Fewer events with the same sum: an event that is lighter than `step` is left out, and its weight goes to the one with
 * which `step` is reached.
 */
struct times {
	struct page *page;
	const struct tree *tree;
	const uint32_t *place;
	uint64_t step, carried;
	VEC(struct timed) list;
};

static int keep(struct times *t, const struct stack_sum *s, uint64_t time_ns, uint64_t weight)
{
	struct timed one = {time_ns, weight, 0, t->place[tree_node_of(t->tree, s)]};

	return page_thread(t->page, s->thread, &one.thread) ?: VEC_PUSH(&t->list, one);
}

static int add(struct times *t, const struct stack_sum *s, uint64_t time_ns)
{
	uint64_t weight = s->weight;

	if (!weight)
		return 0;
	if (weight < t->step) {
		weight = t->carried = add_saturating(t->carried, weight);
		if (weight < t->step)
			return 0;
		t->carried = 0;
	}
	return keep(t, s, time_ns, weight);
}

static int add_samples(struct times *t, const struct page_source *from)
{
	const struct analysis *an = t->page->an;
	int err = 0;

	for (size_t i = 0; i < from->count && !err; i++) {
		const struct sample *s = &from->samples[i];
		struct stack_sum sum;

		if (analysis_selects_time(an, s->time_ns) && analysis_selects_span(an, s->span) &&
		    analysis_sum_of(an, s->thread, s->node, s->weight, &sum))
			err = add(t, &sum, analysis_since(an, s->time_ns));
	}
	return err;
}

static int add_events(struct times *t, uint32_t kind)
{
	const struct analysis *an = t->page->an;
	int err = 0;

	for (size_t i = 0; i < events_count(an) && !err; i++) {
		struct stack_sum sum;
		struct event e;

		if (events_get_summed(an, i, &e) && e.kind == kind) {
			sum = events_sum(&e);
			err = add(t, &sum, analysis_since(an, e.start_ns));
		}
	}
	return err;
}

static int compare(const void *x, const void *y)
{
	const struct timed *p = x, *q = y;

	if (p->time_ns != q->time_ns)
		return p->time_ns < q->time_ns ? -1 : 1;
	if (p->thread != q->thread)
		return p->thread < q->thread ? -1 : 1;
	return (p->place > q->place) - (p->place < q->place);
}

/* Time since the one before in us, thread, node, weight. */
static int write(struct times *t)
{
	struct pack pack = {0};
	uint64_t before = 0;
	int err = 0;

	/* what is carried at the end is less than a step */
	if (t->list.count)
		t->list.at[t->list.count - 1].weight = add_saturating(t->list.at[t->list.count - 1].weight, t->carried);
	VEC_SORT(&t->list, compare);
	for (size_t i = 0; i < t->list.count && !err; i++) {
		const struct timed *one = &t->list.at[i];
		uint64_t us = one->time_ns / 1000;

		err = pack_put(&pack, us - before) ?: pack_put(&pack, one->thread) ?: pack_put(&pack, one->place)
						   ?: pack_put(&pack, one->weight);
		before = us;
	}
	json_open(&t->page->j, "times", '{');
	json_number(&t->page->j, "step", t->step);
	json_number(&t->page->j, "count", t->list.count);
	err = err ?: pack_json(&t->page->j, "packed", pack.bytes.at, pack.bytes.count);
	json_close(&t->page->j, '}');
	pack_free(&pack);
	return err;
}

static size_t count_events(const struct analysis *an, uint32_t kind)
{
	size_t count = 0;
	struct event e;

	for (size_t i = 0; i < events_count(an); i++)
		count += events_get_summed(an, i, &e) && e.kind == kind;
	return count;
}

int html_times(struct page *p, const struct profile *profile, const struct page_source *from, const struct tree *t,
	       const uint32_t *place)
{
	struct times times = {.page = p, .tree = t, .place = place};
	size_t count = from->kind ? count_events(p->an, from->kind) : from->count;
	size_t most = from->kind ? PAGE_EVENTS_MAX : PAGE_SAMPLES_MAX;
	int err;

	/* the analyzer kept sums only, or there is nothing */
	if (!count || !analyzer_has_times(p->an->a))
		return 0;
	times.step = count > most ? profile->quality.total / most + 1 : 0;
	err = from->kind ? add_events(&times, from->kind) : add_samples(&times, from);
	err = err ?: write(&times);
	free(times.list.at);
	return err;
}
