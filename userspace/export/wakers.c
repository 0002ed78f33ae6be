// SPDX-License-Identifier: Apache-2.0
/*
 * Collapsed stacks of blocked threads with those of their wakers, in the order of offwaketime: the blocked stack from
 * its root, "--", the waker's stack from its leaf, and the waker's name. Drawn as a flame graph, it is read upwards.
 * If the waker had itself waited meanwhile, "--" and its own waker follow. `braid export --wakers` calls it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <views/event_views.h>
#include <views/tree.h>
#include <wall/wall.h>

#include "export.h"
#include "stack_table.h"

/* A part of a line: a stack, then a name. The first part of lines by thread has the thread's row in place of a stack. */
struct part {
	uint32_t node; /* of the tree, 0: none */
	uint32_t name; /* in texts, 0: none */
};

/* A line, or the beginning of others. */
struct seq {
	uint32_t before; /* its index + 1, 0: none */
	uint32_t part;
	uint64_t weight;
};

struct wakers {
	const struct wall *wall;
	const struct collapsed_options *options;
	enum tree_labels labels;
	bool idle, threads; /* threads: lines begin with the thread */
	bool *used;	    /* stacks: rows of a->nodes */
	struct tree *tree;
	struct strpool texts;
	VEC(struct part) parts;
	struct u64map part_of; /* node and name to parts' index + 1 */
	VEC(struct seq) seqs;
	struct u64map seq_of; /* the one before and the part to seqs' index + 1 */
	VEC(uint32_t) path;
	uint32_t last_id; /* of the current line: seqs' index + 1 */
};

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
static int make_tree(struct wakers *k)
{
	const struct tree_options options = {
		.labels = k->labels, .annotate = k->options->annotate, .lines = k->options->lines};
	const struct analysis *an = k->wall->an;
	struct profile p = {0};
	int err = 0;

	for (size_t i = 0; i < an->a->nodes.count && !err; i++)
		if (k->used[i])
			err = profile_add(&p,
					  &(struct stack_sum){.thread = ROW_NONE, .stack = (uint32_t)i, .weight = 1});
	err = err ?: profile_finish(&p, an);
	err = err ?: tree_new(&k->tree, an, &p, &options);
	profile_free(&p);
	return err;
}

/* ---- lines ---- */

static int append(struct wakers *k, struct part part)
{
	uint32_t *at = u64map_put(&k->part_of, (uint64_t)part.node << 32 | part.name);

	if (part.name == STRPOOL_FAILED || !at || (!*at && VEC_PUSH(&k->parts, part)))
		return -ENOMEM;
	if (!*at)
		*at = (uint32_t)k->parts.count;
	part.node = *at - 1;
	at = u64map_put(&k->seq_of, (uint64_t)k->last_id << 32 | part.node);
	if (!at || (!*at && VEC_PUSH(&k->seqs, (struct seq){.before = k->last_id, .part = part.node})))
		return -ENOMEM;
	if (!*at)
		*at = (uint32_t)k->seqs.count;
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
	struct part part = {.node = node_of(k, table_row_of(&an->a->nodes, r->other_node))};
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
	struct part part = {.node = node_of(k, s->stack)}, thread = {0};
	int err = 0;

	if (!is_shown(k, s))
		return 0;
	k->last_id = 0;
	if (k->threads) {
		thread = (struct part){t->thread, collapsed_thread(&k->texts, an, t->thread)};
		err = append(k, thread);
	}
	part.name = frame_text(k, wall_key(s->state), strpool_get(&an->a->strings, s->object));
	err = err ?: append(k, part) ?: follow(k, s->row, add_step);
	if (!err)
		k->seqs.at[k->last_id - 1].weight =
			add_saturating(k->seqs.at[k->last_id - 1].weight, s->end_ns - s->start_ns);
	return err;
}

/* ---- output ---- */

static void put(FILE *out, bool *more, const char *text)
{
	if (*more)
		putc(';', out);
	fputs(text, out);
	*more = true;
}

static int put_stack(FILE *out, struct wakers *k, bool *more, uint32_t node, bool from_leaf)
{
	const struct tree *t = k->tree;
	size_t first = k->path.count;

	for (uint32_t i = node; i; i = t->nodes.at[i].parent)
		if (VEC_PUSH(&k->path, i))
			return -ENOMEM;
	for (size_t n = k->path.count - first, i = 0; i < n; i++) {
		uint32_t at = k->path.at[from_leaf ? first + i : first + n - 1 - i];

		put(out, more, t->labels.at[t->nodes.at[at].label].text);
	}
	k->path.count = first;
	return 0;
}

/* Fills k->path with the parts of a line, the last one first. */
static int find_parts(struct wakers *k, const struct seq *s)
{
	k->path.count = 0;
	for (const struct seq *i = s;; i = &k->seqs.at[i->before - 1]) {
		if (VEC_PUSH(&k->path, i->part))
			return -ENOMEM;
		if (!i->before)
			return 0;
	}
}

static int put_seq(FILE *out, struct wakers *k, const struct seq *s)
{
	size_t blocked = k->threads ? 1 : 0, n;
	bool more = false;
	int err = find_parts(k, s);

	n = k->path.count;
	for (size_t i = 0; i < n && !err; i++) {
		struct part p = k->parts.at[k->path.at[n - 1 - i]];

		if (i > blocked)
			put(out, &more, "--");
		err = i < blocked ? 0 : put_stack(out, k, &more, p.node, i > blocked);
		put(out, &more, strpool_get(&k->texts, p.name));
	}
	fprintf(out, " %" PRIu64 "\n", s->weight);
	return err;
}

