// SPDX-License-Identifier: Apache-2.0
/* Tests of notices: with which characters others can cause them. */
#include <check.h>
#include <util/log.h>
#include <util/utf8.h>

#include "unit/said.h"

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
	said_begin();
	log_warning("JVM %d (%s) has no agent", 5, "\x1b[2Jx\nbraid: all is well\xe2\x80\xae");
	ck_assert_int_eq(said(""), 1);
	ck_assert_int_eq(said("braid: warning: JVM 5 (?[2Jx?braid: all is well?) has no agent\n"), 1);
	said_end();
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
