// SPDX-License-Identifier: Apache-2.0
/* Stacks that the page shows one by one: what is beside the flame graphs refers to the nodes of one tree of them. */
#include <errno.h>
#include <stdlib.h>

#include "page.h"

int page_stacks_add(struct page_stacks *s, uint32_t stack)
{
	const struct stack_sum sum = {.thread = ROW_NONE, .stack = stack, .weight = 1};

	return stack == ROW_NONE ? 0 : profile_add(&s->profile, &sum);
}

int page_stacks_write(struct page_stacks *s, struct page *p)
{
	static const struct tree_options options = {.labels = TREE_METHODS, .kinds = true};
	int err = profile_finish(&s->profile, p->an) ?: tree_new(&s->tree, p->an, &s->profile, &options);

	if (!err && !(s->place = calloc(s->tree->nodes.count + 1, sizeof(*s->place))))
		err = -ENOMEM;
	json_open(&p->j, "stacks", '{');
	if (!err)
		err = page_tree(&p->j, s->tree, s->place);
	json_close(&p->j, '}');
	return err;
}

uint32_t page_stacks_place(const struct page_stacks *s, uint32_t stack)
{
	return stack == ROW_NONE || !s->place ? 0 : s->place[s->tree->of_stack[stack]];
}

void page_stacks_free(struct page_stacks *s)
{
	free(s->place);
	tree_free(s->tree);
	profile_free(&s->profile);
}
