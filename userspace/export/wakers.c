// SPDX-License-Identifier: Apache-2.0
/*
 * Collapsed stacks of blocked threads with those of their wakers, and the same as a table. `braid export --wakers`
 * calls it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include <wall/wakers.h>

#include "export.h"
#include "stack_table.h"

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

/* `names` is for the names of threads. */
static int put_line(FILE *out, struct wakers *k, struct strpool *names, bool threads, const struct wakers_line *line)
{
	bool more = false;
	int err = wakers_parts(k, line);
	size_t n = k->path.count;
	uint32_t name;

	if (!err && threads) {
		name = collapsed_thread(names, k->wall->an, k->parts.at[k->path.at[n - 1]].node);
		if (name == STRPOOL_FAILED)
			return -ENOMEM;
		put(out, &more, strpool_get(names, name));
	}
	for (size_t i = 1; i < n && !err; i++) {
		struct wakers_part p = k->parts.at[k->path.at[n - 1 - i]];

		if (i > 1)
			put(out, &more, "--");
		err = put_stack(out, k, &more, p.node, i > 1);
		put(out, &more, strpool_get(&k->texts, p.name));
	}
	fprintf(out, " %" PRIu64 "\n", line->weight);
	return err;
}

/* The heaviest first. */
static int put_all(FILE *out, struct wakers *k, const struct collapsed_options *options)
{
	struct strpool names = {0};
	size_t count;
	uint32_t *order = wakers_order(k, &count);
	int err = order ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && (!options->top || i < options->top) && !err; i++)
		err = put_line(out, k, &names, options->threads, &k->lines.at[order[i]]);
	free(order);
	strpool_free(&names);
	return err;
}

int wakers_write(FILE *out, const struct wall *w, bool idle, const struct collapsed_options *options)
{
	const struct tree_options labels = {
		.labels = TREE_TEXT, .annotate = options->annotate, .lines = options->lines};
	struct wakers k;
	int err = wakers_new(&k, w, idle, options->threads, &labels) ?: put_all(out, &k, options);

	wakers_free(&k);
	return err;
}

int wakers_table(struct stack_table *t, const struct wall *w, bool idle, const struct collapsed_options *options)
{
	const struct tree_options labels = {
		.labels = TREE_FRAMES, .annotate = options->annotate, .lines = options->lines};
	struct wakers_stacks stacks = {0};
	struct wakers k;
	int err = wakers_new(&k, w, idle, true, &labels) ?: wakers_stacks(&k, 0, &stacks);

	if (!err) {
		k.tree->texts = k.texts; /* of the names of its labels */
		k.texts = (struct strpool){0};
		err = stack_table_of(t, w->an, k.tree, stacks.list.at, stacks.list.count, options->top);
		k.tree = NULL;
	}
	wakers_stacks_free(&stacks);
	wakers_free(&k);
	return err;
}
