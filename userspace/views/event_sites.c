// SPDX-License-Identifier: Apache-2.0
/*
 * The report's table of sites: what was allocated by class and stack, and what is live of it, as HPROF's SITES has them.
 * event_views.c calls it.
 */
#include <errno.h>
#include <string.h>

#include <util/compare.h>
#include <util/pair_map.h>

#include "event_views.h"

/* An object that was sampled represents `weight` bytes, and so for this many of its size. */
static double objects_of(const struct event *e)
{
	return e->row->value ? (double)e->weight / (double)e->row->value : 0;
}

struct sites {
	struct event_views *v;
	const struct analysis *an;
	struct u64map of;    /* class and stack to the site and 1 */
	struct u64map equal; /* stack to the first one with the same Java frames, and 1 */
	struct u64map first; /* of frames, by their hash: this stack, and 1 */
};

static void hash_frame(void *ctx, const struct analysis *an, const struct xframe *x)
{
	const struct sym *s = &an->syms.at[x->sym];
	uint64_t *hash = ctx;

	if (kind_domain((enum stack_kind)s->kind) == DOMAIN_JAVA)
		*hash = pair_hash(*hash, (uint64_t)s->name << 32 | x->line);
}

/* Of the names and lines of Java frames, as HPROF's stacks have: how a method was executed makes no other site. */
static uint64_t hash_of_frames(const struct analysis *an, uint32_t stack)
{
	uint64_t hash = 1;

	analysis_each_frame(an, stack, hash_frame, &hash);
	return hash;
}

/* The first stack that has the same Java frames. 0 or -ENOMEM. */
static int same_stack(struct sites *s, uint32_t stack, uint32_t *same)
{
	uint32_t *equal = u64map_put(&s->equal, stack), *first;

	*same = stack;
	if (!equal)
		return -ENOMEM;
	if (!*equal) {
		first = u64map_put(&s->first, hash_of_frames(s->an, stack));
		if (!first)
			return -ENOMEM;
		if (!*first)
			*first = stack + 1;
		*equal = *first;
	}
	*same = *equal - 1;
	return 0;
}

static int add(struct sites *sites, const struct event *e)
{
	struct event_views *v = sites->v;
	struct site_view fresh = {.class = *e->name ? e->name : "[unknown]", .stack = e->stack}, *s;
	uint32_t *at;

	if (e->stack != ROW_NONE && same_stack(sites, e->stack, &fresh.stack))
		return -ENOMEM;
	at = u64map_put(&sites->of, (uint64_t)e->name_id << 32 | fresh.stack);
	if (!at)
		return -ENOMEM;
	if (!*at) {
		if (VEC_PUSH(&v->sites, fresh))
			return -ENOMEM;
		*at = (uint32_t)v->sites.count;
	}
	s = &v->sites.at[*at - 1];
	if (e->kind == BRAID_JVM_ALLOC) {
		s->allocated_bytes = add_saturating(s->allocated_bytes, e->weight);
		s->allocated_objects += objects_of(e);
		return 0;
	}
	s->live_bytes = add_saturating(s->live_bytes, e->weight);
	s->live_objects += objects_of(e);
	s->live_variance += e->variance;
	v->live_bytes = add_saturating(v->live_bytes, e->weight);
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct site_view *x = a, *y = b;
	int c = compare_u64(y->live_bytes, x->live_bytes);

	c = c ? c : compare_u64(y->allocated_bytes, x->allocated_bytes);
	c = c ? c : strcmp(x->class, y->class);
	return c ? c : compare_u64(x->stack, y->stack);
}

int event_views_sites(struct event_views *v, const struct analysis *an)
{
	struct sites sites = {.v = v, .an = an};
	struct event e;
	int err = 0;

	if (!events_recorded(an, BRAID_EVENT_TYPE_LIVE))
		return 0;
	for (size_t i = 0; i < events_count(an) && !err; i++)
		if (events_get(an, i, &e) && (e.kind == BRAID_JVM_ALLOC || e.kind == BRAID_JVM_LIVE))
			err = add(&sites, &e);
	u64map_free(&sites.of);
	u64map_free(&sites.equal);
	u64map_free(&sites.first);
	VEC_SORT(&v->sites, compare);
	return err;
}
