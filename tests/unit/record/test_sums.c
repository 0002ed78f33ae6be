// SPDX-License-Identifier: Apache-2.0
/* Tests of what is added up by process for the notices at the end: there are any number of processes. */
#include "process/processes.h"
#include "record/sums.h"

#include <check.h>

Suite *test_sums(void);

START_TEST(any_number_of_processes)
{
	struct sums sums = {0};
	const struct braid_sum sum = {.count = 3, .ns = 40, .ready_ns = 2};

	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 1; i <= 3000; i++)
			sums_note(&sums, &(struct process){.id = i, .pid = (pid_t)i}, &sum);
	ck_assert_uint_eq(sums.processes.count, 1024);
	ck_assert_uint_eq(sums.processes.at[1023].process, 1024);
	ck_assert_uint_eq(sums.processes.at[1023].count, 6);
	ck_assert_uint_eq(sums.processes.at[1023].ns, 84);
	sums_free(&sums);
}
END_TEST

Suite *test_sums(void)
{
	Suite *s = suite_create("sums");
	TCase *t = tcase_create("processes");

	tcase_add_test(t, any_number_of_processes);
	suite_add_tcase(s, t);
	return s;
}
