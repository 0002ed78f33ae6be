// SPDX-License-Identifier: Apache-2.0
/*
 * Tests of heap dumps on a heap that this program builds in its own memory, with classes as the VM of JDK 8 has them:
 * what is reachable.
 */
#include "fake_vm.h"

Suite *test_heapdump(void);

/* ---- the graph ---- */

START_TEST(classes_have_their_fields)
{
	const struct class *k;
	int64_t i;

	build();
	reach_begin();
	ck_assert_uint_eq(f->classes.at.count, 9);
	i = klasses_find(&f->classes, AT(&f->node));
	k = &f->classes.at.at[i];
	ck_assert_uint_eq(k->size, 40);
	ck_assert_uint_eq(k->field_count, 3);
	ck_assert_uint_eq(k->value_bytes, 8 + 4 + 8);
	ck_assert_uint_eq(f->classes.fields.at[k->field_first + 1].type, VALUE_INT);
	ck_assert_uint_eq(f->classes.fields.at[k->field_first + 1].offset, 24);
	ck_assert_uint_eq(f->classes.referent, 16);
	ck_assert_uint_eq(f->classes.discovered, 24);
	ck_assert_int_eq(klasses_find(&f->classes, AT(&f->ints)), klasses_find(&f->classes, AT(&f->ints)));
	ck_assert_int_eq(klasses_of_mirror(&f->classes, f->node.mirror), i);
	demolish();
}
END_TEST

/* A list of nodes, every tenth with an array; garbage beside it; a weak and a strong way to an object. */
static void fill(uint32_t nodes, uint64_t *first)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < nodes; i++) {
		uint64_t node = new_object(&f->node, 40);

		*word(node, 16) = last;
		last = node;
		new_object(&f->node, 40); /* garbage */
		if (i % 10 == 0)
			*word(node, 32) = new_array(&f->ints, i % 7, 4);
	}
	*first = last;
}

static void reachable_is(uint64_t root, size_t nodes, size_t arrays)
{
	size_t counts[3] = {0};

	reach_mark(&f->reach, root);
	ck_assert_int_eq(reach_close_over(&f->reach), 0);
	ck_assert_int_eq(reach_each(&f->reach, count, counts), 0);
	ck_assert_uint_eq(counts[0], nodes);
	ck_assert_uint_eq(counts[2], arrays);
	ck_assert_uint_eq(counts[1], 9); /* the classes of its loader */
}

START_TEST(what_is_reachable)
{
	uint64_t first, refs;

	build();
	fill(3000, &first);
	refs = new_array(&f->refs, 5000, 8);
	for (size_t i = 0; i < 5000; i += 2)
		*word(refs, 24 + 8 * i) = new_object(&f->node, 40);
	*word(refs, 24 + 8 * 4999) = first;
	reach_begin();
	reachable_is(refs, 3000 + 2500, 300 + 1);
	ck_assert_uint_eq(f->reach.bad, 0);
	demolish();
}
END_TEST

/* All of what says that it is an array does not lie in the part of the heap that is read first. */
START_TEST(array_across_windows)
{
	size_t counts[3] = {0};

	build();
	f->used = REACH_WINDOW - 16;
	reach_begin();
	reach_mark(&f->reach, new_array(&f->ints, 5, 4));
	ck_assert_int_eq(reach_close_over(&f->reach), 0);
	ck_assert_int_eq(reach_each(&f->reach, count, counts), 0);
	ck_assert_uint_eq(counts[2], 1);
	ck_assert_uint_eq(f->reach.bad, 0);
	demolish();
}
END_TEST

/* The same objects are found when the list of those that are left has room for a few only. */
START_TEST(little_room)
{
	uint64_t first, refs;

	build();
	fill(300, &first);
	refs = new_array(&f->refs, 1000, 8);
	for (size_t i = 0; i < 1000; i++)
		*word(refs, 24 + 8 * i) = new_object(&f->node, 40);
	*word(*word(refs, 24), 32) = first;
	reach_begin();
	f->reach.room = 3;
	reachable_is(refs, 300 + 1000, 30 + 1);
	demolish();
}
END_TEST

