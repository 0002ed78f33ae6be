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
	uint64_t *self, *total; /* per method */
	uint32_t *open;		/* per method: how often it is on the way to the current stack */
	VEC(uint32_t) way;	/* these methods */
	uint32_t *child, *next; /* rows of stacks: the first one on top of each, and the next one on the same */
};

/* Pseudo frames are no methods; the stack quality shows their number. */
static int name_methods(struct weighing *w)
{
	const struct analysis *an = w->v->an;
	struct u64map of_name = {0};
	int err = 0;

	for (uint32_t s = 0; s < an->syms.count && !err; s++) {
		const struct sym *sym = &an->syms.at[s];
		struct method_view m = {.name = analysis_sym_name(an, s),
					.domain = kind_domain((enum stack_kind)sym->kind)};
		uint64_t *weight;
		uint32_t *at;

		if (m.domain == DOMAIN_INCOMPLETE || !an->sym_weight[s])
			continue;
		at = u64map_put(&of_name, (uint64_t)sym->name << 8 | m.domain);
		if (!at || (!*at && VEC_PUSH(&w->v->methods, m))) {
			err = -ENOMEM;
			continue;
		}
		w->of_sym[s] = *at = *at ?: (uint32_t)w->v->methods.count;
		weight = &w->v->methods.at[*at - 1].kind_weight[sym->kind];
		*weight = add_saturating(*weight, an->sym_weight[s]);
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

static const struct expansion *expansion_of(const struct weighing *w, uint32_t row)
{
	uint32_t frame = w->v->an->stacks[row].frame;

	return frame == ROW_NONE ? NULL : &w->v->an->expansions[frame];
}

/* Totals count a method once per way. */
static int enter(struct weighing *w, uint32_t row)
{
	const struct analysis *an = w->v->an;
	const struct stack_weight *on = &an->samples.on[row];
	const struct expansion *e = expansion_of(w, row);
	uint32_t of = 0;

	if (e && VEC_RESERVE(&w->way, e->count))
		return -ENOMEM;
	for (uint32_t i = 0; e && i < e->count; i++) {
		of = w->of_sym[an->xframes.at[e->first + i].sym];
		w->way.at[w->way.count++] = of;
		if (of && w->open[of - 1]++ == 0)
			w->total[of - 1] = add_saturating(w->total[of - 1], on->total);
	}
	if (of)
		w->self[of - 1] = add_saturating(w->self[of - 1], on->self);
	return 0;
}

static void leave(struct weighing *w, uint32_t row)
{
	const struct expansion *e = expansion_of(w, row);

	for (uint32_t i = e ? e->count : 0; i-- > 0;) {
		uint32_t of = w->way.at[--w->way.count];

		if (of)
			w->open[of - 1]--;
	}
}

static int weigh(struct weighing *w)
{
	uint32_t row = link_stacks(w);

	while (row != ROW_NONE) {
		if (enter(w, row))
			return -ENOMEM;
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
	return 0;
}

static void take_weights(const struct weighing *w)
{
	for (size_t i = 0; i < w->v->methods.count; i++) {
		struct method_view *m = &w->v->methods.at[i];

		m->self = w->self[i];
		m->total = w->total[i];
		m->kind = kind_of_most(m->kind_weight);
	}
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
			     .self = calloc(syms + 1, sizeof(*w.self)),
			     .total = calloc(syms + 1, sizeof(*w.total)),
			     .open = calloc(syms + 1, sizeof(*w.open)),
			     .child = calloc(stacks + 1, sizeof(*w.child)),
			     .next = calloc(stacks + 1, sizeof(*w.next))};
	bool ok = w.of_sym && w.self && w.total && w.open && w.child && w.next;
	int err = ok ? name_methods(&w) ?: weigh(&w) : -ENOMEM;

	if (!err) {
		take_weights(&w);
		VEC_SORT(&v->methods, compare_methods);
	}
	free(w.of_sym);
	free(w.self);
	free(w.total);
	free(w.open);
	free(w.way.at);
	free(w.child);
	free(w.next);
	return err;
}
