// SPDX-License-Identifier: Apache-2.0
/* Tests of which classes are rewritten, and are put back, with what the JVM refuses. */
#include "class_fixture.h"
#include "fake_jvmti.h"
#include "recorder.h"

#include "core/state.h"
#include "timing/timing.h"

#include <check.h>
#include <stdlib.h>

Suite *test_timing(void);

#define CLASSES 3
#define ALL 0xeU /* bits of the classes 1 to 3 */
#define LATER 20 /* s: more than the end waits for a class */

static const struct braid_event_config config_of_all = {.enabled = BRAID_EVENT_TYPE(METHOD),
							.methods = {{.text = "C*.m"}}};

/* This thread is the agent's helper. */
static void begin_with(struct recorder *r, const struct braid_event_config *c)
{
	static const uint8_t code[] = {0x03, 0xac}; /* iconst_0, ireturn */
	static struct writer file;

	if (!file.used)
		class_make(&file, &(struct class_file){0, 52, code, sizeof(code)});
	recorder_begin(r, c);
	fake.class_file = (struct fake_bytes){file.bytes, (jint)file.used};
	fake.class_count = CLASSES;
	atomic_store(&agent.helper_tid, self_tid());
}

static void begin(struct recorder *r)
{
	begin_with(r, &config_of_all);
}

static void rewrite_all(void)
{
	timing_kind.on_enabled(&fake_jni);
	while (timing_kind.work(&fake_jni))
		;
}

/* What was recorded is read afterwards. */
static void put_back(struct recorder *r)
{
	recorder_skip(r);
	timing_kind.stop(&fake_jni);
}

START_TEST(loaded_classes_are_rewritten_and_put_back)
{
	struct recorder r;

	begin(&r);
	rewrite_all();
	ck_assert_uint_eq(fake.rewritten, ALL);
	ck_assert_uint_eq(recorder_notices(&r, "3 methods of 3 loaded classes are timed"), 1);
	put_back(&r);
	ck_assert_uint_eq(fake.rewritten, 0);
	ck_assert_uint_eq(recorder_count(&r, BRAID_REC_NOTICE), 0);
	recorder_close(&r);
}
END_TEST

/* How many records say that a pattern is looked for, or matches. */
static uint32_t patterns_told(struct recorder *r, const char *text, bool matches)
{
	const struct braid_rec_pattern *p;
	uint32_t count = 0;

	while ((p = recorder_find(r, BRAID_REC_PATTERN)))
		count += p->matches == matches && !p->is_field && p->text_len == strlen(text) &&
			 !memcmp(p + 1, text, strlen(text));
	return count;
}

/* One that is behind another one that matches, too, is no mistake. */
static const struct {
	const char *text;
	bool matches;
	uint32_t times;
} told[] = {
	{"C*.m", true, 1}, {"*.m", true, 1}, {"C1.nope", true, 0}, {"C1.nope", false, 1}, {"C*.m", false, 1},
};

START_TEST(patterns_that_match_are_told_once)
{
	struct braid_event_config c = config_of_all;
	struct recorder r;

	strcpy(c.methods[1].text, "C1.nope");
	strcpy(c.methods[2].text, "*.m");
	begin_with(&r, &c);
	rewrite_all();
	ck_assert_uint_eq(patterns_told(&r, told[_i].text, told[_i].matches), told[_i].times);
	put_back(&r);
	recorder_close(&r);
}
END_TEST

START_TEST(a_class_that_the_jvm_refuses_is_not_counted_as_timed)
{
	struct recorder r;

	begin(&r);
	fake.refused = 1 << 2;
	rewrite_all();
	ck_assert_uint_eq(fake.rewritten, 1 << 1 | 1 << 3);
	ck_assert_uint_eq(recorder_notices(&r, "2 methods of 2 loaded classes are timed"), 1);
	put_back(&r);
	ck_assert_uint_eq(fake.rewritten, 0);
	recorder_close(&r);
}
END_TEST

START_TEST(a_refused_class_is_said_once)
{
	struct recorder r;

	begin(&r);
	fake.refused = 1 << 2;
	rewrite_all();
	ck_assert_uint_eq(recorder_notices(&r, "1 methods or classes match and cannot be rewritten"), 1);
	put_back(&r);
	recorder_close(&r);
}
END_TEST

/* Classes of several loaders have one name: the JVM refuses one, and another one is rewritten. */
START_TEST(a_class_is_put_back_whose_namesake_was_refused)
{
	struct recorder r;

	begin(&r);
	fake.one_name = true;
	fake.refused = 1 << 2;
	rewrite_all();
	ck_assert_uint_eq(fake.rewritten & 1 << 1, 1 << 1);
	put_back(&r);
	ck_assert_uint_eq(fake.rewritten, 0);
	recorder_close(&r);
}
END_TEST

START_TEST(classes_that_cannot_be_put_back_are_reported)
{
	struct recorder r;

	begin(&r);
	rewrite_all();
	fake.fixed = 1 << 2;
	put_back(&r);
	ck_assert_uint_eq(fake.rewritten, 1 << 2);
	ck_assert_uint_eq(recorder_notices(&r, "1 classes cannot be put back"), 1);
	recorder_close(&r);
}
END_TEST

/*
 * A wildcard means classes that are never rewritten. One that has no text with the name of such a method is none of
 * them.
 */
