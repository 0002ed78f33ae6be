// SPDX-License-Identifier: Apache-2.0
/* Tests of the settings of JVMs: from the agent's records to what is printed of them, without their secrets. */
#include "unit/jvm_fixture.h"

#include "analyze/analyzer.h"
#include "views/views.h"
#include <report/report.h>
#include "util/secret.h"

Suite *test_settings(void);

static const struct record_options wanted = {.properties = true};
static struct analyzer *analyzer;

static void to_analyzer(void *ctx, const struct trace_rec *rec)
{
	(void)ctx;
	ck_assert_int_eq(analyzer_feed(analyzer, rec), 0);
}

static void begin(void)
{
	static const struct trace_rec defined = {.kind = TRACE_PROCESS, .process = {.process = 7, .pid = 100}};
	static const struct trace_rec is_jvm = {.kind = TRACE_JVM, .jvm = {.process = 7}};

	setup();
	jvms.options = &wanted;
	ck_assert_int_eq(analyzer_new(&analyzer), 0);
	ck_assert_int_eq(analyzer_feed(analyzer, &defined), 0);
	ck_assert_int_eq(analyzer_feed(analyzer, &is_jvm), 0);
	trace_writer_tap(sink.writer, to_analyzer, NULL);
}

static void end(void)
{
	trace_writer_tap(sink.writer, tap, NULL);
	analyzer_free(analyzer);
	teardown();
}

static void set(uint32_t origin, const char *name, const char *value)
{
	struct braid_rec_setting r = {
		.hdr = {.kind = BRAID_REC_SETTING, .time_ns = 100},
		.origin = origin,
		.name_len = (uint16_t)strlen(name),
		.value_len = (uint16_t)strlen(value),
	};
	char strings[256];

	snprintf(strings, sizeof(strings), "%s%s", name, value);
	send(&r, sizeof(r), strings);
}

static char *printed(void (*print)(FILE *out, const struct views *v))
{
	static const struct filter everything;
	struct analysis *an;
	struct views *v;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ck_assert_int_eq(analysis_new(&an, analyzer, &everything), 0);
	ck_assert_int_eq(views_new(&v, an), 0);
	print(out, v);
	fclose(out);
	views_free(v);
	analysis_free(an);
	return text;
}

static void all_settings(FILE *out, const struct views *v)
{
	settings_text(out, v, NULL);
}

static void some_settings(FILE *out, const struct views *v)
{
	settings_text(out, v, "heap");
}

static void no_settings(FILE *out, const struct views *v)
{
	settings_text(out, v, "nothing-like-it");
}

static void as_json(FILE *out, const struct views *v)
{
	static const struct report_source source;

	info_json(out, v, &source);
}

/* Flags come with who set them, a later value replaces an earlier one, and what controls a terminal is gone. */
START_TEST(in_each_format)
{
	char *text;

	set(BRAID_SETTING_DEFAULT, "MinHeapFreeRatio", "40");
	set(BRAID_SETTING_COMMAND_LINE, "UseSerialGC", "true");
	set(BRAID_SETTING_ERGONOMIC, "UseLargePages", "false");
	set(BRAID_SETTING_ERGONOMIC, "MaxHeapSize", "1");
	set(BRAID_SETTING_MANAGEMENT, "MaxHeapSize", "2");
	set(99, "New", "x");
	set(BRAID_SETTING_PROPERTY, "MaxHeapSize", "\033[2J");
	set(BRAID_SETTING_PROPERTY, "db.password", "geheim");

	text = printed(all_settings);
	ck_assert_str_eq(text, "pid 100\n"
			       "  -XX:+UseSerialGC  (command line)\n"
			       "  -XX:-UseLargePages  (ergonomic)\n"
			       "  -XX:MaxHeapSize=2  (management, was 1)\n"
			       "  -XX:New=x  (unknown)\n"
			       "  -DMaxHeapSize=?[2J\n"
			       "  -Ddb.password=***\n"
			       "  -XX:MinHeapFreeRatio=40  (default)\n");
	free(text);
	text = printed(some_settings);
	ck_assert_str_eq(text, "pid 100\n"
			       "  -XX:MaxHeapSize=2  (management, was 1)\n"
			       "  -DMaxHeapSize=?[2J\n"
			       "  -XX:MinHeapFreeRatio=40  (default)\n");
	free(text);
	text = printed(no_settings);
	ck_assert_str_eq(text, "pid 100\n  no name of a setting contains 'nothing-like-it'\n");
	free(text);
	text = printed(as_json);
	ck_assert_ptr_nonnull(
		strstr(text, "\"MaxHeapSize\":{\"value\":\"2\",\"origin\":\"management\",\"was\":\"1\"}"));
	ck_assert_ptr_nonnull(strstr(text, "\"properties\":{\"MaxHeapSize\":\"?[2J\",\"db.password\":\"***\"}"));
	free(text);
}
END_TEST