START_TEST(weak_references_keep_nothing)
{
	uint64_t weak, strong;

	build();
	weak = new_object(&f->weak, 32);
	*word(weak, 16) = new_object(&f->node, 40);
	strong = new_object(&f->reference, 32);
	*word(strong, 16) = new_object(&f->node, 40);
	*word(strong, 24) = weak;
	reach_begin();
	reach_mark(&f->reach, strong);
	ck_assert_int_eq(reach_close_over(&f->reach), 0);
	ck_assert(marks_has(&f->reach.marks, weak));
	ck_assert(marks_has(&f->reach.marks, *word(strong, 16)));
	ck_assert(!marks_has(&f->reach.marks, *word(weak, 16)));
	demolish();
}
END_TEST

/* With a bitmap, its words are references; without, all that lead to an object's begin. */
START_TEST(frames_in_the_heap)
{
	uint64_t exact, any, nodes[4];

	build();
	exact = new_chunk(2, 10, 1 << 1 | 1 << 4);
	any = new_chunk(2, 10, 0);
	for (int i = 0; i < 4; i++)
		nodes[i] = new_object(&f->node, 40);
	*word(exact, 32 + 8 * 1) = nodes[0]; /* below the first frame */
	*word(exact, 32 + 8 * 4) = nodes[1];
	*word(exact, 32 + 8 * 5) = nodes[2];
	*word(any, 32 + 8 * 2) = nodes[1] + 8;
	*word(any, 32 + 8 * 8) = 0x77;
	*word(any, 32 + 8 * 9) = nodes[3];
	reach_begin();
	f->classes.chunk_flags = 24;
	reach_mark(&f->reach, exact);
	reach_mark(&f->reach, any);
	ck_assert_int_eq(reach_close_over(&f->reach), 0);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(marks_has(&f->reach.marks, nodes[i]), i % 2);
	ck_assert(!marks_has(&f->reach.marks, nodes[1] + 8));
	ck_assert_uint_eq(f->reach.bad, 0);
	demolish();
}
END_TEST

/* As by Shenandoah: every reference still leads to where the object was. */
START_TEST(moved_objects)
{
	uint64_t first, from, to, torn;
	struct histogram h;

	build();
	from = new_object(&f->node, 40);
	to = new_object(&f->node, 40);
	torn = new_object(&f->node, 40);
	first = new_object(&f->node, 40);
	*word(from, 0) = to | 3;
	*word(torn, 0) = (to + 8) | 3; /* where no object is */
	*word(to, 16) = torn;
	*word(first, 16) = from;
	*word(first, 32) = from;
	counted(&h, first);
	row_is(&h, "Node", 3, 3 * 40);
	ck_assert(!marks_has(&f->reach.marks, from) && marks_has(&f->reach.marks, to));
	ck_assert(marks_has(&f->reach.marks, torn));
	ck_assert_uint_eq(reach_where(&f->reach, from), to);
	ck_assert_uint_eq(reach_where(&f->reach, torn), torn);
	ck_assert_uint_eq(f->reach.bad, 0);
	histogram_free(&h);
	demolish();
}
END_TEST

/* ---- histograms ---- */

