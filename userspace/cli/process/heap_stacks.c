// SPDX-License-Identifier: Apache-2.0
#include "heap_stacks.h"

#include "analyze/events.h"
#include "util/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct stack_reader {
	struct heapdump_allocated *to;
	struct u64map method_of; /* id to index + 1 */
	struct u64map stack_of;	 /* row to index + 1 */
	int err;
};

/* The index of a method; sets s->err on failure. */
static uint32_t method_index(struct stack_reader *s, const struct analyzer *a, uint32_t method)
{
	const struct method_row *m = table_get(&a->methods, method);
	uint32_t *index = u64map_put(&s->method_of, method);
	struct heapdump_method copy;

	if (!index) {
		s->err = -ENOMEM;
		return 0;
	}
	if (*index)
		return *index - 1;
	copy = (struct heapdump_method){.class = strdup(m ? strpool_get(&a->strings, m->class_name) : ""),
					.name = strdup(m ? strpool_get(&a->strings, m->name) : ""),
					.signature = strdup(m ? strpool_get(&a->strings, m->signature) : ""),
					.file = strdup(m ? strpool_get(&a->strings, m->source) : "")};
	s->err = VEC_PUSH(&s->to->methods, copy);
	if (s->err || !copy.class || !copy.name || !copy.signature || !copy.file) {
		s->err = -ENOMEM;
		return 0;
	}
	*index = (uint32_t)s->to->methods.count;
	return *index - 1;
}

static void frame_add(void *ctx, const struct analysis *an, const struct xframe *x)
{
	struct stack_reader *s = ctx;
	struct heapdump_frame f = {.line = x->line};

	if (!x->method || s->err)
		return;
	f.method = method_index(s, an->a, x->method);
	s->err = s->err ?: VEC_PUSH(&s->to->frames, f);
}

/* Stacks without a Java frame say nothing in a heap dump. */
static void object_add(struct stack_reader *s, const struct analysis *an, const struct event *e)
{
	struct heapdump_stack stack = {.first = (uint32_t)s->to->frames.count};
	uint32_t *index = u64map_put(&s->stack_of, e->stack);

	if (!index) {
		s->err = -ENOMEM;
		return;
	}
	if (!*index) {
		analysis_each_frame(an, e->stack, frame_add, s);
		stack.count = (uint32_t)s->to->frames.count - stack.first;
		s->err = s->err ?: VEC_PUSH(&s->to->stacks, stack);
		*index = (uint32_t)s->to->stacks.count;
	}
	if (!s->err && s->to->stacks.at[*index - 1].count)
		s->err = VEC_PUSH(&s->to->objects,
				  (struct heapdump_object){.number = e->row->number, .stack = *index - 1});
}

static int by_number(const void *x, const void *y)
{
	const struct heapdump_object *a = x, *b = y;

	return compare_u64(a->number, b->number);
}

int heap_stacks_read(struct heapdump_allocated *to, const struct analyzer *a)
{
	static const struct filter everything;
	struct stack_reader s = {.to = to};
	struct analysis *an = NULL;

	s.err = analysis_new(&an, a, &everything);
	for (size_t i = 0; !s.err && i < events_count(an); i++) {
		struct event e;

		if (events_get(an, i, &e) && e.kind == BRAID_JVM_ALLOC && e.row->number && e.stack != ROW_NONE)
			object_add(&s, an, &e);
	}
	analysis_free(an);
	u64map_free(&s.method_of);
	u64map_free(&s.stack_of);
	VEC_SORT(&to->objects, by_number);
	return s.err;
}

void heap_stacks_free(struct heapdump_allocated *a)
{
	for (size_t i = 0; i < a->methods.count; i++) {
		free(a->methods.at[i].class);
		free(a->methods.at[i].name);
		free(a->methods.at[i].signature);
		free(a->methods.at[i].file);
	}
	free(a->methods.at);
	free(a->frames.at);
	free(a->stacks.at);
	free(a->objects.at);
}
