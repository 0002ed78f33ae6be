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

/* A part of a line: a stack, then a name. */
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
	bool idle;
	bool *used; /* stacks: rows of a->nodes */
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
		.labels = TREE_TEXT, .annotate = k->options->annotate, .lines = k->options->lines};
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

	if (waker == ROW_NONE)
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
	if (k->options->threads) {
		thread.name = collapsed_thread(&k->texts, an, t->thread);
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

static int put_seq(FILE *out, struct wakers *k, const struct seq *s)
{
	size_t blocked = k->options->threads ? 1 : 0, n;
	bool more = false;
	int err = 0;

	k->path.count = 0;
	for (const struct seq *i = s;; i = &k->seqs.at[i->before - 1]) {
		if (VEC_PUSH(&k->path, i->part))
			return -ENOMEM;
		if (!i->before)
			break;
	}
	n = k->path.count;
	for (size_t i = 0; i < n && !err; i++) {
		struct part p = k->parts.at[k->path.at[n - 1 - i]];

		if (i > blocked)
			put(out, &more, "--");
		err = put_stack(out, k, &more, p.node, i > blocked);
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

int wakers_write(FILE *out, const struct wall *w, bool idle, const struct collapsed_options *options)
{
	struct wakers k = {.wall = w, .options = options, .idle = idle};
	int err = -ENOMEM;

	k.used = calloc(w->an->a->nodes.count + 1, sizeof(*k.used));
	if (k.used)
		err = each_segment(&k, use_segment);
	err = err ?: make_tree(&k);
	err = err ?: each_segment(&k, add_segment);
	err = err ?: put_all(out, &k);
	tree_free(k.tree);
	strpool_free(&k.texts);
	u64map_free(&k.part_of);
	u64map_free(&k.seq_of);
	free(k.parts.at);
	free(k.seqs.at);
	free(k.path.at);
	free(k.used);
	return err;
}
