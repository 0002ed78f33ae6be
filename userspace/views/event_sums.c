// SPDX-License-Identifier: Apache-2.0
#include "event_sums.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <util/compare.h>
#include <util/pair_map.h>

const char *const event_by_names[BYS] = {"name", "detail", "site", "thread", "caller", "stack"};

double event_error(double variance, uint64_t weight)
{
	double error = weight ? sqrt(variance) / (double)weight : 0;

	return isfinite(error) ? error : 0;
}

/* ---- adding up ---- */

/* The value of a sum is the number of its events. */
static uint64_t value_of(const struct event *e)
{
	return e->summed ? 0 : e->row->value;
}

static int add_to(struct event_table *t, const struct event *e, struct event_sum fresh)
{
	uint32_t *at = u64map_put(&t->of, fresh.key);
	struct event_sum *s;

	if (!at)
		return -ENOMEM;
	if (!*at) {
		if (VEC_PUSH(&t->sums, fresh))
			return -ENOMEM;
		*at = (uint32_t)t->sums.count;
	}
	s = &t->sums.at[*at - 1];
	s->count = add_saturating(s->count, e->count);
	s->weight = add_saturating(s->weight, e->weight);
	s->value = add_saturating(s->value, value_of(e));
	s->duration_ns = add_saturating(s->duration_ns, e->duration_ns);
	s->survived += e->survived;
	s->variance += e->variance;
	if (e->longest > s->max)
		s->max = e->longest;
	if (value_of(e) > s->value_max)
		s->value_max = value_of(e);
	return 0;
}

/* The agent counts exceptions above the rate by class, without a stack and a thread. */
static bool only_counted(const struct event *e)
{
	return e->k->thrown && e->stack == ROW_NONE && e->thread == ROW_NONE;
}

/* Their row in each table but the classes'. */
static int add_only_counted(struct kind_view *v, const struct event *e)
{
	const enum event_by without[] = {BY_DETAIL, BY_SITE, BY_THREAD};
	struct event_sum sum = {
		.name = "[only counted]", .thread = ROW_NONE, .key = UINT64_MAX - 1, .only_counted = true};
	int err = 0;

	for (size_t i = 0; i < sizeof(without) / sizeof(*without) && !err; i++)
		err = add_to(&v->by[without[i]], e, sum);
	return err;
}

static int add_place(const struct analysis *an, struct event_table *t, const struct event *e, uint32_t site)
{
	struct event_sum sum = {.name = events_site_name(an, site), .key = UINT64_MAX};

	if (site != ROW_NONE) {
		const struct xframe *x = &an->xframes.at[site];

		sum.line = x->line;
		sum.key = (uint64_t)an->syms.at[x->sym].name << 32 | x->line;
	}
	return add_to(t, e, sum);
}

static uint32_t caller_of(const struct place *p)
{
	return p->caller != ROW_NONE ? p->caller : p->any;
}

static int add_site(const struct analysis *an, struct event_table *t, const struct event *e)
{
	const struct place *p = place_of(an, e->stack);
	uint32_t site = event_site(an, e);

	return add_place(an, t, e, e->k->caller && p && p->java == ROW_NONE ? caller_of(p) : site);
}

/* The function that called for memory, and all that called it. */
static int add_caller(const struct analysis *an, struct kind_view *v, const struct event *e)
{
	const struct place *p = place_of(an, e->stack);
	uint32_t caller = p ? caller_of(p) : ROW_NONE;
	struct event_sum stack = {.name = events_site_name(an, caller), .stack = e->stack, .key = e->stack};

	return add_place(an, &v->by[BY_CALLER], e, caller) ?: add_to(&v->by[BY_STACK], e, stack);
}

/*
 * The ways of exceptions from where they were thrown: how many frames are left of each stack, by stack and by the name
 * of the method that catches them. Ways are not looked for any more when so many frames were looked at.
 */
struct flights {
	struct pair_map left; /* plus one; NOT_CAUGHT */
	uint64_t frames;
};

#define NOT_CAUGHT UINT32_MAX
#define FLIGHT_FRAMES_MAX (UINT64_C(1) << 25)

/* As in struct flights. */
static uint32_t flight(struct flights *f, const struct analysis *an, uint32_t stack, const char *to)
{
	uint32_t left = 0;

	for (; stack != ROW_NONE && f->frames < FLIGHT_FRAMES_MAX; stack = an->stacks[stack].parent) {
		uint32_t frame = an->stacks[stack].frame, i = frame == ROW_NONE ? 0 : an->expansions[frame].count;

		for (f->frames++; i-- > 0; f->frames++) {
			const struct xframe *x = &an->xframes.at[an->expansions[frame].first + i];

			if (kind_domain((enum stack_kind)an->syms.at[x->sym].kind) != DOMAIN_JAVA)
				continue;
			left++;
			if (!strcmp(analysis_sym_name(an, x->sym), to))
				return left;
		}
	}
	return NOT_CAUGHT;
}

static void add_flight(struct event_table *t, uint64_t key, uint64_t left, uint64_t weight)
{
	const uint32_t *at = u64map_put(&t->of, key); /* it is there */

	if (!at || !*at)
		return;
	t->sums.at[*at - 1].caught += weight;
	t->sums.at[*at - 1].left = add_saturating(t->sums.at[*at - 1].left, left * weight);
}

static int follow(struct flights *f, const struct analysis *an, struct kind_view *v, const struct event *e)
{
	const struct pair_entry *known = pair_find(&f->left, e->stack, e->row->detail);

	if (!e->row->detail)
		return 0;
	if (!known)
		known = pair_put(&f->left, e->stack, e->row->detail,
				 flight(f, an, e->stack, strpool_get(&an->a->strings, e->row->detail)));
	if (!known)
		return -ENOMEM;
	if (known->value == NOT_CAUGHT)
		return 0;
	add_flight(&v->by[BY_NAME], e->name_id, known->value - 1, e->weight);
	add_flight(&v->by[BY_DETAIL], e->row->detail, known->value - 1, e->weight);
	return 0;
}

