// SPDX-License-Identifier: Apache-2.0
/* The tree of a critical path, its parts, and what differs between two paths. explain.c finds the path. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <analyze/events.h>
#include "explain.h"

/* ---- nodes ---- */

static uint32_t key_of(struct explaining *x, const struct explain_kind *k)
{
	char text[2048];

	snprintf(text, sizeof(text), "%d|%d|%d|%d|%s|%s|%s", (int)k->state, (int)k->sum, k->shared, k->own,
		 k->site == ROW_NONE ? "" : events_site_name(x->e->wall->an, k->site), k->pool, k->object);
	return strpool_add(&x->keys, text, strlen(text));
}

static uint32_t add_node(struct explaining *x, uint32_t parent, uint32_t key, const struct explain_kind *k)
{
	struct explain *e = x->e;
	struct explain_node fresh = {.parent = parent,
				     .key = key,
				     .depth = e->nodes.at[parent].depth + 1,
				     .who = k->who,
				     .pool = k->pool,
				     .state = k->state,
				     .object = k->object,
				     .site = k->site,
				     .sum = k->sum,
				     .shared = k->shared,
				     .ended_by = ""};

	return VEC_PUSH(&e->nodes, fresh) ? ROW_NONE : (uint32_t)e->nodes.count - 1;
}

uint32_t explain_node(struct explaining *x, uint32_t parent, const struct explain_kind *k)
{
	const struct explain_node *nodes = x->e->nodes.at;
	uint32_t key = key_of(x, k), *at, node;

	if (key == STRPOOL_FAILED)
		return ROW_NONE;
	/* threads that wait for others of their kind are one node */
	for (uint32_t up = parent; up; up = nodes[up].parent)
		if (nodes[up].key == key)
			return up;
	at = u64map_put(&x->node_of, (uint64_t)parent << 32 | key);
	if (!at)
		return ROW_NONE;
	node = *at ? *at - 1 : add_node(x, parent, key, k);
	*at = node == ROW_NONE ? 1 : node + 1;
	return node;
}

/* The nearest ancestor, or the node itself, that is the stretch's own thread's. */
static uint32_t own_of(const struct explain *e, uint32_t node)
{
	while (node && e->nodes.at[node].depth > 1)
		node = e->nodes.at[node].parent;
	return node;
}

/* ---- what ran ---- */

int explain_hits(struct explaining *x, uint32_t node, uint32_t thread, uint64_t from_ns, uint64_t to_ns)
{
	const struct timeline *tl = x->tl;

	for (size_t i = timeline_sample_at(tl, thread, from_ns); i < tl->samples.count; i++) {
		const struct timeline_sample *s = &tl->samples.at[i];
		struct explain_hit fresh = {.node = node, .stack = s->stack};
		uint32_t *at;

		if (s->thread != thread || s->time_ns >= to_ns)
			break;
		at = u64map_put(&x->hit_of, (uint64_t)node << 32 | s->stack);
		if (!at || (!*at && VEC_PUSH(&x->hits, fresh)))
			return -ENOMEM;
		if (!*at)
			*at = (uint32_t)x->hits.count;
		x->hits.at[*at - 1].weight = add_saturating(x->hits.at[*at - 1].weight, s->weight);
		x->pieces++;
	}
	return 0;
}

static int compare_hits(const void *x, const void *y)
{
	const struct explain_hit *p = x, *q = y;

	if (p->node != q->node)
		return p->node < q->node ? -1 : 1;
	if (p->weight != q->weight)
		return p->weight > q->weight ? -1 : 1;
	return (p->stack > q->stack) - (p->stack < q->stack);
}

/* Adds the time on one stack to the node of its site. The heaviest stack comes first, and is the one that is shown. */
static int add_site(struct explaining *x, uint32_t node, uint32_t stack, uint64_t ns)
{
	const struct explain_node *from = &x->e->nodes.at[node];
	struct explain_kind kind = {.who = from->who,
				    .pool = from->pool,
				    .own = from->depth == 1,
				    .object = "",
				    .site = wait_site(x->e->wall->an, stack),
				    .state = WALL_RUNNING};
	struct explain_longest longest = {.thread = from->longest.thread, .stack = stack};
	uint32_t to = explain_node(x, from->parent, &kind);

	if (to == ROW_NONE)
		return -ENOMEM;
	x->e->nodes.at[node].self_ns -= ns;
	x->e->nodes.at[to].self_ns += ns;
	if (to != node && x->e->nodes.at[to].self_ns == ns)
		x->e->nodes.at[to].longest = longest;
	return 0;
}

/* Hits of one node, which get shares of its time by their weights. */
static int divide(struct explaining *x, const struct explain_hit *hits, size_t count)
{
	struct wall_shares shares = {.ns = x->e->nodes.at[hits->node].self_ns};
	int err = 0;

	for (size_t i = 0; i < count; i++)
		shares.weight = add_saturating(shares.weight, hits[i].weight);
	for (size_t i = 0; i < count && !err; i++)
		err = add_site(x, hits->node, hits[i].stack, wall_shares_next(&shares, hits[i].weight));
	return err;
}

