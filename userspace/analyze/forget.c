// SPDX-License-Identifier: Apache-2.0
/* A window has few of a long recording's stacks: an analysis of it takes as long as these need. */
#include <errno.h>
#include <stdlib.h>

#include "state.h"

/* Marks a stack with all that it stands on. */
static void mark(const struct analyzer *a, bool *needed, uint32_t node)
{
	size_t row = table_find(&a->nodes, node);

	while (row != TABLE_NONE && !needed[row]) {
		needed[row] = true;
		row = table_find(&a->nodes, ((const struct node_row *)table_row(&a->nodes, row))->parent);
	}
}

static void mark_hits(const struct analyzer *a, bool *needed, const struct hit_event *h)
{
	for (size_t i = 0; i < h->samples.count; i++)
		mark(a, needed, h->samples.at[i].node);
	for (size_t i = 0; i < h->values.count; i++)
		mark(a, needed, h->values.at[i].sample.node);
}

int analyzer_forget_stacks(struct analyzer *a)
{
	bool *needed = calloc(a->nodes.count + 1, sizeof(*needed));
	int err;

	if (!needed)
		return -ENOMEM;
	for (size_t i = 0; i < a->samples.count; i++)
		mark(a, needed, a->samples.at[i].node);
	for (size_t i = 0; i < a->carried_samples.count; i++)
		mark(a, needed, a->carried_samples.at[i].node);
	for (size_t i = 0; i < a->hits.count; i++)
		mark_hits(a, needed, &a->hits.at[i]);
	mark_hits(a, needed, &a->sampling);
	for (size_t i = 0; i < a->events.count; i++) {
		mark(a, needed, a->events.at[i].node);
		mark(a, needed, a->events.at[i].other_node);
	}
	err = table_keep(&a->nodes, needed);
	free(needed);
	return err;
}
