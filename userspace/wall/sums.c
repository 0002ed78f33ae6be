// SPDX-License-Identifier: Apache-2.0
/*
 * What is known of a thread's time in sum only: how long it ran, and the times off the CPU that were too short for a
 * record of their own. All of it was between its segments, and so it is fitted into that time exactly.
 */
#include "wall.h"

#include <analyze/events.h>

__extension__ typedef unsigned __int128 wide;

uint64_t wall_share(uint64_t x, uint64_t part, uint64_t whole)
{
	return whole ? (uint64_t)((wide)x * part / whole) : 0;
}

uint64_t wall_shares_next(struct wall_shares *s, uint64_t weight)
{
	uint64_t before = s->given_ns;

	s->given_weight = add_saturating(s->given_weight, weight);
	s->given_ns = wall_share(s->ns, s->given_weight, s->weight);
	return s->given_ns - before;
}

/*
 * Makes the parts add up to `whole`. What is too much is taken from what was counted first; what is missing is not
 * known. Returns what was too much.
 */
static uint64_t fit(uint64_t *part, uint64_t whole)
{
	wide all = 0, left;

	for (int s = 0; s < WALL_STATES; s++)
		all += part[s];
	if (all <= whole) {
		part[WALL_UNKNOWN] += whole - (uint64_t)all;
		return 0;
	}
	left = all - whole;
	for (int s = WALL_STATES; s-- > 0;) {
		uint64_t taken = part[s] < left ? part[s] : (uint64_t)left;

		part[s] -= taken;
		left -= taken;
	}
	return all - whole > UINT64_MAX ? UINT64_MAX : (uint64_t)(all - whole);
}

/*
 * The kernel side knows all the time in which the thread waited for a CPU. What of it is neither in segments nor
 * counted as such was at the ends of short times off the CPU.
 */
static void add_runnable(uint64_t *part, uint64_t more_ns)
{
	uint64_t unknown = part[WALL_UNKNOWN] < more_ns ? part[WALL_UNKNOWN] : more_ns, blocked = 0;

	part[WALL_UNKNOWN] -= unknown;
	part[WALL_RUNNABLE] += unknown;
	more_ns -= unknown;
	for (int s = WALL_RUNNABLE + 1; s < WALL_IDLE; s++)
		blocked += part[s]; /* the parts add up to a life */
	if (more_ns > blocked)
		more_ns = blocked;
	for (int s = WALL_RUNNABLE + 1; s < WALL_IDLE; s++) {
		uint64_t ns = wall_share(part[s], more_ns, blocked);

		part[s] -= ns;
		part[WALL_RUNNABLE] += ns;
	}
}

/* Scales the parts, which add up to `whole`, to add up to `to`. */
static void scale(uint64_t *part, uint64_t to, uint64_t whole)
{
	uint64_t all = 0;
	int most = WALL_RUNNING;

	for (int s = 0; s < WALL_STATES; s++) {
		if (part[s] > part[most])
			most = s;
		part[s] = wall_share(part[s], to, whole);
		all += part[s];
	}
	part[most] += to - all;
}

/* The weight of a thread's samples, and of those on selected stacks. */
static void weigh_samples(const struct wall *w, size_t thread, uint64_t *selected, uint64_t *all)
{
	const struct wall_weight *s = w->weights && thread != SIZE_MAX ? &w->weights[thread] : NULL;

	*selected = s ? s->selected : 0;
	*all = s ? s->all : 0;
}

/* What has no stack of its own is selected like a stack without frames; running time, like the samples. */
static void select_stacks(const struct wall *w, struct wall_thread *t, uint64_t *part)
{
	const struct filter *f = w->an->filter;
	uint64_t selected, all;

	if (!f->include.count && !f->exclude.count)
		return;
	weigh_samples(w, t->vthread ? SIZE_MAX : (size_t)(t - w->threads.at), &selected, &all);
	if (all || f->include.count)
		part[WALL_RUNNING] = wall_share(part[WALL_RUNNING], selected, all);
	for (int s = WALL_RUNNING + 1; s < WALL_STATES; s++)
		if (t->counted_ns[s])
			part[s] = wall_share(part[s], t->chosen_ns[s], t->counted_ns[s]);
		else if (f->include.count)
			part[s] = 0;
}

void wall_sum(const struct wall *w, struct wall_thread *t, uint64_t gap_ns, uint64_t inside_ns,
	      uint64_t placed_runnable_ns)
{
	uint64_t part[WALL_STATES], runnable_ns = add_saturating(placed_runnable_ns, t->counted_ns[WALL_RUNNABLE]);

	for (int s = 0; s < WALL_STATES; s++)
		part[s] = t->counted_ns[s];
	part[WALL_RUNNING] = t->running_ns;
	t->excess_ns = fit(part, gap_ns);
	if (t->runnable_ns > runnable_ns)
		add_runnable(part, t->runnable_ns - runnable_ns);
	if (inside_ns < gap_ns)
		scale(part, inside_ns, gap_ns);
	select_stacks(w, t, part);
	for (int s = 0; s < WALL_STATES; s++) {
		t->summed_ns[s] = part[s];
		t->ns[s] = add_saturating(t->ns[s], part[s]);
	}
	for (int s = 0; s < WALL_STATES; s++)
		t->life_ns = add_saturating(t->life_ns, t->ns[s]);
}

/* ---- what of it has a stack ---- */

enum wall_state wall_state_of_sum(const struct wall *w, const struct jvm_event_row *r)
{
	uint32_t stack = table_row_of(&w->an->a->nodes, r->node), thread = table_row_of(&w->an->a->threads, r->thread);
	enum wall_state state = wall_state_of_class(r->flags);

	/* the time in which it could run is in a row of its own */
	if (stack != ROW_NONE && state != WALL_RUNNABLE)
		state = wall_state_of(w->an, r);
	if (wall_is_blocked(state) && event_is_idle(w->an, thread, stack))
		state = WALL_IDLE;
	return state;
}

int wall_each_part(const struct wall *w, const struct wall_thread *t, wall_part_fn fn, void *ctx)
{
	const struct analyzer *a = w->an->a;
	struct wall_shares shares[WALL_STATES];
	struct wall_part p = {0};
	int err = 0;

	for (int s = 0; s < WALL_STATES; s++)
		shares[s] = (struct wall_shares){.ns = t->summed_ns[s], .weight = t->chosen_ns[s]};
	for (size_t i = t->sums.first; i < t->sums.first + t->sums.count && !err; i++) {
		p.row = &a->events.at[w->sums[i]];
		p.stack = table_row_of(&a->nodes, p.row->node);
		p.state = wall_state_of_sum(w, p.row);
		if (!analysis_selects_stack(w->an, p.stack))
			continue;
		p.ns = wall_shares_next(&shares[p.state], p.row->weight);
		if (p.ns || p.row->value)
			err = fn(ctx, t, &p);
	}
	for (int s = WALL_RUNNING + 1; s < WALL_STATES && !err; s++) {
		p = (struct wall_part){
			.state = (enum wall_state)s, .stack = ROW_NONE, .ns = t->summed_ns[s] - shares[s].given_ns};
		if (p.ns)
			err = fn(ctx, t, &p);
	}
	return err;
}