static int compare_seqs(const void *x, const void *y, void *ctx)
{
	const struct seq *seqs = ctx, *p = &seqs[*(const uint32_t *)x], *q = &seqs[*(const uint32_t *)y];

	if (p->weight != q->weight)
		return p->weight > q->weight ? -1 : 1;
	return p < q ? -1 : p > q;
}

/* The heaviest first. */
static int put_all(FILE *out, struct wakers *k)
{
	uint32_t *order = calloc(k->seqs.count + 1, sizeof(*order));
	size_t n = 0;
	int err = order ? 0 : -ENOMEM;

	for (size_t i = 0; i < k->seqs.count && !err; i++)
		if (k->seqs.at[i].weight)
			order[n++] = (uint32_t)i;
	if (n)
		qsort_r(order, n, sizeof(*order), compare_seqs, k->seqs.at);
	for (size_t i = 0; i < n && (!k->options->top || i < k->options->top) && !err; i++)
		err = put_seq(out, k, &k->seqs.at[order[i]]);
	free(order);
	return err;
}

static int each_segment(struct wakers *k, wall_fn fn)
{
	int err = 0;

	for (size_t i = 0; i < k->wall->threads.count && !err; i++)
		err = wall_each(k->wall, &k->wall->threads.at[i], fn, k);
	return err;
}

/* Finds all lines. */
static int find_lines(struct wakers *k)
{
	int err = -ENOMEM;

	k->used = calloc(k->wall->an->a->nodes.count + 1, sizeof(*k->used));
	if (k->used)
		err = each_segment(k, use_segment);
	return err ?: make_tree(k) ?: each_segment(k, add_segment);
}

static void free_lines(struct wakers *k)
{
	tree_free(k->tree);
	strpool_free(&k->texts);
	u64map_free(&k->part_of);
	u64map_free(&k->seq_of);
	free(k->parts.at);
	free(k->seqs.at);
	free(k->path.at);
	free(k->used);
}

int wakers_write(FILE *out, const struct wall *w, bool idle, const struct collapsed_options *options)
{
	struct wakers k = {
		.wall = w, .options = options, .labels = TREE_TEXT, .idle = idle, .threads = options->threads};
	int err = find_lines(&k) ?: put_all(out, &k);

	free_lines(&k);
	return err;
}

/* ---- as a table ---- */

/* The lines as a tree: its frames are those of the tree of stacks, names, and what separates the stacks. */
struct chains {
	struct wakers *k;
	VEC(struct tree_node) nodes;
	struct u64map child_of; /* parent and label to nodes' index */
	struct u64map name_of;	/* in texts to labels' index + 1 */
	uint32_t separator;	/* in texts */
	VEC(struct thread_stack) stacks;
};

static int add_frame(struct chains *c, uint32_t *node, uint32_t label)
{
	uint32_t *at = u64map_put(&c->child_of, (uint64_t)*node << 32 | label);

	if (!at || (!*at && VEC_PUSH(&c->nodes, (struct tree_node){.parent = *node, .label = label})))
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
	return add_frame(c, node, *at - 1);
}

static int add_part(struct chains *c, uint32_t *node, const struct part *p, bool from_leaf)
{
	const struct tree_node *nodes = c->k->tree->nodes.at;
	size_t first = c->k->path.count, n;
	int err = 0;

	for (uint32_t i = p->node; i && !err; i = nodes[i].parent)
		err = VEC_PUSH(&c->k->path, nodes[i].label);
	n = c->k->path.count - first;
	for (size_t i = 0; i < n && !err; i++)
		err = add_frame(c, node, c->k->path.at[from_leaf ? first + i : first + n - 1 - i]);
	c->k->path.count = first;
	return err ?: add_name(c, node, p->name);
}

static int add_line(struct chains *c, const struct seq *s)
{
	struct wakers *k = c->k;
	struct thread_stack stack = {.weight = s->weight};
	int err = find_parts(k, s);
	size_t n = k->path.count;

	if (!err)
		stack.thread = k->parts.at[k->path.at[n - 1]].node;
	for (size_t i = 1; i < n && !err; i++) {
		struct part p = k->parts.at[k->path.at[n - 1 - i]];

		err = i > 1 ? add_name(c, &stack.node, c->separator) : 0;
		err = err ?: add_part(c, &stack.node, &p, i > 1);
	}
	return err ?: VEC_PUSH(&c->stacks, stack);
}

/* The tree of stacks becomes that of the lines. */
static int make_chains(struct chains *c)
{
	struct wakers *k = c->k;
	int err = 0;

	c->separator = strpool_add(&k->texts, "--", 2);
	if (c->separator == STRPOOL_FAILED || VEC_PUSH(&c->nodes, (struct tree_node){0}))
		return -ENOMEM;
	for (size_t i = 0; i < k->seqs.count && !err; i++)
		err = k->seqs.at[i].weight ? add_line(c, &k->seqs.at[i]) : 0;
	free(k->tree->nodes.at);
	memcpy(&k->tree->nodes, &c->nodes, sizeof(c->nodes));
	return err;
}

int wakers_table(struct stack_table *t, const struct wall *w, bool idle, const struct collapsed_options *options)
{
	struct wakers k = {.wall = w, .options = options, .labels = TREE_FRAMES, .idle = idle, .threads = true};
	struct chains c = {.k = &k};
	int err = find_lines(&k) ?: make_chains(&c);

	if (!err) {
		k.tree->texts = k.texts; /* of the names of its labels */
		k.texts = (struct strpool){0};
		err = stack_table_of(t, w->an, k.tree, c.stacks.at, c.stacks.count, options->top);
		k.tree = NULL;
	}
	u64map_free(&c.child_of);
	u64map_free(&c.name_of);
	free(c.stacks.at);
	free_lines(&k);
	return err;
}
