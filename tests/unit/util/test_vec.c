// SPDX-License-Identifier: Apache-2.0
/* Tests of growing arrays. */
#include <check.h>
#include <stdint.h>
#include <stdlib.h>

#include <util/vec.h>

Suite *test_vec(void);

START_TEST(items_are_appended)
{
	struct pair {
		int a, b;
	};
	VEC(struct pair) v = {0};

	for (int i = 0; i < 1000; i++)
		ck_assert_int_eq(VEC_PUSH(&v, (struct pair){i, -i}), 0);
	ck_assert_uint_eq(v.count, 1000);
	ck_assert_uint_ge(v.room, 1000);
	for (int i = 0; i < 1000; i++)
		ck_assert(v.at[i].a == i && v.at[i].b == -i);
	free(v.at);
}
END_TEST

/* A size beyond all memory is an error and leaves the array as it was. */
START_TEST(too_much_changes_nothing)
{
	VEC(uint64_t) v = {0};
	uint64_t *at;
	size_t room;

	ck_assert_int_eq(VEC_PUSH(&v, 7), 0);
	at = v.at;
	room = v.room;
	ck_assert_int_eq(VEC_RESERVE(&v, SIZE_MAX), -ENOMEM);
	ck_assert_int_eq(VEC_RESERVE(&v, SIZE_MAX - 1), -ENOMEM);
	ck_assert_int_eq(VEC_RESERVE(&v, SIZE_MAX / 4), -ENOMEM);
	ck_assert_int_eq(VEC_RESERVE(&v, SIZE_MAX / 64), -ENOMEM);
	ck_assert_ptr_eq(v.at, at);
	ck_assert_uint_eq(v.room, room);
	ck_assert_uint_eq(v.count, 1);
	ck_assert_uint_eq(v.at[0], 7);
	free(v.at);
}
END_TEST

Suite *test_vec(void)
{
	Suite *s = suite_create("vec");
	TCase *tc = tcase_create("vec");

	tcase_add_test(tc, items_are_appended);
	tcase_add_test(tc, too_much_changes_nothing);
	suite_add_tcase(s, tc);
	return s;
}
