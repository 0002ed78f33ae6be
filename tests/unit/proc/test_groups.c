// SPDX-License-Identifier: Apache-2.0
/* Tests of what control groups' files say. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <proc/groups.h>

Suite *test_groups(void);

static char base[] = "/tmp/braid-test-groups-XXXXXX";

static void put(const char *dir, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s%s", base, dir);
	mkdir(path, 0700);
	strcat(path, "/cpu.stat");
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	ck_assert_int_eq(fclose(f), 0);
}

static void setup(void)
{
	strcpy(base + strlen(base) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(base));
	put("", "nr_periods 0\nnr_throttled 0\nthrottled_usec 0\n");
	put("/a", "usage_usec 1\nnr_periods 50\nnr_throttled 20\nthrottled_usec 3000\n");
	put("/a/b", "nr_periods 70\nnr_throttled 10\nthrottled_time 2000000\n");
}

static void teardown(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", base);
	ck_assert_int_eq(system(command), 0);
}

static void list(void *ctx, const char *dir)
{
	strcat(ctx, dir + strlen(base));
	strcat(ctx, ";");
}

START_TEST(groups_and_those_around)
{
	char all[256] = "";

	groups_each(base, "/a/b", list, all);
	ck_assert_str_eq(all, "/a/b;/a;");
	all[0] = '\0';
	groups_each(base, "/", list, all);
	ck_assert_str_eq(all, "/;");
	groups_each(base, "", list, all);
	ck_assert_str_eq(all, "/;"); /* none was added */
}
END_TEST

START_TEST(numbers)
{
	uint64_t n = 7;

	ck_assert(groups_number(base, "a/cpu.stat", "nr_throttled ", &n));
	ck_assert_uint_eq(n, 20);
	ck_assert(!groups_number(base, "a/cpu.stat", "nr_bursts ", &n));
	ck_assert(!groups_number(base, "nothing", "", &n));
	ck_assert_uint_eq(n, 20);
}
END_TEST

/* The group that was stopped longest counts, in the units of either hierarchy. */
START_TEST(quotas)
{
	struct group_throttling t = {0};

	groups_take_throttling(base, "/a/b", &t);
	ck_assert_uint_eq(t.throttled_ns, 3000000);
	ck_assert_uint_eq(t.periods, 50);
	ck_assert_uint_eq(t.throttled, 20);
	t = (struct group_throttling){0};
	groups_take_throttling(base, "/", &t);
	ck_assert_uint_eq(t.periods, 0);
}
END_TEST

Suite *test_groups(void)
{
	Suite *s = suite_create("groups");
	TCase *files = tcase_create("files");

	tcase_add_checked_fixture(files, setup, teardown);
	tcase_add_test(files, groups_and_those_around);
	tcase_add_test(files, numbers);
	tcase_add_test(files, quotas);
	suite_add_tcase(s, files);
	return s;
}
