// SPDX-License-Identifier: Apache-2.0
/* Tests of the warnings about patterns of methods and fields that match nothing. */
#include "unit/jvm_fixture.h"

#include "jvm/patterns.h"

Suite *test_patterns(void);

static void pattern_is(const char *text, bool is_field, bool matches)
{
	struct braid_rec_pattern r = {.hdr = {.kind = BRAID_REC_PATTERN, .tid = TID, .time_ns = 100},
				      .is_field = is_field,
				      .matches = matches,
				      .text_len = (uint16_t)strlen(text)};

	send(&r, sizeof(r), text);
}

/* A mistake in a pattern is a warning, unless one JVM has a match; nothing is said of what no JVM has looked for. */
START_TEST(patterns_that_match_nothing)
{
	jvms.config.methods[0] = (struct braid_method_pattern){.text = "Nope.nope"};
	jvms.config.methods[1] = (struct braid_method_pattern){.text = "*.run"};
	jvms.config.methods[2] = (struct braid_method_pattern){.text = "Later.m"};
	jvms.config.fields[0] = (struct braid_method_pattern){.text = "Nope.nope"};
	pattern_is("*.run", false, true);
	pattern_is("Nope.nope", false, false);
	pattern_is("*.run", false, false); /* of another JVM */
	pattern_is("Nope.nop", false, true);
	pattern_is("Nope.nope", true, true);
	patterns_end(&jvms);
	ck_assert_uint_eq(notices, 1);
	ck_assert_msg(strstr(last_notice, "method=Nope.nope matched nothing ") == last_notice, "%s", last_notice);
	ck_assert_ptr_nonnull(strstr(last_notice, "with the class's package"));
	pattern_is("Nope.nope", false, true);
	patterns_end(&jvms);
	ck_assert_uint_eq(notices, 1);
}
END_TEST

START_TEST(patterns_of_classes_that_are_never_timed)
{
	jvms.config.methods[7] = (struct braid_method_pattern){.text = "java.lang.String.length"};
	pattern_is("java.lang.String.length", false, false);
	patterns_end(&jvms);
	ck_assert_ptr_nonnull(strstr(last_notice, "classes of java.lang, "));
	jvms.config.methods[7] = (struct braid_method_pattern){0}; /* another configuration */
	patterns_end(&jvms);
	ck_assert_uint_eq(notices, 1);
}
END_TEST

Suite *test_patterns(void)
{
	Suite *s = suite_create("patterns");
	TCase *t = tcase_create("patterns");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, patterns_that_match_nothing);
	tcase_add_test(t, patterns_of_classes_that_are_never_timed);
	suite_add_tcase(s, t);
	return s;
}
