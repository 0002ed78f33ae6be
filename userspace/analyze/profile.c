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
	return sum->weight ? VEC_PUSH(&p->sums, *sum) : 0;
}

static int profile_sums_compare(const void *x, const void *y)
{
	const struct stack_sum *p = x, *q = y;

	if (p->thread != q->thread)
		return p->thread < q->thread ? -1 : 1;
	if (p->stack != q->stack)
		return p->stack < q->stack ? -1 : 1;
	if (p->xframe != q->xframe)
		return p->xframe < q->xframe ? -1 : 1;
	return p->leaf < q->leaf ? -1 : p->leaf > q->leaf;
}

static void merge_sums(struct profile *p)
{
	size_t n = 0;

	VEC_SORT(&p->sums, profile_sums_compare);
	for (size_t i = 0; i < p->sums.count; i++) {
		if (n && profile_sums_compare(&p->sums.at[n - 1], &p->sums.at[i]) == 0)
			p->sums.at[n - 1].weight = add_saturating(p->sums.at[n - 1].weight, p->sums.at[i].weight);
		else
			p->sums.at[n++] = p->sums.at[i];
	}
	p->sums.count = n;
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
	p->on = calloc(an->a->nodes.count + 1, sizeof(*p->on));
	if (!p->on)
		return -ENOMEM;
	merge_sums(p);
	for (size_t i = 0; i < p->sums.count; i++) {
		const struct stack_sum *s = &p->sums.at[i];

		quality_count(&p->quality, profile_cause(an, s), s->weight);
		if (s->stack != ROW_NONE)
			p->on[s->stack].self = add_saturating(p->on[s->stack].self, s->weight);
	}
	for (size_t i = an->a->nodes.count; i-- > 0;) {
		uint32_t row = an->order[i], up = an->stacks[row].parent;

		p->on[row].total = add_saturating(p->on[row].total, p->on[row].self);
		if (up != ROW_NONE)
			p->on[up].total = add_saturating(p->on[up].total, p->on[row].total);
	}
	return 0;
}

void profile_free(struct profile *p)
{
	free(p->sums.at);
	free(p->on);
	strpool_free(&p->texts);
	memset(p, 0, sizeof(*p));
}
