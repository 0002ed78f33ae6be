// SPDX-License-Identifier: Apache-2.0
/* Tests of what files of other users may cost, each user and all together. */
#include "process/module_budget.h"
#include "util/clock.h"

#include <check.h>
#include <unistd.h>

Suite *test_module_budget(void);

#define STRANGER 65534U
#define OTHER 65533U
#define THIRD 65532U

static struct pools pools;

static void setup(void)
{
	pools_open(&pools, &(struct pool_room){.tables = 4096, .rows = 4000, .pages = 4000});
}

static void teardown(void)
{
	pools_close(&pools);
}

static struct share *share_of(uid_t user)
{
	return module_share(pools_share(&pools, user));
}

START_TEST(root_and_the_recording_user_are_not_counted)
{
	ck_assert_ptr_null(share_of(0));
	ck_assert_ptr_null(share_of(geteuid()));
	ck_assert_ptr_nonnull(share_of(STRANGER));
	ck_assert_ptr_eq(share_of(STRANGER), share_of(STRANGER));
	ck_assert(module_may_exist(NULL, 1));
	ck_assert(module_may_work(NULL, now_ns()));
	module_spent(NULL, 1);
	ck_assert_uint_eq(module_user_turn(NULL), 0);
	ck_assert(module_may_have_table(NULL, UINT64_MAX, UINT64_MAX));
	ck_assert(module_may_have_symbols(NULL));
	ck_assert(module_may_bind(NULL));
}
END_TEST

START_TEST(tables_of_strangers_leave_room)
{
	struct share *a = share_of(STRANGER), *other = share_of(OTHER);

	ck_assert(module_may_have_table(a, 1000, 1));
	ck_assert(module_may_have_table(a, 1000, 1));
	ck_assert(!module_may_have_table(a, 1, 1));
	ck_assert(!module_may_have_table(other, 2001, 1));
	ck_assert(!module_may_have_table(other, 1, 4000));
	ck_assert(module_may_have_table(other, 600, 1));
	ck_assert(!module_may_have_table(other, 500, 1)); /* all together */
	ck_assert(module_may_have_table(share_of(THIRD), 200, 1));
	ck_assert(module_first_left_out(a));
	ck_assert(!module_first_left_out(a));
	ck_assert(module_first_left_out(other));
}
END_TEST

/* Files with hardly any code. */
START_TEST(many_small_tables_leave_room)
{
	struct share *a = share_of(STRANGER);
	int count = 0;

	while (count < 4096 && module_may_have_table(a, 0, 0))
		count++;
	ck_assert_int_lt(count, 3072);
	for (int i = 0; i < 512; i++)
		ck_assert(module_may_have_table(share_of(OTHER), 0, 0));
}
END_TEST

/* However many users have taken theirs. */
START_TEST(modules_and_symbols_are_few)
{
	struct share *a = share_of(STRANGER), *other = share_of(OTHER);
	int count = 0;

	while (count < 1 << 20 && module_may_exist(a, 8192))
		count++;
	ck_assert_int_lt(count, 4096);
	ck_assert(module_may_exist(other, 8192));
	module_is_for_all(a, 2 * 8192);
	ck_assert(module_may_exist(a, 8192));
	ck_assert(module_may_have_symbols(a));
	module_has_symbols(a, 48UL << 20);
	ck_assert(!module_may_have_symbols(a));
	ck_assert(module_may_have_symbols(other));
	module_has_symbols(other, 12UL << 20);
	ck_assert(module_may_have_symbols(share_of(THIRD)));
	module_has_symbols(share_of(THIRD), 12UL << 20);
	ck_assert(!module_may_have_symbols(other));
}
END_TEST

START_TEST(bound_names_are_few)
{
	struct share *a = share_of(STRANGER);
	int count = 0;

	for (count = 0; count < 1 << 20 && module_may_bind(a); count++)
		;
	ck_assert_int_lt(count, 1 << 15);
	ck_assert(module_may_bind(share_of(OTHER)));
}
END_TEST

START_TEST(work_ends_and_time_gives_some_back)
{
	struct share *a = share_of(STRANGER), *other = share_of(OTHER);
	uint64_t since = now_ns();

	ck_assert(module_may_work(a, since));
	module_spent(a, 7000000000ULL);
	ck_assert(!module_may_work(a, since));
	ck_assert(module_may_work(other, since));
	ck_assert_uint_lt(module_user_turn(other), module_user_turn(a));
	ck_assert(module_may_work(a, since - 3600000000000ULL)); /* after an hour of recording */
}
END_TEST

Suite *test_module_budget(void)
{
	Suite *s = suite_create("module_budget");
	TCase *t = tcase_create("budget");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, root_and_the_recording_user_are_not_counted);
	tcase_add_test(t, tables_of_strangers_leave_room);
	tcase_add_test(t, many_small_tables_leave_room);
	tcase_add_test(t, modules_and_symbols_are_few);
	tcase_add_test(t, bound_names_are_few);
	tcase_add_test(t, work_ends_and_time_gives_some_back);
	suite_add_tcase(s, t);
	return s;
}
