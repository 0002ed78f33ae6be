// SPDX-License-Identifier: Apache-2.0
#include "by_root.h"

#include "writer.h"

#include "util/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LOCALS_MAX (4U << 20) /* of all stacks; more count with BY_ROOT_OTHER_STACKS */

struct tally {
	uint64_t objects, bytes;
};

/* One root, or all of a kind. */
struct group {
	uint32_t kind, of; /* index of the thread or class */
	uint32_t most;	   /* index of a class */
	struct tally sum, most_sum;
};

struct local {
	uint64_t object;
	uint32_t thread; /* index */
};

struct by_root_writer {
	struct writer *w;
	VEC(struct group) groups;
	struct group now;
	VEC(struct tally) of_class; /* in this group, by class */
	VEC(uint32_t) classes;	    /* that have something there */
	VEC(struct local) locals;
	uint32_t kind; /* whose turn it is, for root_take() */
	int err;
};

/* ---- counting ---- */

static void count(void *ctx, const struct reach_object *o)
{
	struct by_root_writer *b = ctx;
	uint32_t class = (uint32_t)(o->class - b->w->classes.at.at);
	uint64_t bytes = histogram_bytes(b->w, o);
	struct tally *t;

	while (b->of_class.count <= class && !b->err)
		b->err = VEC_PUSH(&b->of_class, (struct tally){0});
	if (b->err)
		return;
	t = &b->of_class.at[class];
	if (!t->objects)
		b->err = VEC_PUSH(&b->classes, class);
	t->objects++;
	t->bytes += bytes;
	b->now.sum.objects++;
	b->now.sum.bytes += bytes;
}

/* The end of a group's turn: all that its roots lead to has been marked. */
static int group_end(struct by_root_writer *b)
{
	int err = reach_close_over(&b->w->reach);

	err = err ?: b->err;
	for (size_t i = 0; i < b->classes.count; i++) {
		struct tally *t = &b->of_class.at[b->classes.at[i]];

		if (t->bytes > b->now.most_sum.bytes) {
			b->now.most_sum = *t;
			b->now.most = b->classes.at[i];
		}
		*t = (struct tally){0};
	}
	b->classes.count = 0;
	return err ?: b->now.sum.objects ? VEC_PUSH(&b->groups, b->now) : 0;
}

static void group_begin(struct by_root_writer *b, enum by_root_kind kind, uint32_t of)
{
	b->now = (struct group){.kind = kind, .of = of};
}

/* ---- roots ---- */

static bool is_local(const struct braid_heap_root *r)
{
	return r->kind == BRAID_ROOT_STACK_LOCAL || r->kind == BRAID_ROOT_JNI_LOCAL;
}

static int local_take(struct writer *w, const struct braid_heap_root *r, void *ctx)
{
	const struct pair_entry *thread = is_local(r) ? pair_find(&w->thread_of, r->thread, 0) : NULL;
	struct by_root_writer *b = ctx;

	if (!thread || b->locals.count >= LOCALS_MAX)
		return 0;
	return VEC_PUSH(&b->locals, ((struct local){.object = r->object, .thread = thread->value - 1}));
}

static int compare_locals(const void *x, const void *y)
{
	return compare_u64(((const struct local *)x)->thread, ((const struct local *)y)->thread);
}

static int threads_count(struct by_root_writer *b)
{
	struct writer *w = b->w;
	int err = roots_each(w, local_take, b);
	size_t at = 0;

	VEC_SORT(&b->locals, compare_locals);
	for (uint32_t t = 0; t < w->threads.count && !err; t++) {
		group_begin(b, BY_ROOT_THREAD, t);
		reach_turn(&w->reach, w->threads.at[t].object);
		for (; at < b->locals.count && b->locals.at[at].thread == t; at++)
			reach_turn(&w->reach, b->locals.at[at].object);
		err = group_end(b);
	}
	return err;
}

static enum by_root_kind kind_of(const struct braid_heap_root *r)
{
	return is_local(r)			  ? BY_ROOT_OTHER_STACKS
	       : r->kind == BRAID_ROOT_JNI_GLOBAL ? BY_ROOT_JNI_GLOBAL
	       : r->kind == BRAID_ROOT_MONITOR	  ? BY_ROOT_MONITOR
						  : BY_ROOT_VM;
}

/* A class is a root of its own kind, and its turn comes later. */
static int root_take(struct writer *w, const struct braid_heap_root *r, void *ctx)
{
	struct by_root_writer *b = ctx;

	if (kind_of(r) == b->kind && reach_class_that_is(&w->reach, r->object) < 0)
		reach_turn(&w->reach, r->object);
	return 0;
}

