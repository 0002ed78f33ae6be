// SPDX-License-Identifier: Apache-2.0
/* Copies of heaps in which anything can be: what is read of them is bounded. */
#include "unit/program.h" /* before the other, whose global name it would hide */

#include "fake_vm.h"

#include <endian.h>

Suite *test_heapdump_damage(void);

/* What objects and loaders say of themselves may be anything. */
START_TEST(damaged_histograms)
{
	struct histogram h;
	uint64_t refs;

	build();
	f->vm.class_words = 24;
	*(uint32_t *)(f->node.mirror + 24) = UINT32_MAX;
	refs = new_array(&f->refs, 2, 8);
	*word(refs, 24) = new_array(&f->ints, 5, 4);
	*word(refs, 32) = new_object(&f->node, 40);
	*(uint32_t *)(*word(refs, 24) + 16) = INT32_MAX;
	f->loader_data[1] = AT(f->heap) + HEAP_BYTES - 8; /* no object */
	f->node.loader_data = AT(&f->loader_data[1]);
	counted(&h, refs);
	row_is(&h, "[I", 1, 24);
	row_is(&h, "java/lang/Class", 9, 9 * 32);
	ck_assert_str_eq(row_of(&h, "Node")->loader, "?");
	histogram_free(&h);
	demolish();
}
END_TEST

START_TEST(damaged_frames)
{
	const uint32_t heads[][2] = {
		{11, 10}, {UINT32_MAX, 10}, {0, UINT32_MAX}, {0, 1U << 20}, {UINT32_MAX, UINT32_MAX}};
	uint64_t chunks[5];

	build();
	for (size_t i = 0; i < 5; i++)
		chunks[i] = new_chunk(heads[i][0], heads[i][1], 1);
	reach_begin();
	f->classes.chunk_flags = 24;
	for (size_t i = 0; i < 5; i++) {
		reach_mark(&f->reach, chunks[i]);
		ck_assert_int_eq(reach_close_over(&f->reach), 0);
		ck_assert_uint_eq(f->reach.bad, i + 1);
	}
	demolish();
}
END_TEST

static int count_within(void *ctx, const struct reach_object *o)
{
	ck_assert_uint_le(o->bytes, AT(f->heap) + HEAP_BYTES - o->address);
	ck_assert_uint_le(o->class->size + (o->length << o->class->element_log2), o->bytes);
	return count(ctx, o);
}

/* References that lead nowhere, objects without a class, an array that is longer than the heap. */
START_TEST(damage)
{
	uint64_t refs, node, array;
	size_t counts[3] = {0};

	build();
	refs = new_array(&f->refs, 6, 8);
	node = new_object(&f->node, 40);
	array = new_array(&f->refs, 1, 8);
	*word(refs, 24) = 0x1234567;
	*word(refs, 32) = AT(f->heap) + HEAP_BYTES;
	*word(refs, 40) = node + 4;
	*word(refs, 48) = node;
	*word(refs, 56) = array;
	*word(refs, 64) = AT(f->heap) + HEAP_BYTES - 8;
	*word(node, 8) = 0x666;
	*(uint32_t *)(array + 16) = INT32_MAX;
	reach_begin();
	reach_mark(&f->reach, refs);
	ck_assert_int_eq(reach_close_over(&f->reach), 0);
	ck_assert_uint_ge(f->reach.bad, 5);
	ck_assert_int_eq(reach_each(&f->reach, count_within, counts), 0);
	ck_assert_uint_eq(counts[0], 0);
	ck_assert_uint_eq(counts[2], 2);
	ck_assert_ptr_null(reach_bytes(&f->reach, AT(f->heap) + HEAP_BYTES, 1));
	f->stop = true;
	reach_mark(&f->reach, new_object(&f->node, 40));
	ck_assert_int_eq(reach_close_over(&f->reach), -EINTR);
	demolish();
}
END_TEST

/* Classes whose description makes no sense are none. */
START_TEST(damaged_classes)
{
	build();
	f->node.oops[1].count = 1000;
	f->weak.super = AT(&f->weak); /* a loop */
	f->ints.helper = ARRAY_HELPER(3U, 10, 7);
	f->reference_fields.at[4] = 0xfff0;
	ck_assert_int_eq(klasses_read(&f->classes, AT(&f->class)), 0);
	ck_assert_int_lt(klasses_find(&f->classes, AT(&f->node)), 0);
	ck_assert_int_lt(klasses_find(&f->classes, AT(&f->weak)), 0);
	ck_assert_int_lt(klasses_find(&f->classes, AT(&f->ints)), 0);
	ck_assert_int_lt(klasses_find(&f->classes, AT(&f->reference)), 0);
	ck_assert_int_lt(klasses_find(&f->classes, 0x10), 0);
	ck_assert_int_ge(klasses_find(&f->classes, AT(&f->refs)), 0);
	demolish();
}
END_TEST

