// SPDX-License-Identifier: Apache-2.0
/* Tests of what each root leads to, on the heap of fake_vm.h. */
#include "fake_vm.h"

#include <heapdump/by_root.h>

Suite *test_by_root(void);

static struct {
	struct braid_heap_roots head;
	struct braid_heap_root at[8];
} table;

static uint64_t chain(uint32_t nodes, uint64_t end)
{
	for (uint32_t i = 0; i < nodes; i++) {
		uint64_t node = new_object(&f->node, 40);

		*word(node, 16) = end;
		end = node;
	}
	return end;
}

static void root(uint64_t object, enum braid_root_kind kind, uint64_t thread)
{
	table.at[table.head.count++] = (struct braid_heap_root){.object = object, .kind = kind, .thread = thread};
}

static const struct by_root_row *row(const struct by_root *r, enum by_root_kind kind, const char *class)
{
	for (size_t i = 0; i < r->rows.count; i++)
		if (r->rows.at[i].kind == kind && (!class || !strcmp(r->rows.at[i].name, class)))
			return &r->rows.at[i];
	ck_abort_msg("no row of kind %d", kind);
}

/* Counts what the roots of the table lead to; `room`: objects that marking may keep in its list. */
static void count_by_root(struct by_root *r, size_t room, uint64_t thread)
{
	struct heapdump d = {.roots = AT(&table)};
	struct writer w = {.d = &d, .copy = f->copy, .head = table.head};
	struct writer_thread t = {.object = thread, .id = 7};

	ck_assert_int_eq(klasses_read(&f->classes, AT(&f->node)), 0);
	w.vm = f->vm;
	w.classes = f->classes;
	ck_assert_int_eq(reach_open(&w.reach, &f->vm, &w.classes, HEAP_BYTES), 0);
	ck_assert_int_eq(reach_by_root(&w.reach, HEAP_BYTES), 0);
	w.reach.room = room;
	for (uint32_t i = 0; i < table.head.count; i++)
		reach_mark_root(&w.reach, table.at[i].object);
	reach_mark_root(&w.reach, thread);
	ck_assert_int_eq(VEC_PUSH(&w.threads, t), 0);
	ck_assert_ptr_nonnull(pair_put(&w.thread_of, t.id, 0, 1));
	ck_assert_int_eq(by_root_count(&w, r), 0);
	ck_assert_uint_eq(w.reach.bad, 0);
	free(w.threads.at);
	pair_map_free(&w.thread_of);
	reach_free(&w.reach);
	f->classes = w.classes;
}

static void roots_count_once(size_t room)
{
	uint64_t shared, thread, global, monitor, refs;
	struct by_root r = {0};

	build();
	memset(&table, 0, sizeof(table));
	shared = chain(50, 0);
	thread = chain(10, 0);
	global = chain(20, shared);
	monitor = chain(5, global); /* leads to a root, which counts by itself */
	refs = new_array(&f->refs, 30, 8);
	for (size_t i = 0; i < 30; i++)
		*word(refs, 24 + 8 * i) = chain(1, shared);
	*word(refs, 24) = f->node.mirror; /* a class counts with its static fields, whoever refers to it */
	root(monitor, BRAID_ROOT_MONITOR, 0);
	root(global, BRAID_ROOT_JNI_GLOBAL, 0);
	root(refs, BRAID_ROOT_STACK_LOCAL, 7);
	root(chain(3, 0), BRAID_ROOT_STACK_LOCAL, 8);
	root(chain(4, 0), BRAID_ROOT_OTHER, 0);
	count_by_root(&r, room, thread);
	ck_assert_uint_eq(row(&r, BY_ROOT_THREAD, NULL)->objects, 10 + 1 + 29 + 50);
	ck_assert_uint_eq(row(&r, BY_ROOT_THREAD, NULL)->bytes, 89 * 40 + 24 + 30 * 8);
	ck_assert_str_eq(row(&r, BY_ROOT_THREAD, NULL)->most, "Node");
	ck_assert_uint_eq(row(&r, BY_ROOT_THREAD, NULL)->most_objects, 89);
	ck_assert_uint_eq(row(&r, BY_ROOT_JNI_GLOBAL, NULL)->objects, 20);
	ck_assert_uint_eq(row(&r, BY_ROOT_MONITOR, NULL)->objects, 5);
	ck_assert_uint_eq(row(&r, BY_ROOT_OTHER_STACKS, NULL)->objects, 3);
	ck_assert_uint_eq(row(&r, BY_ROOT_VM, NULL)->objects, 4);
	/* The nine classes of the only loader. */
	ck_assert_uint_eq(row(&r, BY_ROOT_STATIC, "Node")->objects, 1);
	ck_assert_uint_eq(r.kind_objects[BY_ROOT_STATIC], 9);
	ck_assert_uint_eq(r.rest_rows, 0);
	by_root_free(&r);
	demolish();
}

START_TEST(each_object_once)
{
	roots_count_once(1U << 20);
}
END_TEST

/* What finds no room is found when all marked objects are gone through again, by the same root. */
START_TEST(little_room)
{
	roots_count_once(3);
}
END_TEST

Suite *test_by_root(void)
{
	Suite *s = suite_create("heap by root");
	TCase *c = tcase_create("all");

	tcase_add_test(c, each_object_once);
	tcase_add_test(c, little_room);
	suite_add_tcase(s, c);
	return s;
}