static int kinds_count(struct by_root_writer *b)
{
	int err = 0;

	for (b->kind = BY_ROOT_OTHER_STACKS; b->kind < BY_ROOT_STATIC && !err; b->kind++) {
		group_begin(b, b->kind, 0);
		err = roots_each(b->w, root_take, b);
		err = err ?: group_end(b);
	}
	return err;
}

static int class_count(struct by_root_writer *b, uint32_t class)
{
	struct writer *w = b->w;
	const struct class *k = &w->classes.at.at[class];

	group_begin(b, BY_ROOT_STATIC, class);
	reach_turn(&w->reach, k->mirror);
	reach_mark(&w->reach, w->classes.loaders.at[k->loader].object);
	reach_mark(&w->reach, klasses_resolved(&w->classes, k));
	return group_end(b);
}

/* What a class refers to can make more classes live; those of the boot loader wait for all others. */
static int classes_count(struct by_root_writer *b)
{
	struct writer *w = b->w;
	size_t others = 0, boot = 0;
	int err = 0;

	while (!err && boot < w->reach.turns.count) {
		size_t *next = others < w->reach.turns.count ? &others : &boot;
		uint32_t class = w->reach.turns.at[(*next)++];
		bool of_boot = !w->classes.loaders.at[w->classes.at.at[class].loader].object;

		if (of_boot == (next == &boot))
			err = class_count(b, class);
	}
	return err;
}

/* ---- the result ---- */

static int compare_groups(const void *x, const void *y)
{
	const struct group *p = x, *q = y;
	int c = compare_u64(q->sum.bytes, p->sum.bytes);

	c = c ?: compare_u64(p->kind, q->kind);
	return c ?: compare_u64(p->of, q->of);
}

static char *name_of(struct writer *w, const struct group *g)
{
	uint32_t at = w->classes.thread_name;
	char *name = NULL;

	if (g->kind == BY_ROOT_STATIC)
		return histogram_symbol(&w->vm, w->classes.at.at[g->of].name);
	if (at)
		name = histogram_string(&w->classes, vm_reference_at(&w->vm, w->threads.at[g->of].object + at));
	return name ?: strdup("?");
}

static int row_add(struct by_root *r, struct writer *w, const struct group *g)
{
	bool named = g->kind == BY_ROOT_THREAD || g->kind == BY_ROOT_STATIC;
	struct by_root_row row = {.kind = (uint8_t)g->kind,
				  .name = named ? name_of(w, g) : NULL,
				  .objects = g->sum.objects,
				  .bytes = g->sum.bytes,
				  .most = histogram_symbol(&w->vm, w->classes.at.at[g->most].name),
				  .most_objects = g->most_sum.objects,
				  .most_bytes = g->most_sum.bytes};

	if (row.most && (row.name || !named) && !VEC_PUSH(&r->rows, row))
		return 0;
	free(row.name);
	free(row.most);
	return -ENOMEM;
}

static int rows_make(struct by_root_writer *b, struct by_root *r)
{
	int err = 0;

	VEC_SORT(&b->groups, compare_groups);
	for (size_t i = 0; i < b->groups.count && !err; i++) {
		const struct group *g = &b->groups.at[i];

		r->kind_objects[g->kind] += g->sum.objects;
		r->kind_bytes[g->kind] += g->sum.bytes;
		if (i < BRAID_HEAP_ROWS_MAX) {
			err = row_add(r, b->w, g);
			continue;
		}
		r->rest_rows++;
		r->rest_objects += g->sum.objects;
		r->rest_bytes += g->sum.bytes;
	}
	return err;
}

int by_root_count(struct writer *w, struct by_root *r)
{
	struct by_root_writer b = {.w = w};
	int err;

	for (size_t i = 0; i < w->classes.at.count; i++) /* also of those that are not known to be live yet */
		reach_mark_root(&w->reach, w->classes.at.at[i].mirror);
	w->alignment = marks_alignment(&w->reach.later);
	w->reach.count = count;
	w->reach.ctx = &b;
	err = threads_count(&b);
	err = err ?: kinds_count(&b);
	err = err ?: classes_count(&b);
	err = err ?: rows_make(&b, r);
	free(b.groups.at);
	free(b.of_class.at);
	free(b.classes.at);
	free(b.locals.at);
	return err;
}

void by_root_free(struct by_root *r)
{
	for (size_t i = 0; i < r->rows.count; i++) {
		free(r->rows.at[i].name);
		free(r->rows.at[i].most);
	}
	free(r->rows.at);
	*r = (struct by_root){0};
}
