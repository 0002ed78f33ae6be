// SPDX-License-Identifier: Apache-2.0
#include "tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <util/compare.h>

struct builder {
	struct tree *t;
	const struct analysis *an;
	const struct profile *profile;
	const struct tree_options *options;
	struct u64map label_of; /* label key to labels' index + 1 */
	struct u64map place_of; /* TREE_FRAMES: name and line to a number */
	struct u64map child_of; /* parent and label to the index of a child that is not the parent's first one */
	uint32_t *xlabel;	/* label + 1 of each xframe, 0 until it is needed */
};

/* The frame's text in a collapsed line, without ';', which separates frames. */
static uint32_t text_of(struct builder *b, const char *name, enum stack_kind kind, uint32_t at_line)
{
	const char *suffix = b->options->annotate ? kind_suffix(kind) : "";
	char line[16] = "";
	char *text;
	uint32_t id;
	int len;

	if (b->options->lines && at_line)
		snprintf(line, sizeof(line), ":%u", at_line);
	len = asprintf(&text, "%s%s%s", name, line, suffix);
	if (len < 0)
		return STRPOOL_FAILED;
	for (char *p = text; *p; p++)
		if (*p == ';')
			*p = ':';
	id = strpool_add(&b->t->texts, text, (size_t)len);
	free(text);
	return id;
}

/* Label + 1, 0 without memory. */
static uint32_t label_add(struct builder *b, uint64_t key, const struct tree_label *label)
{
	uint32_t *at = u64map_put(&b->label_of, key);

	if (!at)
		return 0;
	if (!*at) {
		if (VEC_PUSH(&b->t->labels, *label))
			return 0;
		*at = (uint32_t)b->t->labels.count;
	}
	return *at;
}

/* Label + 1, 0 without memory. `id` is the name's id in its pool; classes and frames have different pools. */
static uint32_t label_put(struct builder *b, const char *name, uint32_t id, enum stack_kind kind, uint32_t line)
{
	struct tree_label label = {.domain = (uint8_t)kind_domain(kind), .text = name};
	uint64_t key = (uint64_t)id << 8 | label.domain;

	if (b->options->labels == TREE_TEXT) {
		id = text_of(b, name, kind, line);
		if (id == STRPOOL_FAILED)
			return 0;
		key = id;
		label.text = strpool_get(&b->t->texts, id);
	}
	return label_add(b, key, &label);
}

/* The same of TREE_FRAMES; `id` is that of the name and the kind. */
static uint32_t frame_put(struct builder *b, uint32_t id, const struct tree_label *label, uint32_t file)
{
	uint32_t *place = u64map_put(&b->place_of, (uint64_t)id << 32 | label->line);

	if (!place)
		return 0;
	if (!*place)
		*place = (uint32_t)b->place_of.count;
	return label_add(b, (uint64_t)*place << 32 | file, label);
}

static uint32_t label_of(struct builder *b, size_t xframe)
{
	const struct xframe *x = &b->an->xframes.at[xframe];
	const struct sym *sym = &b->an->syms.at[x->sym];
	const char *name = analysis_sym_name(b->an, x->sym);
	struct tree_label frame = {.text = name,
				   .file = analysis_file(b->an, x),
				   .line = x->line,
				   .domain = (uint8_t)kind_domain((enum stack_kind)sym->kind),
				   .kind = sym->kind};

	if (!b->xlabel[xframe])
		b->xlabel[xframe] = b->options->labels == TREE_FRAMES
					    ? frame_put(b, x->sym, &frame, x->file)
					    : label_put(b, name, sym->name, (enum stack_kind)sym->kind, x->line);
	return b->xlabel[xframe];
}

