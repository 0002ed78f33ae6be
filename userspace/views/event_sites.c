// SPDX-License-Identifier: Apache-2.0
/*
 * The report's tables of sites: what was allocated by class and stack, what is live of it, as HPROF's SITES has them,
 * how old got what is gone, and which sites grow. event_views.c calls it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <util/compare.h>
#include <util/pair_map.h>

#include "event_views.h"

/* An object that was sampled represents `weight` bytes, and so for this many of its size. */
static double objects_of(const struct event *e)
{
	return e->row->value ? (double)e->weight / (double)e->row->value : 0;
}

/* Objects that got that old. */
struct death {
	uint32_t site;
	double objects;
	uint64_t age_ns;
};

struct sites {
	struct event_views *v;
	const struct analysis *an;
	struct u64map of;    /* class and stack to the site and 1 */
	struct u64map equal; /* stack to the first one with the same Java frames, and 1 */
	struct u64map first; /* of frames, by their hash: this stack, and 1 */
	VEC(struct death) deaths;
	VEC(struct site_object) objects;
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

static int add_object(struct sites *sites, uint32_t site, const struct event *e)
{
	struct site_object o = {.site = site,
				.process = e->row->process,
				.survived = e->survived,
				.from_ns = e->row->time_ns,
				.to_ns = UINT64_MAX,
				.weight = e->weight};

	if (e->kind == BRAID_JVM_DIED)
		o.to_ns = add_saturating(e->row->time_ns, e->duration_ns);
	return VEC_PUSH(&sites->objects, o);
}

static int add_death(struct sites *sites, uint32_t site, const struct event *e)
{
	struct death d = {.site = site, .objects = objects_of(e), .age_ns = e->duration_ns};
	struct event_views *v = sites->v;
	struct site_view *s = &v->sites.at[site];

	s->died_bytes = add_saturating(s->died_bytes, e->weight);
	s->died_objects += d.objects;
	s->died_survived += e->survived ? d.objects : 0;
	v->died_bytes = add_saturating(v->died_bytes, e->weight);
	if (d.objects > 0 && VEC_PUSH(&sites->deaths, d))
		return -ENOMEM;
	return e->survived ? add_object(sites, site, e) : 0;
}

static int add_live(struct sites *sites, uint32_t site, const struct event *e)
{
	struct event_views *v = sites->v;
	struct site_view *s = &v->sites.at[site];
	uint32_t process = e->row->process;

	s->process = !s->live_bytes || s->process == process ? process : 0;
	s->live_bytes = add_saturating(s->live_bytes, e->weight);
	s->live_objects += objects_of(e);
	s->live_survived += objects_of(e) * e->survived;
	s->live_variance += e->variance;
	v->live_bytes = add_saturating(v->live_bytes, e->weight);
	return add_object(sites, site, e);
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
	if (e->kind == BRAID_JVM_DIED)
		return add_death(sites, *at - 1, e);
	return add_live(sites, *at - 1, e);
}

static int compare(const void *a, const void *b)
{
	const struct site_view *x = a, *y = b;
	int c = compare_u64(y->live_bytes, x->live_bytes);

	c = c ? c : compare_u64(y->allocated_bytes, x->allocated_bytes);
	c = c ? c : strcmp(x->class, y->class);
	return c ? c : compare_u64(x->stack, y->stack);
}

static bool is_of_site(uint32_t kind)
{
	return kind == BRAID_JVM_ALLOC || kind == BRAID_JVM_LIVE || kind == BRAID_JVM_DIED;
}

static int compare_deaths(const void *a, const void *b)
{
	const struct death *x = a, *y = b;
	int c = compare_u64(x->site, y->site);

	return c ? c : compare_u64(x->age_ns, y->age_ns);
}

static void find_ages(struct sites *sites)
{
	const struct death *d = sites->deaths.at;
	double younger = 0; /* objects of the site that got this old, or less */

	VEC_SORT(&sites->deaths, compare_deaths);
	for (size_t i = 0; i < sites->deaths.count; i++) {
		struct site_view *s = &sites->v->sites.at[d[i].site];

		younger = (i && d[i - 1].site == d[i].site ? younger : 0) + d[i].objects;
		if (younger < s->died_objects * 0.5 + d[i].objects)
			s->age_p50_ns = d[i].age_ns;
		if (younger < s->died_objects * 0.9 + d[i].objects)
			s->age_p90_ns = d[i].age_ns;
		s->age_max_ns = d[i].age_ns;
	}
}

static int compare_suspects(const void *a, const void *b)
{
	const struct site_view *x = *(const struct site_view *const *)a, *y = *(const struct site_view *const *)b;
	int c = compare_u64(y->grown_bytes, x->grown_bytes);

	return c ? c : compare(x, y);
}

static int compare_died(const void *a, const void *b)
{
	const struct site_view *x = *(const struct site_view *const *)a, *y = *(const struct site_view *const *)b;
	int c = compare_u64(y->died_bytes, x->died_bytes);

	return c ? c : compare(x, y);
}

int event_views_sites(struct event_views *v, const struct analysis *an)
{
	struct sites sites = {.v = v, .an = an};
	struct event e;
	int err = 0;

	if (!events_recorded(an, BRAID_EVENT_TYPE_LIVE))
		return 0;
	for (size_t i = 0; i < events_count(an) && !err; i++)
		if (events_get(an, i, &e) && is_of_site(e.kind))
			err = add(&sites, &e);
	find_ages(&sites);
	if (!err)
		event_suspects_find(v, sites.objects.at, sites.objects.count);
	free(sites.deaths.at);
	free(sites.objects.at);
	u64map_free(&sites.of);
	u64map_free(&sites.equal);
	u64map_free(&sites.first);
	VEC_SORT(&v->sites, compare);
	for (uint32_t i = 0; i < v->sites.count && !err; i++) {
		struct site_view *s = &v->sites.at[i];

		s->live_survived = s->live_objects > 0 ? s->live_survived / s->live_objects : 0;
		if (s->died_objects > 0)
			err = VEC_PUSH(&v->died, s);
		if (s->grown_bytes && !err)
			err = VEC_PUSH(&v->suspects, s);
	}
	VEC_SORT(&v->died, compare_died);
	VEC_SORT(&v->suspects, compare_suspects);
	return err;
}
