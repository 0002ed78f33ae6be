// SPDX-License-Identifier: Apache-2.0
/* The stacks behind a row, as a tree. shot.h is its interface. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <analyze/events.h>

#include "shot.h"

enum { STACK_SHARE, STACK_AMOUNT };

/* A tree is made of stacks, each with the frames from the innermost one on. */
struct stacks {
	const struct shot *s;
	struct top_table *to;
	VEC(uint32_t) frames; /* syms of the stack at hand */
	size_t end;	      /* behind the outermost Java frame: what is outside only starts the thread */
	double all;
};

static void take_frame(void *ctx, const struct analysis *an, const struct xframe *x)
{
	struct stacks *st = ctx;

	(void)an;
	(void)VEC_PUSH(&st->frames, x->sym); /* without memory the stack is cut */
}

static const char *name_of(const struct stacks *st, size_t frame)
{
	return analysis_sym_name(st->s->analysis, st->frames.at[frame]);
}

static enum stack_domain domain_of(const struct stacks *st, size_t frame)
{
	return kind_domain((enum stack_kind)st->s->analysis->syms.at[st->frames.at[frame]].kind);
}

static void take_stack(struct stacks *st, uint32_t stack)
{
	st->frames.count = 0;
	if (stack != ROW_NONE)
		analysis_each_frame(st->s->analysis, stack, take_frame, st);
	st->end = st->frames.count;
	while (st->end && domain_of(st, st->end - 1) != DOMAIN_JAVA)
		st->end--;
	if (!st->end)
		st->end = st->frames.count;
}

/* Adds a row below `parent`, whose place it changes to the row's. 0 or -ENOMEM. */
static int step(struct stacks *st, uint32_t *parent, const char *name, enum stack_domain domain, double weight)
{
	struct top_row *r = top_table_put(st->to, *parent, name, domain);

	if (!r)
		return -ENOMEM;
	r->domain = (uint8_t)domain;
	r->value[STACK_AMOUNT] += weight;
	*parent = top_table_place(st->to, r);
	return 0;
}

/* The callers of a frame: the stack from there on, outwards. */
static int add_callers(struct stacks *st, size_t from, double weight)
{
	size_t end = from < st->end ? st->end : st->frames.count;
	uint32_t parent = 0;
	int err = 0;

	for (size_t i = from; i < end && !err; i++)
		err = step(st, &parent, name_of(st, i), domain_of(st, i), weight);
	st->all += weight;
	return err;
}

static int method_stacks(struct stacks *st, const struct top_row *row)
{
	const struct stack_sum *sum;
	struct stack_sums_cursor c;
	int err = 0;

	for (stack_sums_begin(&c, &st->s->analysis->samples.sums); !err && (sum = stack_sums_next(&c));) {
		size_t at = 0;

		take_stack(st, sum->stack);
		while (at < st->frames.count &&
		       (domain_of(st, at) != row->domain || strcmp(name_of(st, at), row->name) != 0))
			at++;
		if (at < st->frames.count)
			err = add_callers(st, at, (double)sum->weight);
	}
	return err;
}

/* Where a class was locked or allocated: from the innermost Java frame on. */
static int event_stacks(struct stacks *st, const struct top_row *row, uint32_t kind)
{
	const struct analysis *an = st->s->analysis;
	int err = 0;

	for (size_t i = 0; i < an->a->events.count && !err; i++) {
		const struct jvm_event_row *r = &an->a->events.at[i];
		struct event e;
		size_t at = 0;

		if (r->kind != kind || r->name != row->of || !events_get(an, i, &e))
			continue;
		if (row->parent && strcmp(events_site_name(an, event_site(an, &e)), row->name) != 0)
			continue;
		take_stack(st, e.stack);
		while (at < st->frames.count && domain_of(st, at) != DOMAIN_JAVA)
			at++;
		err = add_callers(st, at < st->frames.count ? at : 0, (double)e.weight);
	}
	return err;
}

/* What a thread does: its stacks from the outermost frame on, below its state. */
static int add_state(struct stacks *st, const char *state, double ns)
{
	uint32_t parent = 0;
	int err = step(st, &parent, state, DOMAIN_CLASS, ns);

	for (size_t i = st->end; i-- > 0 && !err;)
		err = step(st, &parent, name_of(st, i), domain_of(st, i), ns);
	st->all += ns;
	return err;
}

static int take_segment(void *ctx, const struct wall_thread *t, const struct wall_segment *seg)
{
	struct stacks *st = ctx;

	(void)t;
	if (seg->state == WALL_RUNNING)
		return 0;
	take_stack(st, seg->stack);
	return add_state(st, wall_title(seg->idle ? WALL_IDLE : seg->state), (double)(seg->end_ns - seg->start_ns));
}

static int thread_stacks(struct stacks *st, const struct top_row *row)
{
	const struct shot *s = st->s;
	const struct stack_sum *sum;
	struct stack_sums_cursor c;
	double each_ns = s->figures.frequency_hz ? 1e9 / (double)s->figures.frequency_hz : 0;
	int err = 0;

	for (stack_sums_begin(&c, &s->analysis->samples.sums); !err && (sum = stack_sums_next(&c));) {
		if (sum->thread == ROW_NONE || s->wall->leader[sum->thread] != row->of)
			continue;
		take_stack(st, sum->stack);
		err = add_state(st, wall_title(WALL_RUNNING), (double)sum->weight * each_ns);
	}
	return err ?: wall_each(s->wall, &s->wall->threads.at[row->of], take_segment, st);
}

/*
 * A row is open if most of what is above it goes through it. It is further in than the one above if that has more than
 * one row below it: stacks are deeper than a screen is wide.
 */
static int finish(struct stacks *st)
{
	size_t count = st->to->rows.count;
	uint32_t *children = calloc(count + 1, sizeof(*children));

	for (size_t i = 0; children && i < count; i++)
		children[st->to->rows.at[i].parent]++;
	for (size_t i = 0; children && i < count; i++) {
		struct top_row *r = &st->to->rows.at[i];
		const struct top_row *up = r->parent ? &st->to->rows.at[r->parent - 1] : NULL;

		r->value[STACK_SHARE] = st->all > 0 ? 100 * r->value[STACK_AMOUNT] / st->all : 0;
		r->open = !up || r->value[STACK_AMOUNT] * 2 >= up->value[STACK_AMOUNT];
		r->depth = up ? up->depth + (children[r->parent] > 1 || !up->parent) : 0;
	}
	free(children);
	st->to->recorded = true;
	return children ? 0 : -ENOMEM;
}

int shot_stacks(const struct shot *s, enum top_view view, const struct top_row *row, struct top_table *out)
{
	struct stacks st = {.s = s, .to = out};
	int err = 0;

	*out = (struct top_table){0};
	if (view == TOP_METHODS)
		err = method_stacks(&st, row);
	else if (view == TOP_THREADS)
		err = thread_stacks(&st, row);
	else if (view == TOP_LOCKS || view == TOP_ALLOC)
		err = event_stacks(&st, row, view == TOP_LOCKS ? BRAID_JVM_LOCK : BRAID_JVM_ALLOC);
	err = err ?: finish(&st);
	free(st.frames.at);
	if (err)
		top_table_free(out);
	return err;
}
