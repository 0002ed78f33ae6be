// SPDX-License-Identifier: Apache-2.0
/*
 * The report's table of native methods: the time in the code that each of them is bound to, from samples, from times
 * off the CPU, and from return probes of that code. event_views.c calls it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event_views.h"

#include <analyze/hits.h>
#include <util/compare.h>

#define MODIFIER_NATIVE 0x100U /* JVMS 4.6: ACC_NATIVE */

struct natives {
	struct event_views *v;
	const struct analysis *an;
	uint32_t *of_frame; /* per row of a->frames: sym of the native method that it is, and 1; 0: it is none */
	uint32_t *inner;    /* per row of a->nodes: the row of its innermost such frame, and 1; 0: none */
	struct u64map of;   /* name to the row and 1 */
};

static bool is_native(const struct analysis *an, const struct xframe *x)
{
	const struct method_row *m = table_get(&an->a->methods, x->method);

	return m && (m->modifiers & MODIFIER_NATIVE);
}

/* A native method is not inlined, and nothing is inlined into it. */
static void find_frames(struct natives *n)
{
	const struct analysis *an = n->an;

	for (size_t i = 0; i < an->a->frames.count; i++) {
		const struct expansion *e = &an->expansions[i];
		const struct xframe *x = e->count == 1 ? &an->xframes.at[e->first] : NULL;

		if (x && is_native(an, x))
			n->of_frame[i] = x->sym + 1;
	}
}

static uint32_t native_at(const struct natives *n, uint32_t stack)
{
	uint32_t frame = n->an->stacks[stack].frame;

	return frame == ROW_NONE ? 0 : n->of_frame[frame];
}

/* The innermost such frame below a stack's own frame: its row and 1; 0: none. */
static uint32_t native_below(const struct natives *n, uint32_t stack)
{
	uint32_t up = n->an->stacks[stack].parent;

	return up == ROW_NONE ? 0 : n->inner[up];
}

static void find_stacks(struct natives *n)
{
	for (size_t i = 0; i < n->an->a->nodes.count; i++) {
		uint32_t row = n->an->order[i];

		n->inner[row] = native_at(n, row) ? row + 1 : native_below(n, row);
	}
}

static struct native_view *view_of(struct natives *n, uint32_t sym)
{
	uint32_t name = n->an->syms.at[sym].name, *at = u64map_put(&n->of, (uint64_t)name + 1);

	if (!at)
		return NULL;
	if (!*at) {
		if (VEC_PUSH(&n->v->natives, (struct native_view){.method = analysis_sym_name(n->an, sym)}))
			return NULL;
		*at = (uint32_t)n->v->natives.count;
	}
	return &n->v->natives.at[*at - 1];
}

/*
 * The native method whose code a stack is in: no Java frame lies above it. 0 and *to NULL: in none; -ENOMEM.
 */
static int view_in(struct natives *n, uint32_t stack, struct native_view **to)
{
	const struct place *p = place_of(n->an, stack);
	const struct xframe *x = p && p->java != ROW_NONE ? &n->an->xframes.at[p->java] : NULL;

	*to = NULL;
	if (!x || !is_native(n->an, x))
		return 0;
	*to = view_of(n, x->sym);
	return *to ? 0 : -ENOMEM;
}

/* ---- samples ---- */

static int add_self(struct natives *n, uint32_t stack)
{
	const struct analysis *an = n->an;
	uint64_t weight = n->inner[stack] ? an->samples.on[stack].self : 0;
	struct native_view *v = NULL;
	int err = weight ? view_in(n, stack, &v) : 0;
	const struct place *p = v ? place_of(an, stack) : NULL;

	if (err || !v)
		return err;
	v->self = add_saturating(v->self, weight);
	if (kind_domain((enum stack_kind)an->syms.at[an->xframes.at[p->any].sym].kind) == DOMAIN_KERNEL)
		v->kernel = add_saturating(v->kernel, weight);
	else if (p->vm)
		v->vm = add_saturating(v->vm, weight);
	return 0;
}

