// SPDX-License-Identifier: Apache-2.0
/* Chains of wakers as one of the page's flame graphs. */
#include <stdlib.h>

#include <views/event_views.h>
#include <wall/wakers.h>

#include "page.h"

/* As page_tree() writes them: parents come before their children, the heaviest chain is on the left. */
static void write_nodes(struct json *j, const struct tree *t, const struct wakers_stacks *stacks)
{
	json_open(j, "nodes", '[');
	for (size_t i = 1; i < t->nodes.count; i++) {
		const struct tree_node *n = &t->nodes.at[i];
		const struct tree_label *label = &t->labels.at[n->label];

		json_number(j, NULL, n->parent);
		json_number(j, NULL, label->rank);
		json_number(j, NULL, label->domain == DOMAIN_INCOMPLETE ? KIND_INCOMPLETE : stacks->kinds.at[i]);
	}
	json_close(j, ']');
}

static int write_stacks(struct page *p, const struct wakers_stacks *stacks)
{
	uint32_t thread;
	int err = 0;

	json_open(&p->j, "samples", '[');
	for (size_t i = 0; i < stacks->list.count && !err; i++) {
		err = page_thread(p, stacks->list.at[i].thread, &thread);
		json_number(&p->j, NULL, thread);
		json_number(&p->j, NULL, stacks->list.at[i].node);
		json_number(&p->j, NULL, stacks->list.at[i].weight);
	}
	json_close(&p->j, ']');
	return err;
}

static int write_graph(struct page *p, const struct tree *t, const struct wakers_stacks *stacks)
{
	uint64_t total = 0;
	int err;

	for (size_t i = 0; i < stacks->list.count; i++)
		total = add_saturating(total, stacks->list.at[i].weight);
	json_open(&p->j, NULL, '{');
	json_string(&p->j, "name", "Wakers");
	json_string(&p->j, "unit", page_unit(UNIT_NS));
	json_number(&p->j, "total", total);
	json_number(&p->j, "complete", total);
	json_open(&p->j, "incomplete", '[');
	json_close(&p->j, ']');
	json_bool(&p->j, "chains", true);
	err = page_labels(&p->j, t);
	write_nodes(&p->j, t, stacks);
	err = err ?: write_stacks(p, stacks);
	json_close(&p->j, '}');
	return err;
}

int page_wakers(struct page *p, const struct wall *wall)
{
	static const struct tree_options labels = {.labels = TREE_METHODS, .kinds = true};
	struct wakers_stacks stacks = {0};
	struct wakers k;
	int err = wakers_new(&k, wall, false, true, &labels) ?: wakers_stacks(&k, PAGE_CHAINS_MAX, &stacks);

	if (!err && stacks.list.count)
		err = write_graph(p, k.tree, &stacks);
	wakers_stacks_free(&stacks);
	wakers_free(&k);
	return err;
}
