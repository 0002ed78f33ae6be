// SPDX-License-Identifier: Apache-2.0
#include "stack_table.h"

#include <analyze/spans.h>
#include <analyze/stream.h>

#include "util/compare.h"
#include "util/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What stacks are sorted by; made once for each sum. */
struct item {
	struct thread_stack stack;
	const char *name;
	uint32_t process, tid;
	uint32_t place; /* of the node, in the tree's order */
};

typedef VEC(struct item) item_vec;

static int compare_items(const void *x, const void *y)
{
	const struct item *p = x, *q = y;
	int c = compare_u64(p->process, q->process);

	c = c ?: strcmp(p->name, q->name);
	c = c ?: compare_u64(p->tid, q->tid);
	c = c ?: compare_u64(p->stack.thread, q->stack.thread);
	c = c ?: compare_u64(p->place, q->place);
	return c ?: compare_u64(p->stack.span, q->stack.span);
}

static int compare_weights(const void *x, const void *y)
{
	const struct item *p = x, *q = y;

	return compare_u64(q->stack.weight, p->stack.weight) ?: compare_items(x, y);
}

static bool same(const struct thread_stack *a, const struct thread_stack *b)
{
	return a->thread == b->thread && a->node == b->node && a->span == b->span;
}

const struct process_row *stack_table_process(const struct stack_table *t, uint32_t thread)
{
	const struct thread_row *row = thread == ROW_NONE ? NULL : table_row(&t->an->a->threads, thread);

	return row ? table_get(&t->an->a->processes, row->process) : NULL;
}

/* `place` of its node, in the tree's order. */
static int add_item(const struct stack_table *t, item_vec *items, const struct thread_stack *s, uint32_t place)
{
	const struct thread_row *row = s->thread == ROW_NONE ? NULL : table_row(&t->an->a->threads, s->thread);
	const struct item item = {.stack = *s,
				  .name = analysis_thread_name(t->an, s->thread),
				  .process = row ? row->process : 0,
				  .tid = row ? row->tid : 0,
				  .place = place};

	return VEC_PUSH(items, item);
}

/* The place of each node in the tree's order. */
static uint32_t *places(const struct tree *tree)
{
	uint32_t *place = calloc(tree->nodes.count, sizeof(*place)), next = 0;

	for (uint32_t i = place ? tree_next(tree, 0) : 0; i; i = tree_next(tree, i))
		place[i] = ++next;
	return place;
}

static int collect(const struct stack_table *t, const struct profile *p, const uint32_t *place, item_vec *items)
{
	const struct stack_sum *s;
	struct stack_sums_cursor c;

	for (stack_sums_begin(&c, &p->sums); (s = stack_sums_next(&c));) {
		const struct thread_stack stack = {s->thread, tree_node_of(t->tree, s), s->weight, 0};

		if (add_item(t, items, &stack, place[stack.node]))
			return -ENOMEM;
	}
	return 0;
}

static void merge(item_vec *items)
{
	size_t n = 0;

	for (size_t i = 0; i < items->count; i++) {
		struct thread_stack *last = n ? &items->at[n - 1].stack : NULL, *now = &items->at[i].stack;

		if (last && same(last, now))
			last->weight = add_saturating(last->weight, now->weight);
		else
			items->at[n++] = items->at[i];
	}
	items->count = n;
}

static int arrange(struct stack_table *t, item_vec *items)
{
	int err = 0;

	VEC_SORT(items, compare_items);
	merge(items);
	if (t->top && items->count > t->top) {
		VEC_SORT(items, compare_weights);
		items->count = t->top;
		VEC_SORT(items, compare_items);
	}
	for (size_t i = 0; i < items->count && !err; i++)
		err = VEC_PUSH(&t->stacks, items->at[i].stack);
	return err;
}

/* ---- by span ---- */

#define UNMERGED 65536U /* items at least before equal ones become one */

static bool is_wanted(const struct timed *t, uint32_t kind)
{
	return kind ? t->event && t->event->kind == kind : !t->event && !t->hit;
}

