// SPDX-License-Identifier: Apache-2.0
/*
 * Collapsed stacks, the format of flame graph tools: one line a stack, with frames from the root, ';' between them, a
 * space, and the number of samples. `braid export` calls it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <views/tree.h>

#include "export.h"

struct line {
	uint32_t thread; /* rank of the thread's frame, 0 without one */
	uint32_t place;	 /* of the node, in depth-first order */
	uint32_t node;
	uint64_t weight;
};

/* A frame of the line that is printed. */
struct frame {
	uint32_t node;
	size_t end; /* in the line's text */
};

/* Of a node, on the way through the tree. */
struct spot {
	uint32_t place, depth;
	uint64_t bytes; /* of the frames from the root, each with a ';' */
};

struct collapsed {
	const struct analysis *an;
	const struct profile *profile;
	struct tree *tree;
	struct spot *spots; /* of each node */
	size_t *label_bytes;
	struct strpool thread_names;
	VEC(struct line) lines;
	VEC(struct frame) frames; /* of the last line, from the root */
	VEC(char) text;		  /* of these frames, each with a ';' */
};

static int compare_lines(const void *x, const void *y)
{
	const struct line *p = x, *q = y;

	if (p->thread != q->thread)
		return p->thread < q->thread ? -1 : 1;
	return p->place < q->place ? -1 : p->place > q->place;
}

uint32_t collapsed_thread(struct strpool *names, const struct analysis *an, uint32_t row)
{
	const struct thread_row *t = row == ROW_NONE ? NULL : table_row(&an->a->threads, row);
	char *text;
	uint32_t id;
	const char *name = analysis_thread_name(an, row);
	int len = t && t->virtual ? asprintf(&text, "[%s virtual]", name)
				  : asprintf(&text, "[%s tid=%u]", name, t ? t->tid : 0);

	if (len < 0)
		return STRPOOL_FAILED;
	for (char *p = text; *p; p++)
		if (*p == ';')
			*p = ':';
	id = strpool_add(names, text, (size_t)len);
	free(text);
	return id;
}

static int collect_sums(struct collapsed *c)
{
	const struct stack_sum *s;
	struct stack_sums_cursor sums;
	struct line l = {0};
	uint32_t row = 0;

	/* those of one thread come together */
	for (stack_sums_begin(&sums, &c->profile->sums); (s = stack_sums_next(&sums)); row = s->thread) {
		if (!l.thread || row != s->thread)
			l.thread = collapsed_thread(&c->thread_names, c->an, s->thread);
		l.node = tree_node_of(c->tree, s);
		l.place = c->spots[l.node].place;
		l.weight = s->weight;
		if (l.thread == STRPOOL_FAILED || VEC_PUSH(&c->lines, l))
			return -ENOMEM;
	}
	return 0;
}

static int compare_names(const void *x, const void *y, void *ctx)
{
	const struct strpool *p = ctx;

	return strcmp(strpool_get(p, *(const uint32_t *)x), strpool_get(p, *(const uint32_t *)y));
}

/* Thread ids follow the order of arrival; the output's order must depend on the names only. */
static int rank_threads(struct collapsed *c, uint32_t **by_rank)
{
	size_t count = c->thread_names.strings.count;
	uint32_t *ids = calloc(count + 1, sizeof(*ids));
	uint32_t *rank = calloc(count + 1, sizeof(*rank));

	*by_rank = ids;
	if (!ids || !rank) {
		free(rank);
		return -ENOMEM;
	}
	for (size_t i = 0; i <= count; i++)
		ids[i] = (uint32_t)i;
	qsort_r(ids + 1, count, sizeof(*ids), compare_names, &c->thread_names);
	for (size_t i = 1; i <= count; i++)
		rank[ids[i]] = (uint32_t)i;
	for (size_t i = 0; i < c->lines.count; i++)
		c->lines.at[i].thread = rank[c->lines.at[i].thread];
	free(rank);
	return 0;
}

/*
 * Makes c->text that of a node. Lines come in depth-first order, so most of a line's frames are those of the line
 * before.
 */
static int make_text(struct collapsed *c, uint32_t node)
{
	const struct tree *t = c->tree;
	uint32_t depth = c->spots[node].depth, same = depth;

	if (c->frames.count < depth && VEC_RESERVE(&c->frames, depth - c->frames.count))
		return -ENOMEM;
	for (; same && (same > c->frames.count || c->frames.at[same - 1].node != node); same--) {
		c->frames.at[same - 1].node = node;
		node = t->nodes.at[node].parent;
	}
	c->frames.count = depth;
	c->text.count = same ? c->frames.at[same - 1].end : 0;
	for (uint32_t i = same; i < depth; i++) {
		uint32_t label = t->nodes.at[c->frames.at[i].node].label;
		size_t bytes = c->label_bytes[label];

		if (VEC_RESERVE(&c->text, bytes + 1))
			return -ENOMEM;
		memcpy(c->text.at + c->text.count, t->labels.at[label].text, bytes);
		c->text.count += bytes;
		c->text.at[c->text.count++] = ';';
		c->frames.at[i].end = c->text.count;
	}
	return 0;
}

