// SPDX-License-Identifier: Apache-2.0
#include "wakers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <views/event_views.h>

/* ---- which stacks there are ---- */

typedef int (*step_fn)(struct wakers *k, const struct jvm_event_row *r, uint32_t waker);

/* Calls `step` for the row and for the waits of its wakers. */
static int follow(struct wakers *k, const struct jvm_event_row *r, step_fn step)
{
	const struct analyzer *a = k->wall->an->a;
	int err = 0;

	for (int depth = 0; r && depth < WALL_CHAIN_MAX && !err; depth++) {
		uint32_t waker = table_row_of(&a->threads, wall_waited_for(k->wall, r)->other);
		const struct jvm_event_row *before = wall_wait_before(k->wall, waker, r);

		err = step(k, r, waker);
		r = before;
	}
	return err;
}

static int use_step(struct wakers *k, const struct jvm_event_row *r, uint32_t waker)
{
	uint32_t stack = table_row_of(&k->wall->an->a->nodes, r->other_node);

	(void)waker;
	if (stack != ROW_NONE)
		k->used[stack] = true;
	return 0;
}

static bool is_shown(const struct wakers *k, const struct wall_segment *s)
{
	return s->row && wall_is_blocked(s->state) && (k->idle || !s->idle);
}

static int use_segment(void *ctx, const struct wall_thread *t, const struct wall_segment *s)
{
	struct wakers *k = ctx;

	(void)t;
	if (!is_shown(k, s))
		return 0;
	if (s->stack != ROW_NONE)
		k->used[s->stack] = true;
	return follow(k, s->row, use_step);
}

/* Stacks with the same frames are one node. */
static int make_tree(struct wakers *k, const struct tree_options *labels)
{
	const struct analysis *an = k->wall->an;
	struct profile p = {0};
	int err = 0;

	for (size_t i = 0; i < an->a->nodes.count && !err; i++)
		if (k->used[i])
			err = profile_add(&p,
					  &(struct stack_sum){.thread = ROW_NONE, .stack = (uint32_t)i, .weight = 1});
	err = err ?: profile_finish(&p, an);
	err = err ?: tree_new(&k->tree, an, &p, labels);
	profile_free(&p);
	return err;
}

/* ---- lines ---- */

static int append(struct wakers *k, struct wakers_part part)
{
	uint32_t *at = u64map_put(&k->part_of, (uint64_t)part.node << 32 | part.name);

	if (part.name == STRPOOL_FAILED || !at || (!*at && VEC_PUSH(&k->parts, part)))
		return -ENOMEM;
	if (!*at)
		*at = (uint32_t)k->parts.count;
	part.node = *at - 1;
	at = u64map_put(&k->line_of, (uint64_t)k->last_id << 32 | part.node);
	if (!at || (!*at && VEC_PUSH(&k->lines, (struct wakers_line){.before = k->last_id, .part = part.node})))
		return -ENOMEM;
	if (!*at)
		*at = (uint32_t)k->lines.count;
	k->last_id = *at;
	return 0;
}

static uint32_t node_of(const struct wakers *k, uint32_t stack)
{
	return stack == ROW_NONE ? 0 : k->tree->of_stack[stack];
}

/* A name as a frame, without ';', which separates frames. */
static uint32_t frame_text(struct wakers *k, const char *name, const char *more)
{
	char *text;
	uint32_t id;
	int len = asprintf(&text, "[%s%s%s]", name, *more ? " " : "", more);

	if (len < 0)
		return STRPOOL_FAILED;
	for (char *p = text; *p; p++)
		if (*p == ';')
			*p = ':';
	id = strpool_add(&k->texts, text, (size_t)len);
	free(text);
	return id;
}

static int add_step(struct wakers *k, const struct jvm_event_row *r, uint32_t waker)
{
	const struct analysis *an = k->wall->an;
	struct wakers_part part = {.node = node_of(k, table_row_of(&an->a->nodes, r->other_node))};
	const char *by = wall_ended_by(k->wall, r);

	if (waker != ROW_NONE && event_is_open(r))
		part.name = frame_text(k, "held by", thread_pattern(&k->texts, analysis_thread_name(an, waker)) ?: "");
	else if (waker == ROW_NONE)
		part.name = *by == '[' ? strpool_add(&k->texts, by, strlen(by)) : frame_text(k, by, "");
	else
		part.name = frame_text(k, thread_pattern(&k->texts, analysis_thread_name(an, waker)) ?: "", "");
	return append(k, part);
}