static int collect_stream(const struct stack_table *t, struct stream *s, uint32_t kind, const uint32_t *place,
			  item_vec *items)
{
	size_t full = UNMERGED;
	struct timed one;
	int more;

	while ((more = stream_next(s, &one)) == 1) {
		struct thread_stack stack;
		struct stack_sum sum;

		if (!is_wanted(&one, kind))
			continue;
		sum = one.event ? events_sum(one.event)
				: (struct stack_sum){.thread = one.thread, .stack = one.stack, .xframe = one.xframe};
		stack = (struct thread_stack){one.thread, tree_node_of(t->tree, &sum), one.weight,
					      spans_same(t->an->a, one.span)};
		if (add_item(t, items, &stack, place[stack.node]))
			return -ENOMEM;
		if (items->count < full)
			continue;
		VEC_SORT(items, compare_items);
		merge(items);
		full = items->count > UNMERGED / 2 ? 2 * items->count : UNMERGED;
	}
	return more;
}

/* ---- tables ---- */

/* `stream`: what it has is collected, by span; NULL: the profile, which has no spans. */
static int make(struct stack_table *t, const struct analysis *an, const struct profile *p, struct stream *stream,
		uint32_t kind, unsigned top)
{
	static const struct tree_options options = {.labels = TREE_FRAMES};
	item_vec items = {0};
	uint32_t *place = NULL;
	int err;

	*t = (struct stack_table){.an = an, .top = top};
	err = tree_new(&t->tree, an, p, &options);
	if (!err && !(place = places(t->tree)))
		err = -ENOMEM;
	if (!err)
		err = stream ? collect_stream(t, stream, kind, place, &items) : collect(t, p, place, &items);
	err = err ?: arrange(t, &items);
	free(place);
	free(items.at);
	if (err)
		stack_table_free(t);
	return err;
}

int stack_table_new(struct stack_table *t, const struct analysis *an, const struct profile *p, unsigned top)
{
	return make(t, an, p, NULL, 0, top);
}

int stack_table_spans(struct stack_table *t, struct trace_reader *reader, const struct analysis *an,
		      const struct profile *p, uint32_t kind, unsigned top)
{
	struct stream s;

	stream_begin(&s, reader, an);
	return make(t, an, p, &s, kind, top);
}

int stack_table_of(struct stack_table *t, const struct analysis *an, struct tree *tree,
		   const struct thread_stack *stacks, size_t count, unsigned top)
{
	item_vec items = {0};
	int err = 0;

	*t = (struct stack_table){.an = an, .top = top, .tree = tree};
	for (size_t i = 0; i < count && !err; i++)
		err = add_item(t, &items, &stacks[i], stacks[i].node);
	err = err ?: arrange(t, &items);
	free(items.at);
	if (err)
		stack_table_free(t);
	return err;
}

void stack_table_free(struct stack_table *t)
{
	tree_free(t->tree);
	free(t->stacks.at);
	free(t->path.at);
	*t = (struct stack_table){0};
}

int stack_table_path(struct stack_table *t, uint32_t node)
{
	t->path.count = 0;
	for (uint32_t i = node; i; i = t->tree->nodes.at[i].parent)
		if (VEC_PUSH(&t->path, t->tree->nodes.at[i].label))
			return -ENOMEM;
	return 0;
}

const char *stack_table_kind(const struct stack_table *t)
{
	for (size_t i = 0; i < t->path.count; i++) {
		enum stack_kind kind = (enum stack_kind)t->tree->labels.at[t->path.at[i]].kind;

		if (kind != KIND_CLASS)
			return kind_name(kind);
	}
	return "";
}

void stack_table_name(const struct tree_label *label, bool annotate, char to[FRAME_NAME_MAX])
{
	const char *suffix = annotate ? kind_suffix((enum stack_kind)label->kind) : "";
	size_t n = utf8_from_modified(to, FRAME_NAME_MAX - strlen(suffix), label->text, strlen(label->text));

	strcpy(to + n, suffix);
}

const char *profile_unit_word(enum kind_unit unit)
{
	static const char *const words[] = {[UNIT_COUNT] = "count", [UNIT_NS] = "nanoseconds", [UNIT_BYTES] = "bytes"};

	return words[unit];
}

int64_t profile_value(uint64_t weight, uint64_t scale)
{
	return scale && weight > INT64_MAX / scale ? INT64_MAX : (int64_t)(weight * scale);
}