static int print_line(FILE *out, struct collapsed *c, const char *thread, const struct line *l)
{
	int err = make_text(c, l->node);

	if (err)
		return err;
	fputs(thread, out);
	if (*thread && c->text.count)
		putc(';', out);
	if (c->text.count)
		fwrite(c->text.at, 1, c->text.count - 1, out);
	fprintf(out, " %" PRIu64 "\n", l->weight);
	return 0;
}

static void merge_lines(struct collapsed *c)
{
	size_t n = 0;

	VEC_SORT(&c->lines, compare_lines);
	for (size_t i = 0; i < c->lines.count; i++) {
		struct line *last = n ? &c->lines.at[n - 1] : NULL;

		if (last && compare_lines(last, &c->lines.at[i]) == 0)
			last->weight = add_saturating(last->weight, c->lines.at[i].weight);
		else
			c->lines.at[n++] = c->lines.at[i];
	}
	c->lines.count = n;
}

static int compare_weights(const void *x, const void *y)
{
	const struct line *p = x, *q = y;

	if (p->weight != q->weight)
		return p->weight > q->weight ? -1 : 1;
	return compare_lines(x, y);
}

/* Keeps the heaviest lines, in their usual order. */
static void keep_top(struct collapsed *c, unsigned top)
{
	if (top == 0 || c->lines.count <= top)
		return;
	VEC_SORT(&c->lines, compare_weights);
	c->lines.count = top;
	VEC_SORT(&c->lines, compare_lines);
}

static int print_lines(FILE *out, struct collapsed *c, const uint32_t *threads)
{
	int err = 0;

	for (size_t i = 0; i < c->lines.count && !err; i++) {
		const struct line *l = &c->lines.at[i];

		err = print_line(out, c, strpool_get(&c->thread_names, threads[l->thread]), l);
	}
	return err;
}

static unsigned digits(uint64_t n)
{
	unsigned count = 1;

	while (n /= 10)
		count++;
	return count;
}

/* The number of bytes that print_lines() is going to write. */
static uint64_t measure(const struct collapsed *c, const uint32_t *threads)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < c->lines.count; i++) {
		const struct line *l = &c->lines.at[i];
		size_t thread = strlen(strpool_get(&c->thread_names, threads[l->thread]));
		uint64_t frames = c->spots[l->node].bytes;

		/* the last ';' counts as the space */
		bytes += frames + (frames ? 0 : 1) + thread + (thread && frames ? 1 : 0) + digits(l->weight) + 1;
	}
	return bytes;
}

/* Goes through the tree once: where each node is, how long its line is, and without threads what is on it. */
static int survey(struct collapsed *c, bool lines)
{
	const struct tree *t = c->tree;
	uint32_t i = 0;

	c->spots = calloc(t->nodes.count, sizeof(*c->spots));
	c->label_bytes = calloc(t->labels.count + 1, sizeof(*c->label_bytes));
	if (!c->spots || !c->label_bytes)
		return -ENOMEM;
	for (size_t k = 0; k < t->labels.count; k++)
		c->label_bytes[k] = strlen(t->labels.at[k].text);
	for (uint32_t place = 0;; place++) {
		const struct tree_node *n = &t->nodes.at[i];
		const struct spot *up = &c->spots[n->parent];
		struct line l = {.node = i, .place = place, .weight = n->self};

		if (i)
			c->spots[i] = (struct spot){place, up->depth + 1, up->bytes + c->label_bytes[n->label] + 1};
		if (lines && l.weight && VEC_PUSH(&c->lines, l))
			return -ENOMEM;
		i = tree_next(t, i);
		if (!i)
			return 0;
	}
}

int collapsed_write(FILE *out, const struct analysis *an, const struct profile *p,
		    const struct collapsed_options *options)
{
	const struct tree_options tree = {.labels = TREE_TEXT, .annotate = options->annotate, .lines = options->lines};
	struct collapsed c = {.an = an, .profile = p};
	uint32_t *threads = NULL;
	int err = tree_new(&c.tree, an, p, &tree) ?: survey(&c, !options->threads);

	if (!err && options->threads)
		err = collect_sums(&c);
	if (!err)
		err = rank_threads(&c, &threads);
	if (!err) {
		merge_lines(&c);
		keep_top(&c, options->top);
		if (options->announce)
			options->announce(measure(&c, threads), c.lines.count);
		err = print_lines(out, &c, threads);
	}
	free(threads);
	free(c.spots);
	free(c.label_bytes);
	free(c.lines.at);
	free(c.frames.at);
	free(c.text.at);
	strpool_free(&c.thread_names);
	tree_free(c.tree);
	return err;
}