static int add_segment(void *ctx, const struct wall_thread *t, const struct wall_segment *s)
{
	struct wakers *k = ctx;
	const struct analysis *an = k->wall->an;
	struct wakers_part part = {.node = node_of(k, s->stack)};
	int err;

	if (!is_shown(k, s))
		return 0;
	k->last_id = 0;
	err = append(k, (struct wakers_part){.node = k->threads ? t->thread : ROW_NONE});
	part.name = frame_text(k, wall_key(s->state), strpool_get(&an->a->strings, s->object));
	err = err ?: append(k, part) ?: follow(k, s->row, add_step);
	if (!err)
		k->lines.at[k->last_id - 1].weight =
			add_saturating(k->lines.at[k->last_id - 1].weight, s->end_ns - s->start_ns);
	return err;
}

static int each_segment(struct wakers *k, wall_fn fn)
{
	int err = 0;

	for (size_t i = 0; i < k->wall->threads.count && !err; i++)
		err = wall_each(k->wall, &k->wall->threads.at[i], fn, k);
	return err;
}

int wakers_new(struct wakers *k, const struct wall *w, bool idle, bool threads, const struct tree_options *labels)
{
	int err = -ENOMEM;

	*k = (struct wakers){.wall = w, .idle = idle, .threads = threads};
	k->used = calloc(w->an->a->nodes.count + 1, sizeof(*k->used));
	if (k->used)
		err = each_segment(k, use_segment);
	return err ?: make_tree(k, labels) ?: each_segment(k, add_segment);
}

void wakers_free(struct wakers *k)
{
	tree_free(k->tree);
	strpool_free(&k->texts);
	u64map_free(&k->part_of);
	u64map_free(&k->line_of);
	free(k->parts.at);
	free(k->lines.at);
	free(k->path.at);
	free(k->used);
}

/* ---- what they are for others ---- */

static int compare_lines(const void *x, const void *y, void *ctx)
{
	const struct wakers_line *lines = ctx, *p = &lines[*(const uint32_t *)x], *q = &lines[*(const uint32_t *)y];

	if (p->weight != q->weight)
		return p->weight > q->weight ? -1 : 1;
	return p < q ? -1 : p > q;
}

uint32_t *wakers_order(const struct wakers *k, size_t *count)
{
	uint32_t *order = calloc(k->lines.count + 1, sizeof(*order));

	*count = 0;
	for (size_t i = 0; order && i < k->lines.count; i++)
		if (k->lines.at[i].weight)
			order[(*count)++] = (uint32_t)i;
	if (*count)
		qsort_r(order, *count, sizeof(*order), compare_lines, k->lines.at);
	return order;
}

int wakers_parts(struct wakers *k, const struct wakers_line *line)
{
	k->path.count = 0;
	for (const struct wakers_line *i = line;; i = &k->lines.at[i->before - 1]) {
		if (VEC_PUSH(&k->path, i->part))
			return -ENOMEM;
		if (!i->before)
			return 0;
	}
}

/* ---- as a tree ---- */

/* The lines as a tree: its frames are those of the tree of stacks, names, and what separates the stacks. */
struct chains {
	struct wakers *k;
	VEC(struct tree_node) nodes;
	struct u64map child_of; /* parent and label to nodes' index */
	struct u64map name_of;	/* in texts to labels' index + 1 */
	uint32_t separator;	/* in texts */
	struct wakers_stacks *to;
};

static int add_frame(struct chains *c, uint32_t *node, uint32_t label, enum stack_kind kind)
{
	uint32_t *at = u64map_put(&c->child_of, (uint64_t)*node << 32 | label);

	if (!at || (!*at && (VEC_PUSH(&c->nodes, (struct tree_node){.parent = *node, .label = label}) ||
			     VEC_PUSH(&c->to->kinds, (uint8_t)kind))))
		return -ENOMEM;
	if (!*at)
		*at = (uint32_t)c->nodes.count - 1;
	*node = *at;
	return 0;
}

static int add_name(struct chains *c, uint32_t *node, uint32_t name)
{
	const struct tree_label label = {
		.text = strpool_get(&c->k->texts, name), .file = "", .domain = DOMAIN_CLASS, .kind = KIND_CLASS};
	uint32_t *at = u64map_put(&c->name_of, name);

	if (!at || (!*at && VEC_PUSH(&c->k->tree->labels, label)))
		return -ENOMEM;
	if (!*at)
		*at = (uint32_t)c->k->tree->labels.count;
	return add_frame(c, node, *at - 1, KIND_CLASS);
}