START_TEST(histograms)
{
	uint64_t first, refs, chunk, loader;
	struct histogram h;

	build();
	f->vm.class_words = 24;
	*(uint32_t *)(f->node.mirror + 24) = 9;
	fill(3000, &first);
	refs = new_array(&f->refs, 10, 8);
	chunk = new_chunk(2, 10, 0);
	loader = new_object(&f->loader, 16);
	f->vm.hash_shift = 11;
	*word(loader, 0) = 0x1f2eULL << 11 | 1;
	f->loader_data[1] = loader;
	f->node.loader_data = AT(&f->loader_data[1]);
	*word(refs, 24) = first;
	*word(refs, 32) = chunk;
	counted(&h, refs);
	row_is(&h, "Node", 3000, 3000 * 40);
	/* 300 arrays of 0 to 6 ints, with what aligns them. */
	ck_assert_uint_eq(row_of(&h, "[I")->objects, 300);
	ck_assert_uint_gt(row_of(&h, "[I")->bytes, 300 * 24 + (300 / 7) * 21 * 4);
	ck_assert_uint_eq(row_of(&h, "[I")->bytes % 8, 0);
	row_is(&h, "[Ljava/lang/Object;", 1, 24 + 10 * 8);
	row_is(&h, "jdk/internal/vm/StackChunk", 1, 32 + 8 * 10 + 8);
	/* Nine classes, of which one says how long it is. */
	row_is(&h, "java/lang/Class", 9, 8 * 32 + 9 * 8);
	ck_assert_str_eq(row_of(&h, "Node")->loader, "java/lang/ClassLoader");
	ck_assert_uint_eq(row_of(&h, "Node")->loader_number, 0x1f2e);
	ck_assert_ptr_null(row_of(&h, "Node")->loader_name);
	ck_assert_ptr_null(row_of(&h, "[I")->loader);
	ck_assert_uint_eq(h.rest_classes, 0);
	for (size_t i = 1; i < h.rows.count; i++)
		ck_assert_uint_ge(h.rows.at[i - 1].bytes, h.rows.at[i].bytes);
	histogram_free(&h);
	demolish();
}
END_TEST

/* With -XX:ObjectAlignmentInBytes=16: nothing else than the addresses says so. */
START_TEST(aligned_objects)
{
	struct histogram h;
	uint64_t last = 0;

	build();
	for (int i = 0; i < 3; i++) {
		uint64_t node = new_object(&f->node, 40);

		*word(node, 16) = last;
		last = node;
		f->used = (f->used + 15) & ~15UL;
	}
	counted(&h, last);
	row_is(&h, "Node", 3, 3 * 48);
	histogram_free(&h);
	demolish();
}
END_TEST

START_TEST(marks)
{
	struct marks m;

	ck_assert_int_eq(marks_open(&m, 0x1000000, 0x9000000, 0), 0);
	ck_assert(marks_cover(&m, 0x1000000) && !marks_cover(&m, 0x9000000) && !marks_cover(&m, 0x1000004));
	ck_assert_uint_eq(marks_next(&m, 0x1000000), 0);
	ck_assert(marks_set(&m, 0x8fffff8) && !marks_set(&m, 0x8fffff8));
	ck_assert(marks_set(&m, 0x1200000));
	ck_assert_uint_eq(marks_alignment(&m), 8);
	ck_assert_uint_eq(marks_next(&m, 0x1000000), 0x1200000);
	ck_assert_uint_eq(marks_next(&m, 0x1200000), 0x1200000);
	ck_assert_uint_eq(marks_next(&m, 0x1200008), 0x8fffff8);
	marks_clear(&m, 0x8fffff8);
	ck_assert(!marks_has(&m, 0x8fffff8) && marks_has(&m, 0x1200000));
	ck_assert_uint_eq(marks_next(&m, 0x1200008), 0);
	ck_assert_uint_eq(marks_alignment(&m), 256);
	ck_assert(marks_set(&m, 0x8ffffe0));
	ck_assert_uint_eq(marks_alignment(&m), 32);
	marks_clear(&m, 0x8ffffe0);
	m.most = m.used;
	ck_assert(!marks_set(&m, 0x4000000) && m.exhausted);
	marks_free(&m);
}
END_TEST

Suite *test_heapdump(void)
{
	Suite *s = suite_create("heapdump");
	TCase *c = tcase_create("all");

	tcase_add_test(c, classes_have_their_fields);
	tcase_add_test(c, what_is_reachable);
	tcase_add_test(c, array_across_windows);
	tcase_add_test(c, little_room);
	tcase_add_test(c, weak_references_keep_nothing);
	tcase_add_test(c, frames_in_the_heap);
	tcase_add_test(c, moved_objects);
	tcase_add_test(c, histograms);
	tcase_add_test(c, aligned_objects);
	tcase_add_test(c, marks);
	suite_add_tcase(s, c);
	return s;
}