static int add_event(const struct analysis *an, struct flights *f, struct kind_view *v, const struct event *e)
{
	struct event_sum name = {.name = *e->name ? e->name : "[unknown]", .key = e->name_id};
	struct event_sum detail = {.name = e->row->detail ? strpool_get(&an->a->strings, e->row->detail) : "[none]",
				   .key = e->row->detail};
	struct event_sum thread = {.name = analysis_thread_name(an, e->thread), .thread = e->thread, .key = e->thread};
	int err = 0;

	v->kind = e->kind;
	v->count = add_saturating(v->count, e->count);
	v->summed = add_saturating(v->summed, e->summed ? e->count : 0);
	v->summed_ns = add_saturating(v->summed_ns, e->summed ? e->weight : 0);
	if (!e->summed && event_blocker(an, e->row) == BLOCKER_NOT_READ) {
		v->unread++;
		v->unread_ns = add_saturating(v->unread_ns, e->weight);
	}
	v->weight = add_saturating(v->weight, e->weight);
	v->value = add_saturating(v->value, value_of(e));
	v->duration_ns = add_saturating(v->duration_ns, e->duration_ns);
	v->variance += e->variance;
	if (e->longest > v->max)
		v->max = e->longest;
	if (value_of(e) > v->value_max)
		v->value_max = value_of(e);
	if (e->k->unit == UNIT_NS && !e->summed)
		err = VEC_PUSH(&v->times, e->weight);
	if (!err && e->k->name_is.title)
		err = add_to(&v->by[BY_NAME], e, name);
	if (!err && only_counted(e))
		return add_only_counted(v, e);
	if (!err && e->k->detail_is.title)
		err = add_to(&v->by[BY_DETAIL], e, detail);
	if (!err && e->k->thrown)
		err = follow(f, an, v, e);
	if (!err && e->k->stack)
		err = add_site(an, &v->by[BY_SITE], e);
	if (!err && e->k->caller)
		err = add_caller(an, v, e);
	return err ?: add_to(&v->by[BY_THREAD], e, thread);
}

/* ---- order ---- */

static int event_sums_compare(const void *x, const void *y)
{
	const struct event_sum *p = x, *q = y;
	int c = compare_u64(q->weight, p->weight);

	if (!c)
		c = compare_u64(q->count, p->count);
	if (!c)
		c = strcmp(p->name, q->name);
	if (!c)
		c = compare_u64(p->line, q->line);
	return c ? c : compare_u64(p->key, q->key);
}

static int compare_times(const void *x, const void *y)
{
	return compare_u64(*(const uint64_t *)x, *(const uint64_t *)y);
}

/*
 * Nearest rank, among those in sums, too. Of these only the longest is known: the rank is known if it is of a time that
 * is no shorter. `times` is sorted.
 */
static uint64_t p99(const struct kind_view *v, uint64_t longest_summed)
{
	uint64_t longer = add_saturating(v->times.count, v->summed) / 100, time;

	if (longer >= v->times.count)
		return 0;
	time = v->times.at[v->times.count - 1 - longer];
	return time < longest_summed ? 0 : time;
}

static void finish(struct kind_view *v, uint64_t longest_summed)
{
	for (int by = 0; by < BYS; by++) {
		struct event_table *t = &v->by[by];

		VEC_SORT(&t->sums, event_sums_compare);
		u64map_free(&t->of);
	}
	if (!v->times.count)
		return;
	VEC_SORT(&v->times, compare_times);
	v->p99 = p99(v, longest_summed);
	free(v->times.at);
	memset(&v->times, 0, sizeof(v->times));
}

/* ---- life ---- */

int kind_views_new(struct kind_view **out, const struct analysis *an)
{
	struct kind_view *views = calloc(BRAID_JVM_EVENTS, sizeof(*views));
	uint64_t longest_summed[BRAID_JVM_EVENTS] = {0};
	struct flights flights = {0};
	int err = views ? 0 : -ENOMEM;

	*out = views;
	for (size_t i = 0; i < events_count(an) && !err; i++) {
		struct event e;

		if (!events_get_summed(an, i, &e))
			continue;
		if (e.idle) {
			views[e.kind].idle = add_saturating(views[e.kind].idle, e.count);
			views[e.kind].idle_ns = add_saturating(views[e.kind].idle_ns, e.weight);
			continue;
		}
		if (e.summed && e.longest > longest_summed[e.kind])
			longest_summed[e.kind] = e.longest;
		err = add_event(an, &flights, &views[e.kind], &e);
		if (e.kind == BRAID_JVM_COUNTED && e.row->number < BRAID_JVM_EVENTS) {
			struct kind_view *of = &views[e.row->number];

			of->counted = add_saturating(of->counted, e.row->value);
			of->counted_ns = add_saturating(of->counted_ns, e.row->weight);
		}
	}
	for (uint32_t kind = 0; kind < BRAID_JVM_EVENTS && !err; kind++) {
		views[kind].k = kind_of(kind);
		views[kind].kind = kind;
		finish(&views[kind], longest_summed[kind]);
	}
	pair_map_free(&flights.left);
	return err;
}

void kind_views_free(struct kind_view *views)
{
	for (int kind = 0; views && kind < BRAID_JVM_EVENTS; kind++) {
		for (int by = 0; by < BYS; by++) {
			free(views[kind].by[by].sums.at);
			u64map_free(&views[kind].by[by].of);
		}
		free(views[kind].times.at);
	}
	free(views);
}
