// SPDX-License-Identifier: Apache-2.0
/* Code at addresses that are used again: by time, and by the compile id that a frame brings. */
#include "jvm/code_map.h"

#include <braid/frame.h>
#include <braid/ring.h>

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct code_map map;

static void setup(void)
{
	map = (struct code_map){0};
}

static void teardown(void)
{
	code_map_free(&map);
}

static struct code *add(uint64_t address, uint64_t size, uint64_t load_ns, uint32_t compile_id, const char *name)
{
	struct code *c = calloc(1, sizeof(*c));

	*c = (struct code){.address = address, .size = size, .load_ns = load_ns, .compile_id = compile_id};
	c->name = name ? strdup(name) : NULL;
	ck_assert_int_eq(code_map_add(&map, c), 0);
	return c;
}

START_TEST(by_time)
{
	struct code *first = add(1000, 100, 10, 0, NULL), *second;

	first->unload_ns = 20;
	second = add(1050, 100, 30, 0, NULL);
	ck_assert_ptr_eq(code_map_find(&map, 1060, 0, 15), first);
	ck_assert_ptr_eq(code_map_find(&map, 1060, 0, 25), second); /* its record came late */
	ck_assert_ptr_eq(code_map_find(&map, 1060, 0, 35), second);
	ck_assert_ptr_null(code_map_find(&map, 1010, 0, 35));
	ck_assert_ptr_null(code_map_find(&map, 999, 0, 15));
	ck_assert_ptr_null(code_map_find(&map, 1150, 0, 35));
}
END_TEST

/* Records of code are late: only the id tells what ran. */
START_TEST(by_id)
{
	struct code *first = add(1000, 100, 10, 5, NULL), *second;

	ck_assert_ptr_null(code_map_find(&map, 1010, 6, 15)); /* still under way */
	first->unload_ns = 20;
	second = add(1000, 100, 30, 6, NULL);
	ck_assert_ptr_eq(code_map_find(&map, 1010, 6, 15), second);
	ck_assert_ptr_eq(code_map_find(&map, 1010, 5, 15), first);
	ck_assert_ptr_eq(code_map_find(&map, 1010, 5, 40), first);
	ck_assert_ptr_eq(code_map_find(&map, 1010, 0, 40), second);
	ck_assert_ptr_null(code_map_find(&map, 1010, 7, 40));
}
END_TEST

/* A frame has the low bits only; of several codes that have them time decides. */
START_TEST(by_id_and_time)
{
	struct code *first = add(1000, 100, 10, 5, NULL), *second;

	first->unload_ns = 20;
	second = add(1000, 100, 30, 5 + 2048, NULL);
	ck_assert_ptr_eq(code_map_find(&map, 1010, 5, 15), first);
	ck_assert_ptr_eq(code_map_find(&map, 1010, 5, 40), second);
}
END_TEST

/* Bits that are all 0 would mean that the frame has no id. */
START_TEST(id_of_zeroes)
{
	struct code *first = add(1000, 100, 10, 2048, NULL), *second;

	second = add(1000, 100, 30, 2049, NULL);
	ck_assert_uint_ne(braid_code_id(2048), 0);
	ck_assert_uint_eq(braid_code_id(0), 0);
	ck_assert_ptr_eq(code_map_find(&map, 1010, braid_code_id(2048), 40), first);
	ck_assert_ptr_eq(code_map_find(&map, 1010, braid_code_id(2049), 20), second);
}
END_TEST

/* What a frame in a stub says for an id means nothing; and a record without one may be any. */
START_TEST(without_id)
{
	struct code *blob = add(1000, 100, 10, 0, "blob"), *routine = add(1020, 10, 10, 0, "routine"),
		    *method = add(2000, 100, 10, 0, NULL);

	ck_assert_ptr_eq(code_map_find(&map, 1010, 77, 15), blob);
	ck_assert_ptr_eq(code_map_find(&map, 1025, 77, 15), routine);
	ck_assert_ptr_eq(code_map_find(&map, 2010, 77, 15), method);
}
END_TEST

START_TEST(purged)
{
	struct code *first = add(1000, 100, 10, 5, NULL);

	first->unload_ns = 20;
	add(3000, 100, 10, 6, NULL);
	code_map_purge(&map, 20);
	ck_assert_ptr_eq(code_map_find(&map, 1010, 5, 15), first);
	code_map_purge(&map, 21);
	ck_assert_ptr_null(code_map_find(&map, 1010, 5, 15));
	ck_assert_ptr_nonnull(code_map_find(&map, 3010, 6, 15));
}
END_TEST

Suite *test_code_map(void);

Suite *test_code_map(void)
{
	Suite *suite = suite_create("code_map");
	TCase *tc = tcase_create("code_map");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, by_time);
	tcase_add_test(tc, by_id);
	tcase_add_test(tc, by_id_and_time);
	tcase_add_test(tc, id_of_zeroes);
	tcase_add_test(tc, without_id);
	tcase_add_test(tc, purged);
	suite_add_tcase(suite, tc);
	return suite;
}
