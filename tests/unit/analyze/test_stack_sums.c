// SPDX-License-Identifier: Apache-2.0
/* Tests of sums by thread and stack. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <analyze/stack_sums.h>

#include "unit/many.h"

Suite *test_stack_sums(void);

#define THREADS 40U
#define STACKS 5000U

static uint64_t state = 88172645463325252ULL;

static uint32_t draw(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state % below);
}

/* Millions of sums in any order are those of a plain array, in the order of their keys. */
START_TEST(sums_are_those_of_an_array)
{
	uint64_t *plain = calloc(THREADS * STACKS, sizeof(*plain));
	struct stack_sums sums = {0};
	struct stack_sums_cursor c;
	const struct stack_sum *s;
	size_t at = 0, distinct = 0;

	for (unsigned i = 0; i < MANY(1000000); i++) {
		struct stack_sum one = {.thread = draw(THREADS), .stack = draw(STACKS), .weight = draw(3) + 1};

		plain[one.thread * STACKS + one.stack] += one.weight;
		ck_assert_int_eq(stack_sums_add(&sums, &one), 0);
	}
	ck_assert_int_eq(stack_sums_order(&sums), 0);
	for (stack_sums_begin(&c, &sums); (s = stack_sums_next(&c)); at++, distinct++) {
		for (; !plain[at]; at++)
			;
		ck_assert_uint_eq(s->thread, at / STACKS);
		ck_assert_uint_eq(s->stack, at % STACKS);
		ck_assert_uint_eq(s->xframe, 0);
		ck_assert_uint_eq(s->leaf, 0);
		ck_assert_uint_eq(s->weight, plain[at]);
	}
	for (; at < (size_t)THREADS * STACKS; at++)
		ck_assert_uint_eq(plain[at], 0);
	ck_assert_uint_eq(stack_sums_count(&sums), distinct);
	ck_assert_uint_lt(sums.packed.bytes.count, distinct * 5);
	stack_sums_free(&sums);
	free(plain);
}
END_TEST

/* Each part of the key distinguishes; numbers are as large as they can be, and weights stay at the largest one. */
START_TEST(keys_are_distinguished)
{
	static const struct stack_sum all[] = {
		{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT64_MAX},
		{3, 7, 0, 0, 1},
		{3, 7, 0, 2, 2},
		{3, 7, 1, 0, 4},
		{3, UINT32_MAX, 0, 0, 8},
		{4, 0, 0, 0, 16},
		{3, 7, 0, 2, 32},
		{0, UINT32_MAX, 1, 0, 64},
		{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, 1},
	};
	static const struct stack_sum expected[] = {
		{0, UINT32_MAX, 1, 0, 64},
		{3, 7, 0, 0, 1},
		{3, 7, 0, 2, 34},
		{3, 7, 1, 0, 4},
		{3, UINT32_MAX, 0, 0, 8},
		{4, 0, 0, 0, 16},
		{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT64_MAX},
	};
	struct stack_sums sums = {0};
	struct stack_sums_cursor c;
	const struct stack_sum *s;
	size_t i = 0;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		ck_assert_int_eq(stack_sums_add(&sums, &all[i]), 0);
	ck_assert_int_eq(stack_sums_order(&sums), 0);
	for (i = 0, stack_sums_begin(&c, &sums); (s = stack_sums_next(&c)); i++)
		ck_assert_int_eq(memcmp(s, &expected[i], sizeof(*s)), 0);
	ck_assert_uint_eq(i, sizeof(expected) / sizeof(expected[0]));
	stack_sums_free(&sums);
}
END_TEST

/* What comes in order is packed at once; without an order, all sums are there, too. */
START_TEST(sums_in_order_are_packed_at_once)
{
	struct stack_sums sums = {0};
	struct stack_sums_cursor c;
	const struct stack_sum *s;
	uint64_t weight = 0;

	stack_sums_begin(&c, &sums);
	ck_assert_ptr_null(stack_sums_next(&c));
	ck_assert_int_eq(stack_sums_order(&sums), 0);
	for (uint32_t i = 1; i <= 10; i++)
		ck_assert_int_eq(stack_sums_add(&sums, &(struct stack_sum){.thread = 1, .stack = i, .weight = i}), 0);
	ck_assert_uint_eq(sums.fresh.count, 0);
	ck_assert_int_eq(stack_sums_add(&sums, &(struct stack_sum){.thread = 1, .stack = 3, .weight = 100}), 0);
	ck_assert_uint_eq(sums.fresh.count, 1);
	for (stack_sums_begin(&c, &sums); (s = stack_sums_next(&c));)
		weight += s->weight;
	ck_assert_uint_eq(weight, 155);
	ck_assert_int_eq(stack_sums_order(&sums), 0);
	ck_assert_uint_eq(stack_sums_count(&sums), 10);
	stack_sums_free(&sums);
}
END_TEST

Suite *test_stack_sums(void)
{
	Suite *s = suite_create("stack_sums");
	TCase *tc = tcase_create("stack_sums");

	tcase_add_test(tc, sums_are_those_of_an_array);
	tcase_add_test(tc, keys_are_distinguished);
	tcase_add_test(tc, sums_in_order_are_packed_at_once);
	suite_add_tcase(s, tc);
	return s;
}