/* The label of a name on top of stacks. Such names have another pool than syms, so their numbers have another range. */
static uint32_t label_of_leaf(struct builder *b, uint32_t leaf)
{
	const char *name = profile_leaf(b->profile, b->an, leaf);
	const struct tree_label frame = {.text = name, .file = "", .domain = DOMAIN_CLASS, .kind = KIND_CLASS};

	if (b->options->labels == TREE_FRAMES)
		return frame_put(b, UINT32_MAX - leaf, &frame, 0);
	return label_put(b, name, leaf, KIND_CLASS, 0);
}

static uint32_t add_node(struct builder *b, uint32_t parent, uint32_t label)
{
	const struct tree_node node = {.parent = parent, .label = label};

	if (b->t->nodes.count >= UINT32_MAX - 1 || VEC_PUSH(&b->t->nodes, node))
		return 0;
	return (uint32_t)b->t->nodes.count - 1;
}

/*
 * The child of `parent` with a label + 1; 0 without memory. Most nodes have one child at most. The others are behind
 * the first one in any order until link_nodes() sorts them.
 */
static uint32_t child_with(struct builder *b, uint32_t parent, uint32_t label)
{
	uint32_t first = b->t->nodes.at[parent].child, *at, child;

	if (!label)
		return 0;
	if (!first) {
		child = add_node(b, parent, label - 1);
		b->t->nodes.at[parent].child = child;
		return child;
	}
	if (b->t->nodes.at[first].label == label - 1)
		return first;
	at = u64map_put(&b->child_of, (uint64_t)parent << 32 | label);
	child = at ? *at : 0;
	if (!at || child)
		return child;
	child = add_node(b, parent, label - 1);
	*at = child ?: UINT32_MAX; /* a zero must not stay; no one reads this after a failure */
	if (child) {
		b->t->nodes.at[child].next = b->t->nodes.at[first].next;
		b->t->nodes.at[first].next = child;
	}
	return child;
}

static uint32_t child_of(struct builder *b, uint32_t parent, size_t xframe)
{
	return child_with(b, parent, label_of(b, xframe));
}

static enum stack_domain domain_of(const struct analysis *an, size_t xframe)
{
	return kind_domain((enum stack_kind)an->syms.at[an->xframes.at[xframe].sym].kind);
}

static int add_stack(struct builder *b, uint32_t row)
{
	const struct analysis *an = b->an;
	const struct stack *s = &an->stacks[row];
	const struct expansion *e = s->frame == ROW_NONE ? NULL : &an->expansions[s->frame];
	uint32_t node = s->parent == ROW_NONE ? 0 : b->t->of_stack[s->parent];

	if (b->profile->on[row].total == 0)
		return 0;
	if ((s->detached || !e) && !b->options->java) {
		node = child_of(b, node, XFRAME_DAMAGED);
		if (!node)
			return -ENOMEM;
	}
	for (uint32_t i = 0; e && i < e->count; i++) {
		if (b->options->java && domain_of(an, e->first + i) != DOMAIN_JAVA)
			continue;
		node = child_of(b, node, e->first + i);
		if (!node)
			return -ENOMEM;
	}
	b->t->of_stack[row] = node;
	return 0;
}

/* The sum's node without its leaf. */
static uint32_t base_of(const struct tree *t, const struct stack_sum *s)
{
	if (s->stack != ROW_NONE)
		return t->of_stack[s->stack];
	return s->xframe == XFRAME_ROOT ? 0 : s->xframe == XFRAME_NO_STACK ? t->no_stack : t->damaged;
}

static int add_leaf(struct builder *b, const struct stack_sum *s)
{
	uint32_t base = base_of(b->t, s), node;
	uint32_t *at = u64map_put(&b->t->leaf_of, (uint64_t)base << 32 | s->leaf);

	if (!at || *at)
		return at ? 0 : -ENOMEM;
	node = child_with(b, base, label_of_leaf(b, s->leaf));
	*at = node ?: UINT32_MAX; /* a zero must not stay; no one reads this after a failure */
	return node ? 0 : -ENOMEM;
}

