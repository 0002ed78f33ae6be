// SPDX-License-Identifier: Apache-2.0
/* What all parts of the page refer to: its threads by number, and trees of stacks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"

int page_init(struct page *p, const struct analysis *an, const struct page_request *request)
{
	*p = (struct page){.an = an, .sources = request->source_link != NULL};
	p->index = calloc(an->a->threads.count + 1, sizeof(*p->index));
	return p->index ? 0 : -ENOMEM;
}

void page_free(struct page *p)
{
	free(p->index);
	free(p->rows.at);
}

int page_thread(struct page *p, uint32_t row, uint32_t *number)
{
	uint32_t *at = &p->index[row == ROW_NONE ? p->an->a->threads.count : row];

	if (!*at) {
		if (VEC_PUSH(&p->rows, row))
			return -ENOMEM;
		*at = (uint32_t)p->rows.count;
	}
	*number = *at - 1;
	return 0;
}

static int compare_ranks(const void *x, const void *y)
{
	const struct tree_label *p = x, *q = y;

	return p->rank < q->rank ? -1 : p->rank > q->rank;
}

/* The number of bytes with which both begin. All are ASCII, so the browser counts them alike. */
static size_t shared_bytes(const char *x, const char *y)
{
	size_t n = 0;

	while (x[n] && x[n] == y[n] && (unsigned char)x[n] < 0x80)
		n++;
	return n;
}

int page_labels(struct json *j, const struct tree *t)
{
	struct tree_label *labels = calloc(t->labels.count + 1, sizeof(*labels));
	size_t *shared = calloc(t->labels.count + 1, sizeof(*shared));

	if (!labels || !shared) {
		free(labels);
		free(shared);
		return -ENOMEM;
	}
	if (t->labels.count) {
		memcpy(labels, t->labels.at, t->labels.count * sizeof(*labels));
		qsort(labels, t->labels.count, sizeof(*labels), compare_ranks);
	}
	for (size_t i = 1; i < t->labels.count; i++)
		shared[i] = shared_bytes(labels[i - 1].text, labels[i].text);
	json_open(j, "shared", '[');
	for (size_t i = 0; i < t->labels.count; i++)
		json_number(j, NULL, shared[i]);
	json_close(j, ']');
	json_open(j, "labels", '[');
	for (size_t i = 0; i < t->labels.count; i++)
		json_string(j, NULL, labels[i].text + shared[i]);
	json_close(j, ']');
	free(labels);
	free(shared);
	return 0;
}

/* Parent, label and kind of every node, depth first. A node's number is its place in the list; the root is 0. */
static void html_nodes(struct json *j, const struct tree *t, uint32_t *place)
{
	uint32_t count = 0;

	json_open(j, "nodes", '[');
	for (uint32_t i = tree_next(t, 0); i; i = tree_next(t, i)) {
		const struct tree_node *n = &t->nodes.at[i];
		enum stack_kind kind =
			t->labels.at[n->label].domain == DOMAIN_INCOMPLETE ? KIND_INCOMPLETE : tree_kind(t, i);

		place[i] = ++count;
		json_number(j, NULL, place[n->parent]);
		json_number(j, NULL, t->labels.at[n->label].rank);
		json_number(j, NULL, (uint64_t)kind);
	}
	json_close(j, ']');
}

int page_tree(struct json *j, const struct tree *t, uint32_t *place)
{
	int err = page_labels(j, t);

	html_nodes(j, t, place);
	return err;
}
