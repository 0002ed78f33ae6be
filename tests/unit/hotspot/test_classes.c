// SPDX-License-Identifier: Apache-2.0
/*
 * Tests of what is read of a JVM's classes and heap from outside, in memory that looks like a VM's, and that does not.
 */
#include "fake_vm.h"

Suite *test_classes(void);

enum { A, B, ABSENT, CLASSES };

static uint16_t x, y, none;
static uint64_t klass_a, klass_b;
static struct class_wanted classes[CLASSES];

static const struct field_wanted wanted[] = {
	{A, "x", "I", &x}, {B, "y", "Ljava/lang/String;", &y}, {A, "x", "J", &none}, {ABSENT, "x", "I", &none}};

static void setup(void)
{
	const struct fake_field of_a[] = {{"w", "I", 12}, {"x", "I", 16}},
				of_b[] = {{"y", "Ljava/lang/String;", 40000}};

	fake_setup();
	klass_a = make_class("demo/A", 24, of_a, 2);
	make_class("demo/Other", 16, NULL, 0);
	klass_b = make_class("demo/B", 24, of_b, 1);
}

static void find(void)
{
	x = y = none = 0;
	classes[A] = (struct class_wanted){.name = "demo/A"};
	classes[B] = (struct class_wanted){.name = "demo/B"};
	classes[ABSENT] = (struct class_wanted){.name = "demo/Absent"};
	classes_find(&heap.classes, classes, CLASSES, wanted, sizeof(wanted) / sizeof(wanted[0]));
}

START_TEST(classes_and_fields)
{
	find();
	ck_assert_uint_eq(classes[A].klass, klass_a);
	ck_assert_uint_eq(classes[B].klass, klass_b);
	ck_assert_uint_eq(classes[ABSENT].klass, 0);
	ck_assert_uint_eq(x, 16);
	ck_assert_uint_eq(y, 40000);
	ck_assert_uint_eq(none, 0);
}
END_TEST

/* Before 9 there is no list, but the subclasses of Object are siblings. */
START_TEST(siblings)
{
	put(heap.classes.object_klass + K_SUBCLASS, vm.first);
	heap.classes.loader = heap.classes.loader_klasses = 0;
	heap.classes.subclass = K_SUBCLASS;
	vm.loader[1] = NOWHERE;
	find();
	ck_assert_uint_eq(classes[A].klass, klass_a);
	ck_assert_uint_eq(classes[B].klass, klass_b);
	ck_assert_uint_eq(x, 16);
	put(heap.classes.object_klass + K_SUBCLASS, NOWHERE);
	find();
	ck_assert_uint_eq(classes[A].klass, 0);
}
END_TEST

/* fieldInfo.hpp, 21 and later: each number is one byte here, one more than its value. */
START_TEST(fields_in_a_stream)
{
	const uint8_t stream[] = {2 + 1, 0 + 1, 1 + 1,	2 + 1, 12 + 1, 0 + 1, 0 + 1,
				  3 + 1, 4 + 1, 16 + 1, 0 + 1, 1 + 1,  9 + 1};
	uint64_t array = make(4 + sizeof(stream));

	put_int(array, sizeof(stream));
	memcpy((void *)(uintptr_t)(array + 4), stream, sizeof(stream));
	put(klass_a + K_FIELDS, array);
	heap.classes.field_stream = K_FIELDS;
	find();
	ck_assert_uint_eq(x, 16);
	for (int32_t length = (int32_t)sizeof(stream); length >= 0; length--) { /* it ends anywhere */
		put_int(array, length);
		find();
		ck_assert_uint_eq(classes[A].klass, klass_a);
		ck_assert_uint_eq(x, length >= 10 ? x : 0);
	}
	memset((void *)(uintptr_t)(array + 4), 0xff, sizeof(stream)); /* four billion fields */
	for (int32_t length = 1; length > 0; length = length > INT32_MAX / 2 ? -1 : length * 2) {
		put_int(array, length);
		find();
		ck_assert_uint_eq(x, 0);
	}
	put_int(array, -1);
	find();
	ck_assert_uint_eq(x, 0);
}
END_TEST

