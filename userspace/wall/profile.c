// SPDX-License-Identifier: Apache-2.0
#include "profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <analyze/events.h>

struct making {
	const struct wall *wall;
	struct profile *profile;
	bool idle;
	VEC(struct stack_sum) samples; /* by thread */
	struct u64map leaf_of;	       /* state and object to the leaf's name + 1 */
};

/* "[socket 10.0.0.1:80]"; STRPOOL_FAILED without memory. */
static uint32_t leaf_of(struct making *m, enum wall_state state, uint32_t object)
{
	const char *name = strpool_get(&m->wall->an->a->strings, object);
	uint32_t *at = u64map_put(&m->leaf_of, (uint64_t)state << 32 | object);
	char *text;
	int len;

	if (!at)
		return STRPOOL_FAILED;
	if (*at)
		return *at - 1;
	*at = 1; /* a zero must not stay */
	len = asprintf(&text, *name ? "[%s %s]" : "[%s]", wall_key(state), name);
	if (len < 0)
		return STRPOOL_FAILED;
	*at = strpool_add(&m->profile->texts, text, (size_t)len) + 1;
	free(text);
	return *at - 1;
}

static int add(struct making *m, uint32_t thread, uint32_t stack, enum wall_state state, uint32_t object, uint64_t ns)
{
	struct stack_sum sum = {.thread = thread, .stack = stack, .xframe = XFRAME_NO_STACK, .weight = ns};

	if (state != WALL_RUNNING || stack == ROW_NONE)
		sum.leaf = leaf_of(m, state, object);
	return sum.leaf == STRPOOL_FAILED ? -ENOMEM : profile_add(m->profile, &sum);
}

static int add_segment(void *ctx, const struct wall_thread *t, const struct wall_segment *s)
{
	struct making *m = ctx;

	if (!s->row || (s->idle && !m->idle) || (t->vthread && !event_is_unmounted(s->row)))
		return 0;
	return add(m, t->thread, s->stack, s->state, s->object, s->end_ns - s->start_ns);
}

static int add_part(void *ctx, const struct wall_thread *t, const struct wall_part *p)
{
	struct making *m = ctx;

	return m->idle || p->state != WALL_IDLE ? add(m, t->thread, p->stack, p->state, 0, p->ns) : 0;
}

/* What was only counted, and the running time of a thread without samples, of which no stack is known. */
static int add_summed(struct making *m, const struct wall_thread *t, bool sampled)
{
	int err = sampled ? 0 : add(m, t->thread, ROW_NONE, WALL_RUNNING, 0, t->summed_ns[WALL_RUNNING]);

	return err ?: wall_each_part(m->wall, t, add_part, m);
}

/* The samples of one thread, which are next to each other, each with its part of the running time. */
static int add_running(struct making *m, const struct wall_thread *t, const struct stack_sum *s, size_t count)
{
	struct wall_shares shares = {.ns = t->summed_ns[WALL_RUNNING]};
	int err = 0;

	for (size_t i = 0; i < count; i++)
		shares.weight = add_saturating(shares.weight, s[i].weight);
	for (size_t i = 0; i < count && !err; i++) {
		struct stack_sum one = {.thread = t->thread, .stack = s[i].stack, .xframe = s[i].xframe};

		one.weight = wall_shares_next(&shares, s[i].weight);
		err = one.stack == ROW_NONE ? add(m, t->thread, ROW_NONE, WALL_RUNNING, 0, one.weight)
					    : profile_add(m->profile, &one);
	}
	return err;
}

static int keep(void *ctx, const struct stack_sum *s)
{
	struct making *m = ctx;

	return analysis_selects_stack(m->wall->an, s->stack) ? VEC_PUSH(&m->samples, *s) : 0;
}

static int compare_threads(const void *x, const void *y)
{
	const struct stack_sum *p = x, *q = y;

	if (p->thread != q->thread)
		return p->thread < q->thread ? -1 : 1;
	return (p->stack > q->stack) - (p->stack < q->stack);
}

/* What it was mounted is its carriers'. What of its life was only counted as parked, no carrier counts. */
static int add_vthread(void *ctx, const struct wall_thread *t)
{
	struct making *m = ctx;
	int err = wall_each(m->wall, t, add_segment, m);

	err = err ?: add(m, t->thread, ROW_NONE, WALL_PARKED, 0, t->summed_ns[WALL_PARKED]);
	return err ?: add(m, t->thread, ROW_NONE, WALL_CARRIER, 0, t->summed_ns[WALL_CARRIER]);
}

static int make(struct making *m)
{
	const struct wall *w = m->wall;
	size_t at = 0;
	int err = wall_samples(w, keep, m);

	if (!err)
		VEC_SORT(&m->samples, compare_threads);
	for (uint32_t i = 0; i < w->threads.count && !err; i++) {
		const struct wall_thread *t = &w->threads.at[i];
		size_t first = at;

		while (at < m->samples.count && m->samples.at[at].thread == i)
			at++;
		if (t->life_ns)
			err = wall_each(w, t, add_segment, m) ?: add_summed(m, t, at > first);
		if (!err && t->life_ns && at > first)
			err = add_running(m, t, m->samples.at + first, at - first);
	}
	return err ?: wall_each_vthread(w, add_vthread, m);
}

int wall_profile(const struct wall *w, bool idle, struct profile *p)
{
	struct making m = {.wall = w, .profile = p, .idle = idle};
	int err;

	memset(p, 0, sizeof(*p));
	err = make(&m) ?: profile_finish(p, w->an);
	u64map_free(&m.leaf_of);
	free(m.samples.at);
	if (err)
		profile_free(p);
	return err;
}