/* Whether one of the native methods below a stack's own frame is the same: the stack is counted there. */
static bool is_repeated(const struct natives *n, uint32_t stack)
{
	const struct sym *syms = n->an->syms.at;
	uint32_t name = syms[native_at(n, stack) - 1].name;

	for (uint32_t at = native_below(n, stack); at; at = native_below(n, at - 1))
		if (syms[native_at(n, at - 1) - 1].name == name)
			return true;
	return false;
}

static int add_total(struct natives *n, uint32_t stack)
{
	uint64_t weight = n->an->samples.on[stack].total;
	struct native_view *v;

	if (!weight || !native_at(n, stack) || is_repeated(n, stack))
		return 0;
	v = view_of(n, native_at(n, stack) - 1);
	if (!v)
		return -ENOMEM;
	v->total = add_saturating(v->total, weight);
	return 0;
}

/* ---- events ---- */

/* A virtual thread that is unmounted is in no code. */
static bool is_blocking(const struct event *e)
{
	return (e->kind == BRAID_JVM_OFFCPU || e->kind == BRAID_JVM_LOCK || e->kind == BRAID_JVM_WAIT) && !e->idle &&
	       !event_is_unmounted(e->row);
}

static int add_blocked(struct natives *n, const struct event *e)
{
	struct native_view *v;
	int err = view_in(n, e->stack, &v);

	if (err || !v)
		return err;
	v->blocks = add_saturating(v->blocks, e->count);
	v->blocked_ns = add_saturating(v->blocked_ns, e->weight);
	if (e->longest > v->longest_block_ns)
		v->longest_block_ns = e->longest;
	return 0;
}

/* ---- calls that a return probe has seen ---- */

static int add_call(struct natives *n, const struct hit_values *hit)
{
	const struct analysis *an = n->an;
	struct stack_sum sum;
	struct native_view *v;
	uint64_t ns;
	int err;

	if (!hits_elapsed(strpool_get(&an->a->strings, hit->text), &ns) || !hits_select(an, &hit->sample, &sum))
		return 0;
	err = view_in(n, sum.stack, &v);
	if (err || !v)
		return err;
	v->calls = add_saturating(v->calls, hit->sample.weight);
	v->call_ns = add_saturating(v->call_ns, ns);
	if (ns > v->longest_call_ns)
		v->longest_call_ns = ns;
	return 0;
}

static int add_calls(struct natives *n, const struct hit_event *h)
{
	int err = 0;

	for (size_t i = 0; i < h->values.count && !err; i++)
		err = add_call(n, &h->values.at[i]);
	return err;
}

/* ---- all of it ---- */

static int compare(const void *x, const void *y)
{
	const struct native_view *p = x, *q = y;
	int c = compare_u64(q->self, p->self);

	c = c ? c : compare_u64(q->blocked_ns, p->blocked_ns);
	c = c ? c : compare_u64(q->call_ns, p->call_ns);
	c = c ? c : compare_u64(q->total, p->total);
	return c ? c : strcmp(p->method, q->method);
}

static int add_all(struct natives *n)
{
	const struct analysis *an = n->an;
	struct event e;
	int err = 0;

	for (size_t i = 0; i < an->a->nodes.count && !err; i++)
		err = add_self(n, (uint32_t)i) ?: add_total(n, (uint32_t)i);
	for (size_t i = 0; i < events_count(an) && !err; i++)
		if (events_get_summed(an, i, &e) && is_blocking(&e))
			err = add_blocked(n, &e);
	for (size_t i = 0; i < an->a->hits.count && !err; i++)
		err = add_calls(n, &an->a->hits.at[i]);
	return err ?: add_calls(n, &an->a->sampling);
}

int event_views_natives(struct event_views *v, const struct analysis *an)
{
	struct natives n = {.v = v,
			    .an = an,
			    .of_frame = calloc(an->a->frames.count + 1, sizeof(*n.of_frame)),
			    .inner = calloc(an->a->nodes.count + 1, sizeof(*n.inner))};
	int err = n.of_frame && n.inner ? 0 : -ENOMEM;

	if (!err) {
		find_frames(&n);
		find_stacks(&n);
		err = add_all(&n);
	}
	VEC_SORT(&v->natives, compare);
	u64map_free(&n.of);
	free(n.of_frame);
	free(n.inner);
	return err;
}
