// SPDX-License-Identifier: Apache-2.0
#include "slices.h"

#include <analyze/events.h>
#include <util/compare.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* A sample or an event on the tree. */
struct hit {
	uint64_t time_ns;
	uint32_t node;
	uint32_t inlined; /* frames of the innermost method's unit above its root */
	double weight;
};

typedef VEC(struct hit) hit_vec;

static int compare_hits(const void *x, const void *y)
{
	const struct hit *p = x, *q = y;

	return compare_u64(p->time_ns, q->time_ns) ?: compare_u64(p->node, q->node);
}

/* All frames of one address are those of a unit. What is on top of a stack is none of them. */
static uint32_t inlined_of(const struct analysis *an, const struct stack_sum *sum)
{
	const struct stack *at = sum->stack == ROW_NONE ? NULL : &an->stacks[sum->stack];

	if (!at || at->frame == ROW_NONE || at->detached || sum->leaf || !an->expansions[at->frame].count)
		return 0;
	return an->expansions[at->frame].count - 1;
}

/* What has no frame of Java is nothing that could be compared, if only these are. */
static int add(hit_vec *hits, struct slices *s, const struct analysis *an, const struct stack_sum *sum,
	       uint64_t time_ns, double scale)
{
	struct hit hit = {time_ns, tree_node_of(s->tree, sum), inlined_of(an, sum), (double)sum->weight * scale};

	if (s->options->java && !hit.node)
		return 0;
	if (s->in_java && (sum->stack == ROW_NONE || !s->in_java[sum->stack]))
		return 0;
	if (s->in_interrupt && sum->stack != ROW_NONE && s->in_interrupt[sum->stack]) {
		s->interrupts += hit.weight;
		return 0;
	}
	return VEC_PUSH(hits, hit);
}

/* The innermost symbol of a stack; NULL: none. */
static const struct sym *symbol_of(const struct analysis *an, const struct stack *at)
{
	const struct expansion *e = at->frame == ROW_NONE ? NULL : &an->expansions[at->frame];

	return e && e->count ? &an->syms.at[an->xframes.at[e->first].sym] : NULL;
}

/* The kernel, for an interrupt or a page fault, leaves a thread in the state in which it was. */
static bool is_in_java(const struct slices *s, const struct analysis *an, const struct stack *at)
{
	const struct sym *symbol = symbol_of(an, at);

	switch (symbol ? kind_domain((enum stack_kind)symbol->kind) : DOMAIN_INCOMPLETE) {
	case DOMAIN_JAVA:
	case DOMAIN_STUB:
		return true;
	case DOMAIN_KERNEL:
		return at->parent != ROW_NONE && s->in_java[at->parent];
	default:
		return false;
	}
}

/*
 * An interrupt runs in whatever thread has the CPU: of its time, a program has more when others have more to do. The
 * kernel's entries from devices are asm_common_interrupt, from timers and other CPUs asm_sysvec_*; exceptions, such as
 * page faults, are asm_exc_*.
 */
static bool is_in_interrupt(const struct slices *s, const struct analysis *an, const struct stack *at)
{
	const struct sym *symbol = symbol_of(an, at);
	const char *name;

	if (!symbol || kind_domain((enum stack_kind)symbol->kind) != DOMAIN_KERNEL)
		return false;
	name = strpool_get(&an->names, symbol->name);
	return strncmp(name, "asm_sysvec_", 11) == 0 || strcmp(name, "asm_common_interrupt") == 0 ||
	       (at->parent != ROW_NONE && s->in_interrupt[at->parent]);
}

/* Asks of each stack, after what it is on. */
static int find(bool **of, const struct slices *s, const struct analysis *an,
		bool (*is)(const struct slices *s, const struct analysis *an, const struct stack *at))
{
	*of = calloc(an->a->nodes.count + 1, sizeof(**of));
	for (size_t i = 0; *of && i < an->a->nodes.count; i++)
		(*of)[an->order[i]] = is(s, an, &an->stacks[an->order[i]]);
	return *of ? 0 : -ENOMEM;
}

static int collect_samples(hit_vec *hits, struct slices *s, const struct analysis *an, double scale)
{
	int err = 0;

	for (size_t i = 0; i < an->a->samples.count && !err; i++) {
		const struct sample *one = &an->a->samples.at[i];
		struct stack_sum sum;

		if (analysis_selects_time(an, one->time_ns) && analysis_selects_span(an, one->span) &&
		    analysis_sum_of(an, one->thread, one->node, one->weight, &sum))
			err = add(hits, s, an, &sum, one->time_ns, scale);
	}
	return err;
}

#define UNTIMED_HITS 2000000U /* in which all samples without times are counted */