static int divide_all(struct explaining *x)
{
	int err = 0;

	VEC_SORT(&x->hits, compare_hits);
	for (size_t i = 0, next; i < x->hits.count && !err; i = next) {
		for (next = i + 1; next < x->hits.count && x->hits.at[next].node == x->hits.at[i].node;)
			next++;
		err = divide(x, &x->hits.at[i], next - i);
	}
	return err;
}

/* ---- parts ---- */

static const char *part_key(struct explaining *x, const struct explain_node *n, const struct explain_node *own)
{
	char text[4200];
	uint32_t id;

	snprintf(text, sizeof(text), "%s / %s", strpool_get(&x->keys, n->key), strpool_get(&x->keys, own->key));
	id = strpool_add(&x->e->texts, text, strlen(text));
	return id == STRPOOL_FAILED ? NULL : strpool_get(&x->e->texts, id);
}

static int add_part(struct explaining *x, struct u64map *part_of, uint32_t node)
{
	struct explain *e = x->e;
	const struct explain_node *n = &e->nodes.at[node];
	uint32_t own = own_of(e, node);
	uint32_t *at = u64map_put(part_of, (uint64_t)n->key << 32 | e->nodes.at[own].key);
	struct explain_part fresh = {.node = node, .wait = own, .longest = n->longest}, *p;

	if (!at)
		return -ENOMEM;
	if (!*at) {
		fresh.key = part_key(x, n, &e->nodes.at[own]);
		if (!fresh.key || VEC_PUSH(&e->parts, fresh))
			return -ENOMEM;
		*at = (uint32_t)e->parts.count;
	}
	p = &e->parts.at[*at - 1];
	p->ns += n->self_ns;
	p->count += n->count;
	if (n->longest.ns > p->longest.ns)
		p->longest = n->longest;
	if (n->self_ns > e->nodes.at[p->node].self_ns)
		p->node = node;
	return 0;
}

static int compare_parts(const void *x, const void *y)
{
	const struct explain_part *p = x, *q = y;

	if (p->ns != q->ns)
		return p->ns > q->ns ? -1 : 1;
	return strcmp(p->key, q->key);
}

int explain_finish(struct explaining *x)
{
	struct explain *e = x->e;
	struct u64map part_of = {0};
	int err = divide_all(x);

	for (size_t i = 0; i < e->nodes.count; i++)
		e->nodes.at[i].total_ns = e->nodes.at[i].self_ns;
	for (size_t i = e->nodes.count - 1; i; i--)
		e->nodes.at[e->nodes.at[i].parent].total_ns += e->nodes.at[i].total_ns;
	for (uint32_t i = 1; i < e->nodes.count && !err; i++)
		if (e->nodes.at[i].self_ns)
			err = add_part(x, &part_of, i);
	VEC_SORT(&e->parts, compare_parts);
	u64map_free(&part_of);
	return err;
}

/* ---- differences ---- */

static int compare_keys(const void *x, const void *y)
{
	const struct explain_part *const *p = x, *const *q = y;

	return strcmp((*p)->key, (*q)->key);
}

/* The parts by their keys; NULL without memory. */
static const struct explain_part **sorted(const struct explain *e)
{
	const struct explain_part **all = calloc(e->parts.count + 1, sizeof(*all));

	for (size_t i = 0; all && i < e->parts.count; i++)
		all[i] = &e->parts.at[i];
	if (all && e->parts.count)
		qsort(all, e->parts.count, sizeof(*all), compare_keys);
	return all;
}

static uint64_t difference(const struct explain_change *c)
{
	uint64_t before = c->before ? c->before->ns : 0, after = c->after ? c->after->ns : 0;

	return before > after ? before - after : after - before;
}

static int compare_changes(const void *x, const void *y)
{
	const struct explain_change *p = x, *q = y;

	if (difference(p) != difference(q))
		return difference(p) > difference(q) ? -1 : 1;
	return strcmp(p->before ? p->before->key : p->after->key, q->before ? q->before->key : q->after->key);
}

static int match(struct explain_diff *d, const struct explain_part **p, const struct explain_part **q)
{
	int err = 0;

	while ((*p || *q) && !err) {
		int c = !*p ? 1 : !*q ? -1 : strcmp((*p)->key, (*q)->key);
		struct explain_change one = {.before = c <= 0 ? *p : NULL, .after = c >= 0 ? *q : NULL};

		p += c <= 0;
		q += c >= 0;
		err = VEC_PUSH(&d->changes, one);
	}
	return err;
}

int explain_diff_new(struct explain_diff *d, const struct explain *before, const struct explain *after)
{
	const struct explain_part **p = sorted(before), **q = sorted(after);
	int err = -ENOMEM;

	*d = (struct explain_diff){.before = before, .after = after};
	if (p && q)
		err = match(d, p, q);
	VEC_SORT(&d->changes, compare_changes);
	free(p);
	free(q);
	if (err)
		explain_diff_free(d);
	return err;
}

void explain_diff_free(struct explain_diff *d)
{
	free(d->changes.at);
	*d = (struct explain_diff){0};
}