/* The list of classes never ends, or leads to nowhere. */
START_TEST(lists_without_end)
{
	put(klass_b + K_NEXT, klass_b);
	find();
	ck_assert_uint_eq(classes[B].klass, klass_b);
	ck_assert_uint_eq(classes[A].klass, 0);
	put(klass_b + K_NEXT, NOWHERE);
	find();
	ck_assert_uint_eq(classes[A].klass, 0);
	put(klass_b + K_NEXT, UINT64_MAX - 8);
	find();
	vm.loader[1] = NOWHERE;
	find();
	ck_assert_uint_eq(classes[B].klass, 0);
	heap.classes.object_klass = NOWHERE;
	find();
	ck_assert_uint_eq(classes[B].klass, 0);
}
END_TEST

START_TEST(names_that_are_none)
{
	put(klass_a + K_NAME, NOWHERE);
	put(klass_b + K_POOL, NOWHERE);
	find();
	ck_assert_uint_eq(classes[A].klass, 0);
	ck_assert_uint_eq(classes[B].klass, klass_b);
	ck_assert_uint_eq(y, 0);
	heap.layout.symbol_body = 4000; /* a text far from its length */
	heap.layout.symbol_length = 2000;
	find();
	heap.layout.klass_name = 60000;
	find();
	ck_assert_uint_eq(classes[B].klass, 0);
}
END_TEST

START_TEST(any_classes)
{
	static uint8_t before[FAKE_BYTES];

	memcpy(before, vm.bytes, sizeof(before));
	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < 4; i++)
			damage_word();
		put(klass_b + K_NEXT, round % 4 ? NOWHERE : klass_a); /* no long lists: they have a test of their own */
		heap.classes.field_stream = round % 2 ? K_FIELDS : 0;
		find();
		memcpy(vm.bytes, before, vm.used);
	}
	heap.classes.field_stream = 0;
	find();
	ck_assert_uint_eq(x, 16);
}
END_TEST

/* ---- the heap ---- */

START_TEST(arrays)
{
	uint64_t array = make_array(3), elements;
	uint32_t length;

	ck_assert(java_heap_array(&heap, array, &length, &elements));
	ck_assert_uint_eq(length, 3);
	ck_assert_uint_eq(elements, array + ARRAY_HEAD);
	put_int(array + 16, -1);
	ck_assert(java_heap_array(&heap, array, &length, &elements)); /* its readers have a limit */
	ck_assert_uint_eq(length, UINT32_MAX);
	ck_assert(!java_heap_array(&heap, make_object(klass_a, 24), &length, &elements));
	ck_assert(!java_heap_array(&heap, NOWHERE, &length, &elements));
	ck_assert(!java_heap_array(&heap, 0, &length, &elements));
	put_int(vm.array + K_HELPER, (int32_t)(0x80000000U | 0xff << 16));
	ck_assert(!java_heap_array(&heap, array, &length, &elements));
	put(array + 8, NOWHERE);
	ck_assert(!java_heap_array(&heap, array, &length, &elements));
}
END_TEST

START_TEST(words_of_chunks)
{
	const uint64_t chunks[] = {address(vm.bytes), 1ULL << 34, 1ULL << 45};
	const struct java_moment m = {.bad = 0xe000};
	struct braid_objects *o = &heap.layout.objects;

	for (size_t i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++) {
		uint64_t chunk = chunks[i], object = chunk + 0x1f008;

		o->oops = BRAID_OOPS_COMPRESSED;
		o->oop_base = chunk - 0x1000;
		ck_assert_uint_eq(java_heap_decode_frozen(&heap, &(struct java_moment){0}, chunk, 0x20008), object);
		ck_assert_uint_eq(java_heap_decode_frozen(&heap, &(struct java_moment){0}, chunk, object), object);
		o->oops = BRAID_OOPS_COLOURED;
		ck_assert_uint_eq(java_heap_decode_frozen(&heap, &m, chunk, object << 13 | 1 << 12), object);
		ck_assert_uint_eq(java_heap_decode_frozen(&heap, &m, chunk, object << 14 | 1 << 13), 0); /* stale */
		ck_assert_uint_eq(java_heap_decode_frozen(&heap, &m, chunk, object), object);
		ck_assert_uint_eq(java_heap_decode_frozen(&heap, &m, chunk, 0), 0);
	}
}
END_TEST

