// SPDX-License-Identifier: Apache-2.0
/* Tests of the reading of threads' seccomp filters. */
#include "core/seccomp.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

Suite *test_seccomp(void);

/* A status file whose line of groups has `groups` bytes, up to and without `end`. */
static int filters_in(size_t groups, const char *end)
{
	int fd = memfd_create("status", MFD_CLOEXEC), filters;
	FILE *f = fdopen(fd, "w");

	fprintf(f, "Name:\tjava\nUmask:\t0022\nGroups:\t");
	for (size_t i = 0; i < groups; i++)
		fputc(i % 11 ? '4' : ' ', f);
	fprintf(f, "\nNoNewPrivs:\t1\n%s", end);
	ck_assert_int_eq(fflush(f), 0);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	filters = seccomp_filters_in(fd);
	fclose(f);
	return filters;
}

START_TEST(filters_are_found_behind_any_number_of_groups)
{
	for (size_t groups = 0; groups < 3000; groups++) {
		ck_assert_int_eq(filters_in(groups, "Seccomp:\t2\nSeccomp_filters:\t13\nSpeculation: none\n"), 13);
		ck_assert_int_eq(filters_in(groups, "Seccomp:\t1\nSeccomp_filters:\t0\nSpeculation: none\n"),
				 SECCOMP_STRICT);
	}
	ck_assert_int_eq(filters_in(700000, "Seccomp:\t2\nSeccomp_filters:\t1\n"), 1);
}
END_TEST

START_TEST(no_number_of_filters_is_known)
{
	ck_assert_int_eq(filters_in(0, ""), -1);
	ck_assert_int_eq(filters_in(5000, "Seccomp:\t2\nSpeculation: none\n"), -1);
	ck_assert_int_eq(filters_in(0, "Seccomp:\t2\nSeccomp_filters:\t1"), -1);
	ck_assert_int_eq(seccomp_filters_in(-1), -1);
	ck_assert(!seccomp_others(-1, 100));
}
END_TEST

/* A thread that has no filters differs from one that has some; each look goes on where the last one has stopped. */
START_TEST(other_threads)
{
	int own = seccomp_filters();

	ck_assert_int_ge(own, 0);
	for (int i = 0; i < 5; i++) {
		ck_assert(!seccomp_others(own, 100));
		ck_assert(seccomp_others(own + 1, 100));
	}
	ck_assert(!seccomp_others(own + 1, 0));
}
END_TEST

Suite *test_seccomp(void)
{
	Suite *s = suite_create("seccomp filters");
	TCase *t = tcase_create("seccomp filters");

	tcase_add_test(t, filters_are_found_behind_any_number_of_groups);
	tcase_add_test(t, no_number_of_filters_is_known);
	tcase_add_test(t, other_threads);
	suite_add_tcase(s, t);
	return s;
}
