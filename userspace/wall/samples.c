// SPDX-License-Identifier: Apache-2.0
/* What threads did while they ran: the samples of OS threads. wall.c and profile.c call it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wall.h"

static int visit(const struct wall *w, uint32_t thread, uint32_t node, uint64_t weight, wall_sample_fn fn, void *ctx)
{
	const struct analysis *an = w->an;
	uint32_t row = table_row_of(&an->a->threads, thread);
	struct stack_sum s = {.thread = row == ROW_NONE ? ROW_NONE : w->leader[row],
			      .stack = table_row_of(&an->a->nodes, node),
			      .xframe = node ? XFRAME_DAMAGED : XFRAME_NO_STACK,
			      .weight = weight};

	if (row == ROW_NONE || ((const struct thread_row *)table_row(&an->a->threads, row))->virtual)
		return 0;
	return fn(ctx, &s);
}

static int visit_sums(const struct wall *w, const struct stack_sums *sums, wall_sample_fn fn, void *ctx)
{
	const struct stack_sum *s;
	struct stack_sums_cursor c;
	int err = 0;

	for (stack_sums_begin(&c, sums); !err && (s = stack_sums_next(&c));)
		err = visit(w, s->thread, s->stack, s->weight, fn, ctx);
	return err;
}

/* Hits of a tracepoint or probe do not say where a thread's time went. */
static bool is_clock(const char *event)
{
	return !*event || strcmp(event, "cpu-clock") == 0 || strcmp(event, "cycles") == 0;
}

int wall_samples(const struct wall *w, wall_sample_fn fn, void *ctx)
{
	const struct analyzer *a = w->an->a;
	int err;

	if (!is_clock(analyzer_info(a, "record.event")))
		return 0;
	err = visit_sums(w, &a->sums, fn, ctx) ?: visit_sums(w, &a->carried, fn, ctx);
	for (size_t i = 0; i < a->samples.count + a->carried_samples.count && !err; i++) {
		const struct sample *s =
			i < a->samples.count ? &a->samples.at[i] : &a->carried_samples.at[i - a->samples.count];

		if (analysis_selects_time(w->an, s->time_ns))
			err = visit(w, s->thread, s->node, s->weight, fn, ctx);
	}
	return err;
}

static int weigh(void *ctx, const struct stack_sum *s)
{
	struct wall *w = ctx;
	struct wall_weight *to = &w->weights[s->thread];

	to->all = add_saturating(to->all, s->weight);
	if (analysis_selects_stack(w->an, s->stack))
		to->selected = add_saturating(to->selected, s->weight);
	return 0;
}

int wall_weigh(struct wall *w)
{
	if (!w->an->filter->include.count && !w->an->filter->exclude.count)
		return 0;
	w->weights = calloc(w->an->a->threads.count + 1, sizeof(*w->weights));
	return w->weights ? wall_samples(w, weigh, w) : -ENOMEM;
}
