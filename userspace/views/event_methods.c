// SPDX-License-Identifier: Apache-2.0
/* The report's tables of timed methods: all calls by method, and the slowest calls. event_views.c calls it. */
#include <errno.h>
#include <stdlib.h>

#include "event_views.h"

#include <util/compare.h>

static const struct distribution none;

static int add_calls(struct event_views *v, struct u64map *of, const struct event *e)
{
	uint64_t exponent = e->row->number < DISTRIBUTION_POWERS ? e->row->number : DISTRIBUTION_POWERS - 1;
	struct timed_view fresh = {.method = e->name, .distribution = (uint32_t)v->distributions.count}, *m;
	uint32_t *at = u64map_put(of, (uint64_t)e->name_id + 1);
	struct distribution *own;

	if (!at)
		return -ENOMEM;
	if (!*at) {
		if (VEC_PUSH(&v->methods, fresh) || VEC_PUSH(&v->distributions, none))
			return -ENOMEM;
		*at = (uint32_t)v->methods.count;
	}
	m = &v->methods.at[*at - 1];
	own = &v->distributions.at[m->distribution];
	m->calls = add_saturating(m->calls, e->row->value);
	m->ns = add_saturating(m->ns, e->row->weight);
	if (e->duration_ns > m->longest_ns)
		m->longest_ns = e->duration_ns;
	own->calls[exponent] = add_saturating(own->calls[exponent], e->row->value);
	own->ns[exponent] = add_saturating(own->ns[exponent], e->row->weight);
	return 0;
}

/* The mean of the calls between the powers of two where the quantile is. */
static uint64_t quantile(const struct distribution *d, uint64_t calls, uint64_t percent)
{
	uint64_t rank = calls / 100 * percent + calls % 100 * percent / 100, seen = 0;

	for (uint32_t i = 0; i < DISTRIBUTION_POWERS; i++) {
		seen = add_saturating(seen, d->calls[i]);
		if (d->calls[i] && seen > rank)
			return d->ns[i] / d->calls[i];
	}
	return 0;
}

/* ---- the slowest calls ---- */

static uint64_t thread_key(const struct event *e)
{
	return e->row->vthread ? 1ULL << 32 | e->row->vthread : e->row->thread;
}

static int add_call(struct event_views *v, const struct analysis *an, const struct event *e)
{
	struct call_view one = {.method = e->name,
				.thread = e->thread,
				.vthread = e->row->vthread,
				.key = thread_key(e),
				.at_ns = e->start_ns,
				.ns = e->duration_ns,
				.self_ns = e->duration_ns,
				.thrown = e->row->flags & BRAID_METHOD_THROWN,
				.exception = strpool_get(&an->a->strings, e->row->detail),
				.values = strpool_get(&an->a->strings, e->row->text)};

	return VEC_PUSH(&v->calls, one);
}

/* By thread and start; of two that begin at once, the longer one is outside. */
static int compare_nested(const void *a, const void *b)
{
	const struct call_view *p = a, *q = b;
	int c = compare_u64(p->key, q->key);

	if (!c)
		c = compare_u64(p->at_ns, q->at_ns);
	return c ? c : compare_u64(q->ns, p->ns);
}

static int compare_slow(const void *a, const void *b)
{
	const struct call_view *p = a, *q = b;
	int c = compare_u64(q->ns, p->ns);

	return c ? c : compare_nested(a, b);
}

static int compare_methods(const void *a, const void *b)
{
	return compare_u64(((const struct timed_view *)b)->ns, ((const struct timed_view *)a)->ns);
}

static bool is_inside(const struct call_view *inner, const struct call_view *outer)
{
	return inner->key == outer->key && inner->at_ns + inner->ns <= outer->at_ns + outer->ns;
}

/* Takes calls from those around them. `outer` is a chain: the call before, those around it, and so on. */
static int find_self(struct event_views *v)
{
	size_t *outer = calloc(v->calls.count + 1, sizeof(*outer)); /* number + 1; 0: none */
	size_t at;

	if (!outer)
		return -ENOMEM;
	for (size_t i = 0; i < v->calls.count; i++) {
		struct call_view *c = &v->calls.at[i];

		at = i;
		while (at && !is_inside(c, &v->calls.at[at - 1]))
			at = outer[at - 1];
		outer[i] = at;
		if (at)
			v->calls.at[at - 1].self_ns -=
				c->ns < v->calls.at[at - 1].self_ns ? c->ns : v->calls.at[at - 1].self_ns;
	}
	free(outer);
	return 0;
}

int event_views_methods(struct event_views *v, const struct analysis *an)
{
	struct u64map of = {0}; /* by name: number + 1 */
	int err = 0;

	for (size_t i = 0; i < an->a->events.count && !err; i++) {
		uint32_t kind = an->a->events.at[i].kind;
		struct event e;

		if ((kind != BRAID_JVM_METHOD_CALLS && kind != BRAID_JVM_METHOD) || !events_get(an, i, &e))
			continue;
		err = kind == BRAID_JVM_METHOD_CALLS ? add_calls(v, &of, &e) : add_call(v, an, &e);
	}
	for (size_t i = 0; i < v->methods.count && !err; i++) {
		struct timed_view *m = &v->methods.at[i];

		m->p50_ns = quantile(&v->distributions.at[m->distribution], m->calls, 50);
		m->p99_ns = quantile(&v->distributions.at[m->distribution], m->calls, 99);
	}
	u64map_free(&of);
	VEC_SORT(&v->methods, compare_methods);
	VEC_SORT(&v->calls, compare_nested);
	err = err ?: find_self(v);
	VEC_SORT(&v->calls, compare_slow);
	return err;
}