START_TEST(sizes_of_objects)
{
	ck_assert_uint_eq(java_heap_instance_bytes(&heap, klass_a), 24);
	put_int(klass_a + K_HELPER, 24 | 1);
	ck_assert_uint_eq(java_heap_instance_bytes(&heap, klass_a), 24);
	put_int(klass_a + K_HELPER, 1 << 20);
	ck_assert_uint_eq(java_heap_instance_bytes(&heap, klass_a), 0);
	ck_assert_uint_eq(java_heap_instance_bytes(&heap, vm.array), 0);
	ck_assert_uint_eq(java_heap_instance_bytes(&heap, NOWHERE), 0);
}
END_TEST

/* Reads of some and many bytes, close together and far apart, of which some fail. */
START_TEST(many_reads)
{
	enum { READS = 3000 };
	static struct java_read reads[READS];
	static uint64_t words[READS];
	static uint8_t large[1 << 17];

	for (uint32_t i = 0; i < FAKE_BYTES / 8; i++)
		put(address(vm.bytes) + i * 8, i);
	for (size_t i = 0; i < READS; i++)
		reads[i] = (struct java_read){.address = address(vm.bytes) + fake_random() % (FAKE_BYTES / 8) * 8,
					      .to = &words[i],
					      .size = 8,
					      .ok = true};
	reads[7].address = NOWHERE;
	reads[8].address = UINT64_MAX - 3;
	reads[9].address = 8;
	reads[10] = (struct java_read){.address = address(vm.bytes), .to = large, .size = sizeof(large)};
	reads[11] = (struct java_read){.address = NOWHERE, .to = large, .size = sizeof(large), .ok = true};
	reads[12].size = 0;
	java_heap_read(&heap, reads, READS);
	for (size_t i = 0; i < READS; i++) {
		ck_assert_msg(reads[i].ok == (i < 7 || i == 10 || i > 12), "read %zu", i);
		if (reads[i].ok && i != 10)
			ck_assert_uint_eq(words[i], (reads[i].address - address(vm.bytes)) / 8);
	}
	ck_assert_int_eq(memcmp(large, vm.bytes, sizeof(large)), 0);
}
END_TEST

START_TEST(moments)
{
	struct java_moment m, again;

	ck_assert(java_heap_now(&heap, &m) && java_heap_now(&heap, &again) && java_moment_same(&m, &again));
	vm.collections++;
	ck_assert(java_heap_now(&heap, &again) && !java_moment_same(&m, &again));
	vm.active = 1;
	ck_assert(!java_heap_now(&heap, &m));
	heap.active_at = NOWHERE;
	ck_assert(!java_heap_now(&heap, &m));
}
END_TEST

Suite *test_classes(void)
{
	Suite *s = suite_create("classes");
	TCase *t = tcase_create("classes");

	tcase_add_checked_fixture(t, setup, fake_teardown);
	tcase_add_test(t, siblings);
	tcase_add_test(t, classes_and_fields);
	tcase_add_test(t, fields_in_a_stream);
	tcase_add_test(t, lists_without_end);
	tcase_add_test(t, names_that_are_none);
	tcase_add_test(t, any_classes);
	suite_add_tcase(s, t);
	t = tcase_create("heap");
	tcase_add_checked_fixture(t, setup, fake_teardown);
	tcase_add_test(t, arrays);
	tcase_add_test(t, words_of_chunks);
	tcase_add_test(t, sizes_of_objects);
	tcase_add_test(t, many_reads);
	tcase_add_test(t, moments);
	suite_add_tcase(s, t);
	return s;
}