static int add_part(struct chains *c, uint32_t *node, const struct wakers_part *p, bool from_leaf)
{
	const struct tree *t = c->k->tree;
	size_t first = c->k->path.count, n;
	int err = 0;

	for (uint32_t i = p->node; i && !err; i = t->nodes.at[i].parent)
		err = VEC_PUSH(&c->k->path, i);
	n = c->k->path.count - first;
	for (size_t i = 0; i < n && !err; i++) {
		uint32_t at = c->k->path.at[from_leaf ? first + i : first + n - 1 - i];

		err = add_frame(c, node, t->nodes.at[at].label, t->kind_weight ? tree_kind(t, at) : KIND_CLASS);
	}
	c->k->path.count = first;
	return err ?: add_name(c, node, p->name);
}

static int add_line(struct chains *c, const struct wakers_line *line)
{
	struct wakers *k = c->k;
	struct thread_stack stack = {.weight = line->weight};
	int err = wakers_parts(k, line);
	size_t n = k->path.count;

	if (!err)
		stack.thread = k->parts.at[k->path.at[n - 1]].node;
	for (size_t i = 1; i < n && !err; i++) {
		struct wakers_part p = k->parts.at[k->path.at[n - 1 - i]];

		err = i > 1 ? add_name(c, &stack.node, c->separator) : 0;
		err = err ?: add_part(c, &stack.node, &p, i > 1);
	}
	return err ?: VEC_PUSH(&c->to->list, stack);
}

/* The lines that are left out, as one. */
static int add_rest(struct chains *c, const uint32_t *order, size_t count)
{
	struct thread_stack rest = {.thread = ROW_NONE};
	uint32_t name = strpool_add(&c->k->texts, "[lighter ones]", 14);

	for (size_t i = 0; i < count; i++)
		rest.weight = add_saturating(rest.weight, c->k->lines.at[order[i]].weight);
	if (name == STRPOOL_FAILED || add_name(c, &rest.node, name))
		return -ENOMEM;
	return VEC_PUSH(&c->to->list, rest);
}

static int make_chains(struct chains *c, size_t top)
{
	struct wakers *k = c->k;
	size_t count, shown;
	uint32_t *order = wakers_order(k, &count);
	int err = order ? 0 : -ENOMEM;

	shown = top && top < count ? top : count;
	for (size_t i = 0; i < shown && !err; i++)
		err = add_line(c, &k->lines.at[order[i]]);
	if (!err && shown < count)
		err = add_rest(c, order + shown, count - shown);
	free(order);
	return err;
}

static int compare_labels(const void *x, const void *y, void *ctx)
{
	const struct tree_label *labels = ctx;
	uint32_t p = *(const uint32_t *)x, q = *(const uint32_t *)y;

	return strcmp(labels[p].text, labels[q].text) ?: p < q ? -1 : p > q;
}

/* The names among the labels have a place in their order, too. */
static int rank_labels(struct tree *t)
{
	uint32_t *order = calloc(t->labels.count + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < t->labels.count; i++)
		order[i] = (uint32_t)i;
	if (t->labels.count)
		qsort_r(order, t->labels.count, sizeof(*order), compare_labels, t->labels.at);
	for (size_t i = 0; i < t->labels.count; i++)
		t->labels.at[order[i]].rank = (uint32_t)i;
	free(order);
	return 0;
}

int wakers_stacks(struct wakers *k, size_t top, struct wakers_stacks *to)
{
	struct chains c = {.k = k, .to = to, .separator = strpool_add(&k->texts, "--", 2)};
	int err = -ENOMEM;

	*to = (struct wakers_stacks){0};
	if (c.separator != STRPOOL_FAILED && !VEC_PUSH(&c.nodes, (struct tree_node){0}) && !VEC_PUSH(&to->kinds, 0))
		err = make_chains(&c, top) ?: rank_labels(k->tree);
	free(k->tree->nodes.at);
	memcpy(&k->tree->nodes, &c.nodes, sizeof(c.nodes));
	u64map_free(&c.child_of);
	u64map_free(&c.name_of);
	return err;
}

void wakers_stacks_free(struct wakers_stacks *s)
{
	free(s->list.at);
	free(s->kinds.at);
}
