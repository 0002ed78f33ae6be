// SPDX-License-Identifier: Apache-2.0
/* Tests of the budget for modules: what files of other users may cost. */
#include "process/module_budget.h"
#include "sink/sink.h"

#include <check.h>
#include <unistd.h>

Suite *test_module_budget(void);

#define STRANGER 65534U
#define OTHER 65533U

START_TEST(root_and_the_recording_user_have_no_account)
{
	struct module_budget b = {0};

	ck_assert_ptr_null(module_account(&b, 0));
	ck_assert_ptr_null(module_account(&b, geteuid()));
	ck_assert_ptr_nonnull(module_account(&b, STRANGER));
	ck_assert_ptr_eq(module_account(&b, STRANGER), module_account(&b, STRANGER));
	ck_assert(module_may_exist(&b, NULL, 1));
	ck_assert(module_work_begin(&b, NULL));
	module_work_end(&b, NULL);
	ck_assert(module_may_have_table(&b, NULL, UINT64_MAX, UINT64_MAX));
	ck_assert(module_may_have_symbols(&b, NULL));
	module_budget_free(&b);
}
END_TEST

START_TEST(tables_of_strangers_leave_room)
{
	struct module_budget b = {.rows_max = 4000, .pages_max = 400};
	struct module_account *a = module_account(&b, STRANGER), *other = module_account(&b, OTHER);

	ck_assert(module_may_have_table(&b, a, 1000, 1));
	ck_assert(module_may_have_table(&b, a, 1000, 1));
	ck_assert(!module_may_have_table(&b, a, 1, 1));
	ck_assert(!module_may_have_table(&b, other, 1001, 1));
	ck_assert(!module_may_have_table(&b, other, 1, 201));
	ck_assert(module_may_have_table(&b, other, 1000, 1));
	ck_assert(!module_may_have_table(&b, other, 1, 1)); /* all together */
	ck_assert(module_first_left_out(a));
	ck_assert(!module_first_left_out(a));
	ck_assert(module_first_left_out(other));
	module_budget_free(&b);
}
END_TEST

START_TEST(modules_and_symbols_are_few)
{
	struct module_budget b = {0};
	struct module_account *a = module_account(&b, STRANGER);
	int count = 0;

	while (count < 1 << 20 && module_may_exist(&b, a, 100))
		count++;
	ck_assert_int_lt(count, 1 << 20);
	ck_assert(module_may_exist(&b, module_account(&b, OTHER), 100));
	module_is_for_all(&b, a, 100);
	ck_assert(module_may_exist(&b, a, 100));
	ck_assert(!module_may_exist(&b, a, 100));
	ck_assert(module_may_have_symbols(&b, a));
	module_has_symbols(&b, a, 40UL << 20);
	ck_assert(!module_may_have_symbols(&b, a));
	ck_assert(module_may_have_symbols(&b, module_account(&b, OTHER)));
	module_has_symbols(&b, a, 40UL << 20);
	ck_assert(!module_may_have_symbols(&b, module_account(&b, OTHER)));
	module_budget_free(&b);
}
END_TEST

START_TEST(paths_and_bound_names_are_few)
{
	struct module_budget b = {0};
	struct module_account *a = module_account(&b, STRANGER);
	int count = 0;

	while (count < 1 << 20 && module_may_exist(&b, a, 8192))
		count++;
	ck_assert_int_lt(count, 2048);
	ck_assert(module_may_exist(&b, module_account(&b, OTHER), 8192));
	for (count = 0; count < 1 << 20 && module_may_bind(&b, a); count++)
		;
	ck_assert_int_lt(count, 1 << 14);
	ck_assert(module_may_bind(&b, module_account(&b, OTHER)));
	ck_assert(module_may_bind(&b, NULL));
	module_budget_free(&b);
}
END_TEST

START_TEST(work_ends_and_time_gives_some_back)
{
	struct module_budget b = {.since_ns = now_ns()};
	struct module_account *a = module_account(&b, STRANGER);

	ck_assert(module_work_begin(&b, a));
	module_work_end(&b, a);
	ck_assert(module_work_begin(&b, a));
	b.spent_ns = 60000000000ULL;
	ck_assert(!module_work_begin(&b, a));
	b.since_ns = now_ns() - 3600000000000ULL; /* after an hour of recording */
	ck_assert(module_work_begin(&b, a));
	module_budget_free(&b);
}
END_TEST

START_TEST(a_user_of_many_numbers_has_few_accounts)
{
	struct module_budget b = {0};

	for (uid_t user = 100000; user < 165536; user++)
		ck_assert_ptr_nonnull(module_account(&b, user));
	ck_assert_ptr_eq(module_account(&b, 165535), module_account(&b, 165534));
	module_budget_free(&b);
}
END_TEST

Suite *test_module_budget(void)
{
	Suite *s = suite_create("module_budget");
	TCase *t = tcase_create("budget");

	tcase_add_test(t, root_and_the_recording_user_have_no_account);
	tcase_add_test(t, tables_of_strangers_leave_room);
	tcase_add_test(t, modules_and_symbols_are_few);
	tcase_add_test(t, paths_and_bound_names_are_few);
	tcase_add_test(t, work_ends_and_time_gives_some_back);
	tcase_add_test(t, a_user_of_many_numbers_has_few_accounts);
	suite_add_tcase(s, t);
	return s;
}