START_TEST(not_wanted_or_cut)
{
	struct braid_rec_setting cut = {.hdr = {.kind = BRAID_REC_SETTING}, .name_len = 3, .value_len = 2};
	char *text;

	send(&cut, sizeof(cut), "name"); /* a byte is missing */
	send(&cut, sizeof(cut) - 4, NULL);
	jvms.options = &(struct record_options){.properties = false};
	set(BRAID_SETTING_COMMAND_LINE, "UseSerialGC", "true");
	text = printed(all_settings);
	ck_assert_str_eq(text, "pid 100  flags and system properties are not known\n");
	free(text);
}
END_TEST

/* A JVM that has ever more settings. */
START_TEST(a_bounded_number)
{
	char name[16], *text;

	for (int i = 0; i < 2100; i++) {
		snprintf(name, sizeof(name), "Flag%d", i);
		set(BRAID_SETTING_COMMAND_LINE, name, "1");
	}
	text = printed(all_settings);
	ck_assert_ptr_nonnull(strstr(text, "Flag2047="));
	ck_assert_ptr_null(strstr(text, "Flag2048="));
	free(text);
	sink_losses(&sink);
	text = printed(as_json);
	ck_assert_ptr_nonnull(strstr(text, "\"lost\":{\"collector\":{\"setting\":52}}"));
	free(text);
}
END_TEST

/* Few settings with long values reach the bound of bytes; the agent had to cut each of them. */
START_TEST(bounded_and_cut_values)
{
	static char value[BRAID_STR_MAX + 1];
	struct braid_rec_setting r = {.hdr = {.kind = BRAID_REC_SETTING, .flags = BRAID_REC_TRUNCATED},
				      .origin = BRAID_SETTING_COMMAND_LINE,
				      .name_len = 2,
				      .value_len = BRAID_STR_MAX - 2};
	char *text, *at;
	int whole = 0;

	for (int i = 0; i < 200; i++) {
		memset(value, 'v', BRAID_STR_MAX);
		value[0] = (char)('a' + i / 16); /* the name */
		value[1] = (char)('a' + i % 16);
		send(&r, sizeof(r), value);
	}
	text = printed(all_settings);
	for (at = text; (at = strstr(at, "vvv...  (command line)")); at++)
		whole++;
	free(text);
	ck_assert_int_gt(whole, 100);
	ck_assert_int_le(whole, (512 << 10) / (int)BRAID_STR_MAX);
}
END_TEST

START_TEST(secrets)
{
	static const char *const secret[] = {"password", "DB_PASSWORD", "api-key", "aws.secretAccessKey", "authToken"};
	static const char *const open[] = {"", "user", "java.home", "keyboard", "path.separator"};
	char to[64], small[12];

	for (size_t i = 0; i < sizeof(secret) / sizeof(secret[0]); i++)
		ck_assert_msg(secret_key(secret[i]), "%s", secret[i]);
	for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++)
		ck_assert_msg(!secret_key(open[i]), "%s", open[i]);
	secret_mask(to, sizeof(to), "run  --password=x=y -Dtoken= user=me =z ");
	ck_assert_str_eq(to, "run  --password=*** -Dtoken=*** user=me =z ");
	secret_mask(small, sizeof(small), "a password=x b");
	ck_assert_str_eq(small, "a password=");
	secret_mask(to, sizeof(to), "");
	ck_assert_str_eq(to, "");
}
END_TEST

Suite *test_settings(void)
{
	Suite *s = suite_create("settings");
	TCase *t = tcase_create("settings");

	tcase_add_checked_fixture(t, begin, end);
	tcase_add_test(t, in_each_format);
	tcase_add_test(t, not_wanted_or_cut);
	tcase_add_test(t, a_bounded_number);
	tcase_add_test(t, bounded_and_cut_values);
	tcase_add_test(t, secrets);
	suite_add_tcase(s, t);
	return s;
}