static int add_sum(struct builder *b, const struct stack_sum *s)
{
	uint32_t *missing = s->xframe == XFRAME_NO_STACK ? &b->t->no_stack : &b->t->damaged;
	struct tree_node *node;
	int err;

	if (s->stack == ROW_NONE && s->xframe != XFRAME_ROOT && !*missing && !b->options->java) {
		*missing = child_of(b, 0, s->xframe);
		if (!*missing)
			return -ENOMEM;
	}
	err = s->leaf ? add_leaf(b, s) : 0;
	if (err)
		return err;
	node = &b->t->nodes.at[tree_node_of(b->t, s)];
	node->self = add_saturating(node->self, s->weight);
	return 0;
}

/* Adds what is on a stack's node. Without leaves, that is the same for all of its sums. */
static int add_weights(struct builder *b)
{
	const struct profile *p = b->profile;
	const struct stack_sum *s;
	struct stack_sums_cursor c;
	int err = 0;

	for (size_t row = 0; row < b->an->a->nodes.count && !p->leaves; row++) {
		struct tree_node *node = &b->t->nodes.at[b->t->of_stack[row]];

		node->self = add_saturating(node->self, p->on[row].self);
	}
	for (stack_sums_begin(&c, &p->sums); !err && (s = stack_sums_next(&c));)
		if (p->leaves || s->stack == ROW_NONE)
			err = add_sum(b, s);
	return err;
}

/* ---- order ---- */

static int compare_labels(const void *x, const void *y, void *ctx)
{
	const struct tree_label *labels = ctx;
	const struct tree_label *p = &labels[*(const uint32_t *)x], *q = &labels[*(const uint32_t *)y];
	int c = strcmp(p->text, q->text);

	if (!c)
		c = (int)p->domain - (int)q->domain;
	if (!c && p->file)
		c = strcmp(p->file, q->file);
	if (!c)
		c = (p->line > q->line) - (p->line < q->line);
	return c ? c : (int)p->kind - (int)q->kind;
}

/* Gives each label its rank. */
static int rank_labels(struct tree *t)
{
	uint32_t *label_at = calloc(t->labels.count + 1, sizeof(*label_at));

	if (!label_at)
		return -ENOMEM;
	for (size_t i = 0; i < t->labels.count; i++)
		label_at[i] = (uint32_t)i;
	if (t->labels.count)
		qsort_r(label_at, t->labels.count, sizeof(*label_at), compare_labels, t->labels.at);
	for (size_t i = 0; i < t->labels.count; i++)
		t->labels.at[label_at[i]].rank = (uint32_t)i;
	free(label_at);
	return 0;
}

static int compare_siblings(const void *x, const void *y, void *ctx)
{
	const struct tree *t = ctx;
	uint32_t p = t->nodes.at[*(const uint32_t *)x].label, q = t->nodes.at[*(const uint32_t *)y].label;

	return compare_u64(t->labels.at[p].rank, t->labels.at[q].rank);
}

/* Brings a node's children into the order of their labels. */
static int sort_children(struct tree *t, struct tree_node *n)
{
	VEC(uint32_t) children = {0};
	uint32_t *link = &n->child;

	for (uint32_t i = n->child; i; i = t->nodes.at[i].next)
		if (VEC_PUSH(&children, i)) {
			free(children.at);
			return -ENOMEM;
		}
	qsort_r(children.at, children.count, sizeof(*children.at), compare_siblings, t);
	for (size_t i = 0; i < children.count; i++) {
		*link = children.at[i];
		link = &t->nodes.at[*link].next;
	}
	*link = 0;
	free(children.at);
	return 0;
}

/* Links siblings by label and adds up totals. A node's parent has a smaller index than the node. */
static int link_nodes(struct tree *t)
{
	int err = rank_labels(t);

	for (size_t i = t->nodes.count; i-- > 0 && !err;) {
		struct tree_node *n = &t->nodes.at[i];

		if (n->child && t->nodes.at[n->child].next)
			err = sort_children(t, n);
		n->total = add_saturating(n->total, n->self);
		if (i)
			t->nodes.at[n->parent].total = add_saturating(t->nodes.at[n->parent].total, n->total);
	}
	return err;
}

