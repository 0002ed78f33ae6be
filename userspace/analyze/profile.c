// SPDX-License-Identifier: Apache-2.0
#include "profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis.h"

const char *profile_leaf(const struct profile *p, const struct analysis *an, uint32_t leaf)
{
	return strpool_get(p->texts.strings.count ? &p->texts : &an->a->strings, leaf);
}

int profile_add(struct profile *p, const struct stack_sum *sum)
{
	p->leaves = p->leaves || sum->leaf;
	return sum->weight ? stack_sums_add(&p->sums, sum) : 0;
}

void quality_count(struct quality *q, uint32_t cause, uint64_t weight)
{
	q->total = add_saturating(q->total, weight);
	q->by_cause[cause] = add_saturating(q->by_cause[cause], weight);
}

uint32_t profile_cause(const struct analysis *an, const struct stack_sum *sum)
{
	if (sum->stack != ROW_NONE)
		return an->stacks[sum->stack].cause;
	return sum->xframe == XFRAME_ROOT	? CAUSE_COMPLETE
	       : sum->xframe == XFRAME_NO_STACK ? CAUSE_NO_STACK
						: CAUSE_DAMAGED;
}

int profile_finish(struct profile *p, const struct analysis *an)
{
	const struct stack_sum *s;
	struct stack_sums_cursor c;

	p->on = calloc(an->a->nodes.count + 1, sizeof(*p->on));
	if (!p->on || stack_sums_order(&p->sums))
		return -ENOMEM;
	for (stack_sums_begin(&c, &p->sums); (s = stack_sums_next(&c));) {
		if (s->stack != ROW_NONE)
			p->on[s->stack].self = add_saturating(p->on[s->stack].self, s->weight);
		else
			quality_count(&p->quality, profile_cause(an, s), s->weight);
	}
	for (size_t i = an->a->nodes.count; i-- > 0;) {
		uint32_t row = an->order[i], up = an->stacks[row].parent;

		quality_count(&p->quality, an->stacks[row].cause, p->on[row].self);
		p->on[row].total = add_saturating(p->on[row].total, p->on[row].self);
		if (up != ROW_NONE)
			p->on[up].total = add_saturating(p->on[up].total, p->on[row].total);
	}
	return 0;
}

void profile_free(struct profile *p)
{
	stack_sums_free(&p->sums);
	free(p->on);
	strpool_free(&p->texts);
	memset(p, 0, sizeof(*p));
}