/* A number that looks random, and is the same in each run. */
static uint64_t next_time(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/*
 * Samples of an imported trace may have no times. Slices of them then show the chance of each single sample, as if all
 * were independent: each comes at a random time.
 */
static int collect_untimed(hit_vec *hits, struct slices *s, const struct analysis *an, double scale)
{
	uint64_t state = 0x9e3779b97f4a7c15, step;
	struct stack_sums_cursor c;
	const struct stack_sum *one;
	double total = 0; /* an integer may not have room for it */
	int err = 0;

	for (stack_sums_begin(&c, &an->samples.sums); (one = stack_sums_next(&c));)
		total += (double)one->weight;
	step = total / UNTIMED_HITS < 0x1p63 ? (uint64_t)(total / UNTIMED_HITS) + 1 : UINT64_MAX;
	for (stack_sums_begin(&c, &an->samples.sums); !err && (one = stack_sums_next(&c));) {
		struct stack_sum sum = *one;

		for (uint64_t left = one->weight; left && !err; left -= sum.weight) {
			sum.weight = left < step ? left : step;
			err = add(hits, s, an, &sum, next_time(&state), scale);
		}
	}
	return err;
}

/* Times that were added up are short ones. */
static int collect_events(hit_vec *hits, struct slices *s, const struct analysis *an, uint32_t kind, double scale)
{
	bool summed = kind == BRAID_JVM_OFFCPU && !s->options->min_ns;
	int err = 0;

	for (size_t i = 0; i < events_count(an) && !err; i++) {
		struct event e;
		struct stack_sum sum;

		if (!(summed ? events_get_summed : events_get)(an, i, &e) || e.kind != kind ||
		    (e.k->weight == WEIGHT_DURATION && e.duration_ns < s->options->min_ns))
			continue;
		sum = events_sum(&e);
		err = add(hits, s, an, &sum, e.start_ns, scale);
	}
	return err;
}

static void take_stack(struct slices *s, const struct hit *hit, unsigned slice, const uint32_t *stack_of)
{
	struct method_slices *m = &s->methods[stack_of[hit->node] - 1];
	double share = hit->weight / s->weight;

	m->self[slice] += (float)share;
	m->self_sum += share;
}

/* Counts a hit for its method, and once for each method on its stack. `seen` has the last stack of each label. */
static void take(struct slices *s, const struct hit *hit, unsigned slice, uint32_t *seen, uint32_t stack)
{
	const struct tree *t = s->tree;
	double share = hit->weight / s->weight;

	for (uint32_t node = hit->node; node; node = t->nodes.at[node].parent) {
		uint32_t label = t->nodes.at[node].label;
		struct method_slices *m = &s->methods[label];

		if (node == hit->node) {
			m->self[slice] += (float)share;
			m->self_sum += share;
		}
		if (seen[label] == stack)
			continue;
		seen[label] = stack;
		m->total[slice] += (float)share;
		m->total_sum += share;
	}
}

/* The label of the root of the unit in which a hit is. */
static uint32_t unit_of(const struct tree *t, const struct hit *hit)
{
	uint32_t node = hit->node;

	for (uint32_t i = 0; i < hit->inlined && t->nodes.at[node].parent; i++)
		node = t->nodes.at[node].parent;
	return t->nodes.at[node].label;
}

static int take_unit(struct slices *s, const struct hit *hit, unsigned slice)
{
	uint32_t unit;
	uint64_t pair;
	double share = hit->weight / s->weight;

	if (!hit->node)
		return 0;
	unit = unit_of(s->tree, hit);
	pair = (uint64_t)s->tree->nodes.at[hit->node].label << 32 | unit;
	s->methods[unit].unit[slice] += (float)share;
	s->methods[unit].unit_sum += share;
	return s->units.count && s->units.at[s->units.count - 1] == pair ? 0 : VEC_PUSH(&s->units, pair);
}

static int compare_units(const void *x, const void *y)
{
	return compare_u64(*(const uint64_t *)x, *(const uint64_t *)y);
}

static void sort_units(struct slices *s)
{
	size_t n = 0;

	VEC_SORT(&s->units, compare_units);
	for (size_t i = 0; i < s->units.count; i++)
		if (!n || s->units.at[n - 1] != s->units.at[i])
			s->units.at[n++] = s->units.at[i];
	s->units.count = n;
}

/*
 * Slices have equal totals, not equal lengths: how much of a CPU other programs leave to this one varies a lot, and
 * says nothing about what it does.
 */
static int cut(struct slices *s, const hit_vec *hits, const uint32_t *stack_of)
{
	uint32_t *seen = calloc(s->tree->labels.count + 1, sizeof(*seen));
	double before = 0;
	int err = 0;

	if (!seen)
		return -ENOMEM;
	for (size_t i = 0; i < hits->count && !err; i++) {
		const struct hit *hit = &hits->at[i];
		unsigned slice = (unsigned)(before / s->weight * SLICES);

		slice = slice < SLICES ? slice : SLICES - 1;
		if (stack_of)
			take_stack(s, hit, slice, stack_of);
		else
			take(s, hit, slice, seen, (uint32_t)i + 1);
		if (!stack_of)
			err = take_unit(s, hit, slice);
		before += hit->weight;
	}
	free(seen);
	sort_units(s);
	return err;
}

/* The number + 1 of the stack of each node; NULL: no memory. */
static uint32_t *find_stacks(struct slices *s, const hit_vec *hits)
{
	uint32_t *of = calloc(s->tree->nodes.count, sizeof(*of));

	for (size_t i = 0; of && i < hits->count; i++) {
		uint32_t node = hits->at[i].node;

		if (of[node])
			continue;
		if (VEC_PUSH(&s->stacks, node)) {
			free(of);
			return NULL;
		}
		of[node] = (uint32_t)s->stacks.count;
	}
	return of;
}

static int cut_all(struct slices *s, const hit_vec *hits, bool stacks)
{
	uint32_t *stack_of = stacks ? find_stacks(s, hits) : NULL;
	int err;

	if (stacks && !stack_of)
		return -ENOMEM;
	s->methods = calloc((stacks ? s->stacks.count : s->tree->labels.count) + 1, sizeof(*s->methods));
	err = !s->methods ? -ENOMEM : s->weight > 0 ? cut(s, hits, stack_of) : 0;
	free(stack_of);
	return err;
}

static int fill(struct slices *s, const struct analysis *an, const struct profile *p,
		const struct diff_options *options, double scale)
{
	const struct tree_options methods = {.labels = TREE_METHODS, .java = options->java};
	hit_vec hits = {0};
	int err = tree_new(&s->tree, an, p, &methods);

	s->options = options;
	if (!err && options->in_java && !options->kind)
		err = find(&s->in_java, s, an, is_in_java);
	if (!err && !options->java && !options->kind)
		err = find(&s->in_interrupt, s, an, is_in_interrupt);
	if (err)
		return err;
	err = options->kind		  ? collect_events(&hits, s, an, options->kind, scale)
	      : analyzer_has_times(an->a) ? collect_samples(&hits, s, an, scale)
					  : collect_untimed(&hits, s, an, scale);
	for (size_t i = 0; i < hits.count; i++) {
		s->weight += hits.at[i].weight;
		s->squares += hits.at[i].weight * hits.at[i].weight;
	}
	VEC_SORT(&hits, compare_hits);
	err = err ?: cut_all(s, &hits, options->stacks);
	free(hits.at);
	return err;
}

int slices_new(struct slices *s, const struct analysis *an, const struct diff_options *options, double scale)
{
	struct profile of_events = {0};
	int err = options->kind ? events_profile(an, options->kind, &of_events) : 0;

	*s = (struct slices){0};
	if (!err)
		err = fill(s, an, options->kind ? &of_events : &an->samples, options, scale);
	profile_free(&of_events);
	if (err)
		slices_free(s);
	return err;
}

size_t slices_count(const struct slices *s)
{
	return s->stacks.at ? s->stacks.count : s->tree->labels.count;
}

void slices_free(struct slices *s)
{
	free(s->stacks.at);
	free(s->units.at);
	tree_free(s->tree);
	free(s->in_java);
	free(s->in_interrupt);
	free(s->methods);
	*s = (struct slices){0};
}

static uint64_t key_of_label(const struct tree_label *label, uint64_t seed)
{
	return XXH3_64bits_withSeed(label->text, strlen(label->text), seed + label->domain);
}

uint64_t slices_key(const struct slices *s, size_t i)
{
	uint64_t key = 0;

	if (!s->stacks.at)
		return key_of_label(&s->tree->labels.at[i], 0);
	for (uint32_t node = s->stacks.at[i]; node; node = s->tree->nodes.at[node].parent)
		key = key_of_label(&s->tree->labels.at[s->tree->nodes.at[node].label], key);
	return key;
}

double slices_variance(const float shares[SLICES], const double times[SLICES], double share)
{
	double mean = share / SLICES, sum = 0;

	for (unsigned i = 0; i < SLICES; i++) {
		double rest = (double)shares[i] - mean;

		sum += (times ? times[i] : 1) * rest * rest;
	}
	return sum * SLICES / (SLICES - 1);
}