START_TEST(what_a_wildcard_means_and_is_left_out_is_said)
{
	static const uint8_t constants[] = "\1\0\1m\1\0\1C";
	const struct braid_event_config wide = {.enabled = BRAID_EVENT_TYPE(METHOD), .methods = {{.text = "*.m"}}},
					others = {.enabled = BRAID_EVENT_TYPE(METHOD), .methods = {{.text = "*.n"}}};
	struct recorder r;

	begin(&r);
	fake.in_java_lang = 1 << 2 | 1 << 3;
	fake.pool = (struct fake_bytes){constants, sizeof(constants) - 1};
	fake.pool_count = 3;
	timing_kind.start(&wide);
	rewrite_all();
	ck_assert_uint_eq(fake.rewritten, 1 << 1);
	ck_assert_uint_eq(recorder_notices(&r, "2 loaded classes match, and are left out: classes of java.lang, "
					       "java.util.concurrent.atomic, jdk.internal and sun.misc, and below, are "
					       "never timed, such as java.lang.C2"),
			  1);
	timing_kind.start(&others);
	while (timing_kind.work(&fake_jni))
		;
	ck_assert_uint_eq(recorder_notices(&r, "are left out"), 0);
	put_back(&r);
	recorder_close(&r);
}
END_TEST

/* Its loader finds its superclass first. */
START_TEST(a_class_that_is_being_loaded_is_waited_for)
{
	struct recorder r;

	begin(&r);
	rewrite_all();
	ck_assert(fake_hook(NULL, "C4"));
	fake.rewritten |= 1 << 4;
	fake.listed_later = 1;
	put_back(&r);
	ck_assert_uint_eq(fake.rewritten, 0);
	ck_assert_uint_eq(recorder_count(&r, BRAID_REC_NOTICE), 0);
	recorder_close(&r);
}
END_TEST

START_TEST(a_class_that_is_never_loaded_is_reported)
{
	struct recorder r;

	begin(&r);
	rewrite_all();
	ck_assert(fake_hook(NULL, "C4"));
	put_back(&r);
	ck_assert_uint_eq(fake.rewritten, 0);
	ck_assert_uint_eq(recorder_notices(&r, "1 classes that were rewritten in the last seconds are not loaded"), 1);
	recorder_close(&r);
}
END_TEST

/* Before JDK 9 these are also the JVM's own. */
START_TEST(a_class_that_is_defined_without_a_name_has_that_of_its_file)
{
	struct recorder r;

	begin(&r);
	rewrite_all();
	agent.jvmti_version = 0x30010203;
	ck_assert(!fake_hook(NULL, NULL));
	agent.jvmti_version = fake.version;
	ck_assert(fake_hook(NULL, NULL));
	fake.one_name = true; /* it is C, and loaded */
	put_back(&r);
	recorder_close(&r);
}
END_TEST

/* Each class writes C.f, as its constants say. */
START_TEST(classes_that_write_a_field_are_rewritten)
{
	static const uint8_t code[] = {0x03, 0xb3, 0, FIELD_CONSTANT, 0x03, 0xac}; /* putstatic C.f */
	static const uint8_t constants[] = "\11\0\2\0\3\7\0\4\14\0\5\0\6\1\0\1C\1\0\1f\1\0\1I";
	const struct braid_event_config other = {.enabled = BRAID_EVENT_TYPE(FIELD), .fields = {{.text = "C.g"}}},
					config_of_f = {.enabled = BRAID_EVENT_TYPE(FIELD),
						       .methods = {{.text = "C*.m"}}, /* not enabled */
						       .fields = {{.text = "C.f"}}};
	struct writer file = {0};
	struct recorder r;

	class_with_field(&file, code, sizeof(code), "I");
	recorder_begin(&r, &other);
	fake.class_file = (struct fake_bytes){file.bytes, (jint)file.used};
	fake.class_count = CLASSES;
	fake.pool = (struct fake_bytes){constants, sizeof(constants) - 1};
	fake.pool_count = 7;
	atomic_store(&agent.helper_tid, self_tid());
	rewrite_all();
	ck_assert_uint_eq(fake.rewritten, 0);
	ck_assert_uint_eq(recorder_notices(&r, "no class that is loaded writes a field"), 1);

	timing_kind.start(&config_of_f);
	rewrite_all();
	ck_assert_uint_eq(fake.rewritten, ALL);
	ck_assert_uint_eq(recorder_notices(&r, "3 places in 3 loaded classes write a field"), 1);
	timing_kind.start(&other);
	while (timing_kind.work(&fake_jni))
		;
	ck_assert_uint_eq(fake.rewritten, 0);
	put_back(&r);
	recorder_close(&r);
	free(file.bytes);
}
END_TEST

Suite *test_timing(void)
{
	Suite *s = suite_create("timing of methods");
	TCase *t = tcase_create("timing of methods");

	tcase_set_timeout(t, LATER);
	tcase_add_test(t, loaded_classes_are_rewritten_and_put_back);
	tcase_add_loop_test(t, patterns_that_match_are_told_once, 0, sizeof(told) / sizeof(told[0]));
	tcase_add_test(t, a_class_that_the_jvm_refuses_is_not_counted_as_timed);
	tcase_add_test(t, a_refused_class_is_said_once);
	tcase_add_test(t, a_class_is_put_back_whose_namesake_was_refused);
	tcase_add_test(t, classes_that_cannot_be_put_back_are_reported);
	tcase_add_test(t, what_a_wildcard_means_and_is_left_out_is_said);
	tcase_add_test(t, a_class_that_is_being_loaded_is_waited_for);
	tcase_add_test(t, a_class_that_is_never_loaded_is_reported);
	tcase_add_test(t, a_class_that_is_defined_without_a_name_has_that_of_its_file);
	tcase_add_test(t, classes_that_write_a_field_are_rewritten);
	suite_add_tcase(s, t);
	return s;
}