/* What an instance is copied from and into has room for its own class's fields only. */
START_TEST(classes_that_do_not_fit)
{
	build();
	f->weak.helper = 24;		/* smaller than its superclass, whose fields are beyond its end */
	f->loader.super = AT(&f->ints); /* an instance of an array */
	ck_assert_int_eq(klasses_read(&f->classes, AT(&f->class)), 0);
	ck_assert_int_ge(klasses_find(&f->classes, AT(&f->reference)), 0);
	ck_assert_int_lt(klasses_find(&f->classes, AT(&f->weak)), 0);
	ck_assert_int_ge(klasses_find(&f->classes, AT(&f->ints)), 0);
	ck_assert_int_lt(klasses_find(&f->classes, AT(&f->loader)), 0);
	demolish();
}
END_TEST

/* Fields that are all at one place. */
START_TEST(more_fields_than_room)
{
	const uint32_t count = 40000;
	struct fake_fields *many;
	uint16_t *at;

	build();
	many = calloc(1, sizeof(*many) + count * 12UL);
	at = many->at; /* it goes on behind the array of the type */
	for (uint32_t i = 0; i < count; i++)
		memcpy(at + 6 * i, f->node_fields.at, 12);
	many->length = (int32_t)(6 * count);
	f->node.fields = f->weak.fields = AT(many);
	f->node.java_fields = f->weak.java_fields = (uint16_t)count;
	f->weak.super = AT(&f->node);
	f->weak.helper = 48;
	ck_assert_int_eq(klasses_read(&f->classes, AT(&f->class)), 0);
	ck_assert_int_ge(klasses_find(&f->classes, AT(&f->node)), 0);
	/* With those of its superclass, its values take more than 512 KiB. */
	ck_assert_int_lt(klasses_find(&f->classes, AT(&f->weak)), 0);
	ck_assert_uint_lt(f->classes.fields.count, 2 * count); /* what was refused takes no room */
	free(many);
	demolish();
}
END_TEST

/* Classes that are refused again and again are not looked at for ever. */
START_TEST(classes_that_take_time)
{
	uint64_t wasted;

	build();
	reach_begin();
	f->reference_fields.at[4] = 0xfff0;
	f->weak.fields = AT(&f->reference_fields);
	f->classes.wasted = 0;
	for (uint32_t i = 0; i < 100; i++)
		ck_assert_int_lt(klasses_find(&f->classes, AT(f->heap) + 8 * (i + 1)), 0);
	ck_assert_uint_ge(f->classes.wasted, 100);
	f->classes.wasted = wasted = 1ULL << 40;
	ck_assert_int_ge(klasses_find(&f->classes, AT(&f->node)), 0); /* it is known */
	ck_assert_int_lt(klasses_find(&f->classes, AT(f->heap)), 0);
	ck_assert_uint_eq(f->classes.wasted, wasted);
	demolish();
}
END_TEST

/* Each of a thousand arrays has all that follows it: together, they are much longer than the heap. */
START_TEST(objects_that_overlap)
{
	size_t counts[3] = {0};
	uint64_t first;

	build();
	first = AT(f->heap) + f->used;
	f->used += 2000 * 32UL;
	reach_begin();
	f->reach.left = f->reach.most = 8 * HEAP_BYTES;
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t array = first + 64 * i;

		*word(array, 8) = AT(&f->ints);
		*(uint32_t *)(array + 16) = HEAP_BYTES / 4 - 65536;
		reach_mark(&f->reach, array);
	}
	ck_assert_int_eq(reach_close_over(&f->reach), -EFBIG);
	f->reach.exhausted = false;
	ck_assert_int_eq(reach_each(&f->reach, count, counts), -EFBIG);
	ck_assert_uint_lt(counts[2], 16);
	demolish();
}
END_TEST

/* ---- tables of the agent's ---- */

/* They are read again after they were checked, and may be different then. */
START_TEST(roots_that_change)
{
	struct {
		struct braid_heap_roots head;
		struct braid_heap_root root[2];
	} table = {.root = {{.kind = BRAID_ROOT_JNI_GLOBAL, .object = 0x10},
			    {.kind = BRAID_ROOT_JNI_GLOBAL, .object = UINT64_MAX - 7}}};
	struct heapdump d = {.roots = AT(&table)};
	struct writer w;

	build();
	w = writer_of(&d, new_object(&f->node, 40));
	w.head.count = 2;
	ck_assert_int_eq(roots_write(&w), 0);
	ck_assert_uint_eq(d.roots_written, 0);
	demolish();
}
END_TEST