static void weigh_kind(struct tree *t, uint32_t node, enum stack_kind kind, uint64_t weight)
{
	t->kind_weight[node][kind] = add_saturating(t->kind_weight[node][kind], weight);
}

/* A stack's frames are the last e->count nodes of its path. */
static int weigh_kinds(struct builder *b)
{
	const struct analysis *an = b->an;
	struct tree *t = b->t;
	const struct stack_sum *sum;
	struct stack_sums_cursor c;

	t->kind_weight = calloc(t->nodes.count, sizeof(*t->kind_weight));
	if (!t->kind_weight)
		return -ENOMEM;
	for (size_t row = 0; row < an->a->nodes.count; row++) {
		const struct stack *s = &an->stacks[row];
		const struct expansion *e = s->frame == ROW_NONE ? NULL : &an->expansions[s->frame];
		uint32_t node = t->of_stack[row];

		for (uint32_t i = e ? e->count : 0; i-- > 0 && node;) {
			weigh_kind(t, node, (enum stack_kind)an->syms.at[an->xframes.at[e->first + i].sym].kind,
				   b->profile->on[row].total);
			node = t->nodes.at[node].parent;
		}
	}
	if (!t->leaf_of.count)
		return 0;
	for (stack_sums_begin(&c, &b->profile->sums); (sum = stack_sums_next(&c));)
		if (sum->leaf)
			weigh_kind(t, tree_node_of(t, sum), KIND_CLASS, sum->weight);
	return 0;
}

static int build(struct builder *b)
{
	const struct tree_node root = {0};
	int err;

	b->t->of_stack = calloc(b->an->a->nodes.count + 1, sizeof(*b->t->of_stack));
	b->xlabel = calloc(b->an->xframes.count + 1, sizeof(*b->xlabel));
	if (!b->t->of_stack || !b->xlabel)
		return -ENOMEM;
	err = VEC_PUSH(&b->t->nodes, root);
	for (size_t i = 0; i < b->an->a->nodes.count && !err; i++)
		err = add_stack(b, b->an->order[i]);
	err = err ?: add_weights(b);
	if (!err)
		err = link_nodes(b->t);
	if (!err && b->options->kinds)
		err = weigh_kinds(b);
	return err;
}

int tree_new(struct tree **out, const struct analysis *an, const struct profile *p, const struct tree_options *options)
{
	struct builder b = {.t = calloc(1, sizeof(struct tree)), .an = an, .profile = p, .options = options};
	int err = b.t ? build(&b) : -ENOMEM;

	free(b.xlabel);
	u64map_free(&b.label_of);
	u64map_free(&b.place_of);
	u64map_free(&b.child_of);
	if (err) {
		tree_free(b.t);
		b.t = NULL;
	}
	*out = b.t;
	return err;
}

void tree_free(struct tree *t)
{
	if (!t)
		return;
	free(t->nodes.at);
	free(t->labels.at);
	free(t->kind_weight);
	free(t->of_stack);
	u64map_free(&t->leaf_of);
	strpool_free(&t->texts);
	free(t);
}

uint32_t tree_node_of(const struct tree *t, const struct stack_sum *sum)
{
	uint32_t base = base_of(t, sum);

	return sum->leaf ? u64map_get(&t->leaf_of, (uint64_t)base << 32 | sum->leaf) : base;
}

uint32_t tree_next(const struct tree *t, uint32_t i)
{
	if (t->nodes.at[i].child)
		return t->nodes.at[i].child;
	while (i && !t->nodes.at[i].next)
		i = t->nodes.at[i].parent;
	return i ? t->nodes.at[i].next : 0;
}

enum stack_kind tree_kind(const struct tree *t, uint32_t node)
{
	return kind_of_most(t->kind_weight[node]);
}
