// SPDX-License-Identifier: Apache-2.0
/* The report's table of methods. views.c calls it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "views.h"

#include <util/compare.h>

/* Goes through the stacks depth first, so that it knows which methods are on the way from the root. */
struct weighing {
	struct views *v;
	uint32_t *of_sym;	/* index of v->methods + 1; 0: no method */
	uint32_t *open;		/* per method: how often it is on the way to the current stack */
	uint32_t *child, *next; /* rows of stacks: the first one on top of each, and the next one on the same */
};

/* Pseudo frames are no methods; the stack quality shows their number. */
static int name_methods(struct weighing *w)
{
	const struct analysis *an = w->v->an;
	struct u64map of_name = {0};
	int err = 0;

	for (uint32_t s = 0; s < an->syms.count && !err; s++) {
		struct method_view m = {.name = analysis_sym_name(an, s),
					.domain = kind_domain((enum stack_kind)an->syms.at[s].kind)};
		uint32_t *at;

		if (m.domain == DOMAIN_INCOMPLETE)
			continue;
		at = u64map_put(&of_name, (uint64_t)an->syms.at[s].name << 8 | m.domain);
		if (!at || (!*at && VEC_PUSH(&w->v->methods, m)))
			err = -ENOMEM;
		else
			w->of_sym[s] = *at = *at ?: (uint32_t)w->v->methods.count;
	}
	u64map_free(&of_name);
	return err;
}

/* Returns the first root. Stacks without samples are left out. */
static uint32_t link_stacks(struct weighing *w)
{
	const struct analysis *an = w->v->an;
	uint32_t root = ROW_NONE;

	memset(w->child, 0xff, an->a->nodes.count * sizeof(*w->child));
	for (size_t i = an->a->nodes.count; i-- > 0;) {
		uint32_t row = an->order[i], up = an->stacks[row].parent;
		uint32_t *first = up == ROW_NONE ? &root : &w->child[up];

		if (!an->samples.on[row].total)
			continue;
		w->next[row] = *first;
		*first = row;
	}
	return root;
}

/* Totals count a method once per way; its kinds count each time. */
static void enter(struct weighing *w, uint32_t row)
{
	const struct analysis *an = w->v->an;
	const struct stack_weight *on = &an->samples.on[row];
	uint32_t frame = an->stacks[row].frame, of = 0;
	const struct expansion *e = frame == ROW_NONE ? NULL : &an->expansions[frame];

	for (uint32_t i = 0; e && i < e->count; i++) {
		uint32_t sym = an->xframes.at[e->first + i].sym;
		struct method_view *m;

		of = w->of_sym[sym];
		if (!of)
			continue;
		m = &w->v->methods.at[of - 1];
		m->kind_weight[an->syms.at[sym].kind] =
			add_saturating(m->kind_weight[an->syms.at[sym].kind], on->total);
		if (w->open[of - 1]++ == 0)
			m->total = add_saturating(m->total, on->total);
	}
	if (of)
		w->v->methods.at[of - 1].self = add_saturating(w->v->methods.at[of - 1].self, on->self);
}

static void leave(struct weighing *w, uint32_t row)
{
	const struct analysis *an = w->v->an;
	uint32_t frame = an->stacks[row].frame;
	const struct expansion *e = frame == ROW_NONE ? NULL : &an->expansions[frame];

	for (uint32_t i = 0; e && i < e->count; i++) {
		uint32_t of = w->of_sym[an->xframes.at[e->first + i].sym];

		if (of)
			w->open[of - 1]--;
	}
}

static void weigh(struct weighing *w)
{
	uint32_t row = link_stacks(w);

	while (row != ROW_NONE) {
		enter(w, row);
		if (w->child[row] != ROW_NONE) {
			row = w->child[row];
			continue;
		}
		leave(w, row);
		while (w->next[row] == ROW_NONE && w->v->an->stacks[row].parent != ROW_NONE) {
			row = w->v->an->stacks[row].parent;
			leave(w, row);
		}
		row = w->next[row];
	}
}

static enum stack_kind most_kind(const struct method_view *m)
{
	int best = 0;

	for (int k = 1; k < KIND_COUNT; k++)
		if (m->kind_weight[k] > m->kind_weight[best])
			best = k;
	return (enum stack_kind)best;
}

static void drop_unused(struct views *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->methods.count; i++) {
		if (!v->methods.at[i].total)
			continue;
		v->methods.at[n] = v->methods.at[i];
		v->methods.at[n].kind = most_kind(&v->methods.at[n]);
		n++;
	}
	v->methods.count = n;
}

static int compare_methods(const void *x, const void *y)
{
	const struct method_view *p = x, *q = y;
	int c = compare_u64(q->self, p->self);

	if (!c)
		c = compare_u64(q->total, p->total);
	if (!c)
		c = strcmp(p->name, q->name);
	return c ? c : (int)p->domain - (int)q->domain;
}

int views_methods(struct views *v)
{
	size_t syms = v->an->syms.count, stacks = v->an->a->nodes.count;
	struct weighing w = {.v = v,
			     .of_sym = calloc(syms + 1, sizeof(*w.of_sym)),
			     .open = calloc(syms + 1, sizeof(*w.open)),
			     .child = calloc(stacks + 1, sizeof(*w.child)),
			     .next = calloc(stacks + 1, sizeof(*w.next))};
	int err = w.of_sym && w.open && w.child && w.next ? name_methods(&w) : -ENOMEM;

	if (!err) {
		weigh(&w);
		drop_unused(v);
		VEC_SORT(&v->methods, compare_methods);
	}
	free(w.of_sym);
	free(w.open);
	free(w.child);
	free(w.next);
	return err;
}