static struct heapdump_allocated known;

static const struct heapdump_allocated *known_read(void *ctx)
{
	(void)ctx;
	return &known;
}

/* Writes the sites of two objects with these weights. Returns the bytes in the file; 0: they are refused. */
static size_t sites_of(uint64_t first, uint64_t second, uint8_t *to, size_t size)
{
	static struct heapdump_stack stack;
	static struct heapdump_object objects[] = {{.number = 1}, {.number = 2}};
	uint64_t node, next;
	struct braid_heap_watched table[] = {{.slot = AT(&node), .bytes = 40, .weight = first, .number = 1},
					     {.slot = AT(&next), .bytes = 40, .weight = second, .number = 2}};
	struct heapdump d = {.allocated_read = known_read};
	const char *path = path_in("sites");
	struct writer w;
	uint64_t bytes = 0;
	int err;

	known.stacks.at = &stack;
	known.stacks.count = 1;
	known.objects.at = objects;
	known.objects.count = 2;
	build();
	node = new_object(&f->node, 40);
	next = *word(node, 16) = new_object(&f->node, 40);
	w = writer_of(&d, node);
	w.head.watched = AT(table);
	w.head.watched_count = 2;
	err = allocations_read(&w);
	if (!err) {
		FILE *file;

		ck_assert_int_eq(output_open(&d.output, path, &f->stop), 0);
		ck_assert_int_eq(records_open(&w.out, d.output, 0), 0);
		ck_assert_int_eq(allocations_write(&w), 0);
		ck_assert_int_eq(records_end(&w.out), 0);
		ck_assert_int_eq(output_close(d.output, true, &bytes), 0);
		ck_assert_uint_le(bytes, size);
		file = fopen(path, "r");
		ck_assert_uint_eq(fread(to, 1, size, file), bytes);
		fclose(file);
		unlink(path);
	}
	ck_assert(!err || err == -EFBIG);
	records_close(&w.out);
	pair_map_free(&w.site_of);
	pair_map_free(&w.stack_of);
	free(w.sites.at);
	demolish();
	return bytes;
}

#define FILE_HEAD 31  /* version, size of ids, time */
#define RECORD_HEAD 9 /* tag, time, length */

/* What the table says of allocated bytes is bounded, and fits the records' numbers. */
START_TEST(weights)
{
	static uint8_t bytes[1U << 20];
	size_t size = sites_of(5ULL << 32, 1ULL << 32, bytes, sizeof(bytes)), at = FILE_HEAD;
	uint32_t length = 0, entries;

	for (; at < size && bytes[at] != HPROF_END; at += RECORD_HEAD + length) {
		memcpy(&length, bytes + at + 5, sizeof(length));
		length = be32toh(length);
		if (bytes[at] != HPROF_SITES)
			continue;
		memcpy(&entries, bytes + at + RECORD_HEAD + 30, sizeof(entries));
		ck_assert_uint_eq(be32toh(entries), 7);
		ck_assert_uint_eq(length, 34 + 25 * 7);
	}
	ck_assert_uint_eq(at + RECORD_HEAD, size);
	ck_assert_uint_gt(sites_of((1ULL << 44) - 1, 1, bytes, sizeof(bytes)), 4096 * 25);
	ck_assert_uint_eq(sites_of(1ULL << 44, 1, bytes, sizeof(bytes)), 0);
	ck_assert_uint_eq(sites_of(1ULL << 63, 1ULL << 63, bytes, sizeof(bytes)), 0);
}
END_TEST

Suite *test_heapdump_damage(void)
{
	Suite *s = suite_create("heapdump damage");
	TCase *c = tcase_create("all");

	tcase_add_checked_fixture(c, directory_make, directory_remove);
	tcase_add_test(c, damaged_histograms);
	tcase_add_test(c, damaged_frames);
	tcase_add_test(c, damage);
	tcase_add_test(c, damaged_classes);
	tcase_add_test(c, classes_that_do_not_fit);
	tcase_add_test(c, more_fields_than_room);
	tcase_add_test(c, classes_that_take_time);
	tcase_add_test(c, objects_that_overlap);
	tcase_add_test(c, roots_that_change);
	tcase_add_test(c, weights);
	suite_add_tcase(s, c);
	return s;
}
