// SPDX-License-Identifier: Apache-2.0
/* Tests of notices: with which characters others can cause them. */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <util/log.h>
#include <util/utf8.h>

Suite *test_notices(void);

START_TEST(steering)
{
	static const char text[] = "a\xe2\x80\xae"
				   "b\xe2\x81\xa6"
				   "c\xe2\x80\x8f"
				   "d\xd8\x9c"
				   "e\xd7\x90"
				   "f";
	char out[64];

	utf8_printable(out, sizeof(out), text, sizeof(text) - 1);
	ck_assert_str_eq(out, "a?b?c?d?e\xd7\x90"
			      "f");
}
END_TEST

/* A notice stays one line, whatever a process is called. */
START_TEST(lines)
{
	char said[256] = "";
	FILE *to = tmpfile();
	int before = dup(STDERR_FILENO);

	ck_assert_ptr_nonnull(to);
	ck_assert_int_ge(dup2(fileno(to), STDERR_FILENO), 0);
	log_warning("JVM %d (%s) has no agent", 5, "\x1b[2Jx\nbraid: all is well\xe2\x80\xae");
	dup2(before, STDERR_FILENO);
	rewind(to);
	ck_assert_uint_gt(fread(said, 1, sizeof(said) - 1, to), 0);
	fclose(to);
	close(before);
	ck_assert_str_eq(said, "braid: warning: JVM 5 (?[2Jx?braid: all is well?) has no agent\n");
}
END_TEST

Suite *test_notices(void)
{
	Suite *suite = suite_create("notices");
	TCase *tc = tcase_create("notices");

	tcase_add_test(tc, steering);
	tcase_add_test(tc, lines);
	suite_add_tcase(suite, tc);
	return suite;
}
