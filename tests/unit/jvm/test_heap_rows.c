// SPDX-License-Identifier: Apache-2.0
/* Tests of an agent's rows of histograms of the heap. */
#include "unit/jvm_fixture.h"

Suite *test_heap_rows(void);

/* Loaders of one class differ in their hash codes; sums of classes have names that say so. */
START_TEST(rows_of_the_heap)
{
	struct braid_rec_heap_class r = {
		.hdr = {.kind = BRAID_REC_HEAP_CLASS, .time_ns = 100},
		.number = 2,
		.bytes = 48,
		.objects = 3,
		.loader_hash = 0x1f2e,
		.class_len = 4,
		.loader_len = 7,
		.loader_name_len = 3,
	};
	const struct trace_jvm_event *e = &last[BRAID_JVM_HEAP_CLASS];

	send(&r, sizeof(r), "[La;Lx/Ldr;app");
	ck_assert_str_eq(names[e->name], "a[]");
	ck_assert_str_eq(names[e->detail], "x.Ldr 'app' @1f2e");
	ck_assert_uint_eq(e->value, 48);
	ck_assert_uint_eq(e->weight, 3);
	ck_assert_uint_eq(e->number, 2);
	ck_assert_uint_eq(e->flags, 0);

	r.loader_name_len = 0;
	r.loader_len = 21;
	send(&r, sizeof(r), "[La;Ljava/net/TheLoader2;");
	ck_assert_uint_eq(count[BRAID_JVM_HEAP_CLASS], 2);
	ck_assert_str_eq(names[e->detail], "java.net.TheLoader2 @1f2e");

	r.class_len = r.loader_len = 0;
	r.which = BRAID_HEAP_ROW_REST;
	r.classes = 17;
	send(&r, sizeof(r), NULL);
	ck_assert_str_eq(names[e->name], "[other classes]");
	ck_assert_uint_eq(e->detail, 0);
	ck_assert_uint_eq(e->flags, 17);

	r.which = BRAID_HEAP_ROW_LATER;
	r.classes = 0;
	send(&r, sizeof(r), NULL);
	ck_assert_str_eq(names[e->name], "[classes loaded meanwhile]");
	ck_assert_uint_eq(e->flags, 1);

	r.class_len = 1; /* beyond its end */
	send(&r, sizeof(r), NULL);
	ck_assert_uint_eq(count[BRAID_JVM_HEAP_CLASS], 4);
}
END_TEST

Suite *test_heap_rows(void)
{
	Suite *suite = suite_create("heap rows");
	TCase *tc = tcase_create("records");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, rows_of_the_heap);
	suite_add_tcase(suite, tc);
	return suite;
}
