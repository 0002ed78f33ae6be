// SPDX-License-Identifier: Apache-2.0
/* Tests of the exports' exact text for the synthetic trace, without a file. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <views/views.h>
#include <export/export.h>
#include <report/report.h>
#include <page/html.h>

#include "unit/run.h"

Suite *test_export(void);

static const struct trace_damage no_damage;
static const struct report_source source = {&no_damage, 4321, false};

static struct run run_of(const struct filter *filter)
{
	struct run r = run_begin(filter);

	run_analyze(&r, filter);
	return r;
}

static char *collapsed(const struct filter *filter, struct collapsed_options options)
{
	struct run r = run_of(filter);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(collapsed_write(out, r.an, &r.an->samples, &options), 0);
	fclose(out);
	run_free(&r);
	return text;
}

/* ---- collapsed ---- */

START_TEST(collapsed_plain)
{
	char *text = collapsed(NULL, (struct collapsed_options){0});

	ck_assert_str_eq(text, "[incomplete: no_cfi];[libc.so.6+0x3456] 2\n"
			       "[incomplete: no_stack] 1\n"
			       "__libc_start_main;demo.Main.main;<script>alert(1)</script>.run 3\n"
			       "__libc_start_main;demo.Main.main;[unknown code] 1\n"
			       "__libc_start_main;demo.Main.main;demo.Main.work;demo.Util.inline 4\n"
			       "__libc_start_main;demo.Main.main;demo.Main.work;demo.Util.inline;arraycopy 1\n"
			       "__libc_start_main;demo.Main.main;demo.Main.work;demo.Util.inline;do_syscall_64 2\n"
			       "__libc_start_main;foo::bar(int) 5\n");
	free(text);
}
END_TEST

START_TEST(collapsed_annotated)
{
	char *text = collapsed(NULL, (struct collapsed_options){.annotate = true, .threads = true, .lines = true});

	ck_assert_str_eq(
		text,
		"[http nio 8080 tid=102];[incomplete: no_cfi];[libc.so.6+0x3456] 2\n"
		"[http nio 8080 tid=102];__libc_start_main;demo.Main.main_[0];[unknown code]_[j] 1\n"
		"[main tid=101];__libc_start_main;demo.Main.main_[0];<script>alert(1)</script>.run_[1] 3\n"
		"[main tid=101];__libc_start_main;demo.Main.main_[0];demo.Main.work:12_[j];demo.Util.inline:30_[i] 4\n"
		"[main tid=101];__libc_start_main;demo.Main.main_[0];demo.Main.work:12_[j];demo.Util.inline:30_[i];"
		"arraycopy 1\n"
		"[main tid=101];__libc_start_main;demo.Main.main_[0];demo.Main.work:12_[j];demo.Util.inline:30_[i];"
		"do_syscall_64_[k] 2\n"
		"[worker:x tid=200];[incomplete: no_stack] 1\n"
		"[worker:x tid=200];__libc_start_main;foo::bar(int) 5\n");
	free(text);
}
END_TEST

static uint64_t announced;

static void announce(uint64_t bytes, size_t lines)
{
	announced = bytes;
	ck_assert_uint_ge(bytes, 4 * lines);
}

START_TEST(collapsed_size_is_announced)
{
	struct collapsed_options options[] = {{.announce = announce},
					      {.announce = announce, .threads = true, .annotate = true},
					      {.announce = announce, .threads = true, .lines = true, .top = 3}};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		char *text = collapsed(NULL, options[i]);

		ck_assert_uint_eq(announced, strlen(text));
		free(text);
	}
}
END_TEST

/* ---- filters ---- */

START_TEST(filter_process_and_thread)
{
	struct filter f = {0};
	char *text;

	ck_assert_int_eq(filter_add_pids(&f, "200,300"), 0);
	text = collapsed(&f, (struct collapsed_options){0});
	ck_assert_str_eq(text, "[incomplete: no_stack] 1\n__libc_start_main;foo::bar(int) 5\n");
	free(text);
	filter_free(&f);

	ck_assert_int_eq(filter_add_tids(&f, "102"), 0);
	text = collapsed(&f, (struct collapsed_options){0});
	ck_assert_str_eq(text, "[incomplete: no_cfi];[libc.so.6+0x3456] 2\n"
			       "__libc_start_main;demo.Main.main;[unknown code] 1\n");
	free(text);
	filter_free(&f);

	ck_assert_int_eq(filter_add_comm(&f, "http nio 8080"), 0);
	ck_assert_int_eq(filter_add_comm(&f, "worker;x"), 0);
	text = collapsed(&f, (struct collapsed_options){.threads = true});
	ck_assert_str_eq(text, "[http nio 8080 tid=102];[incomplete: no_cfi];[libc.so.6+0x3456] 2\n"
			       "[http nio 8080 tid=102];__libc_start_main;demo.Main.main;[unknown code] 1\n"
			       "[worker:x tid=200];[incomplete: no_stack] 1\n"
			       "[worker:x tid=200];__libc_start_main;foo::bar(int) 5\n");
	free(text);
	filter_free(&f);

	ck_assert_int_eq(filter_add_cgroup(&f, "docker"), 0);
	text = collapsed(&f, (struct collapsed_options){0});
	ck_assert_str_eq(text, ""); /* these processes have none */
	free(text);
	filter_free(&f);
}
END_TEST

START_TEST(filter_time)
{
	struct filter f = {.has_from = true, .has_to = true};
	char *text;

	ck_assert_int_eq(moment_parse("0.041", &f.from), 0);
	ck_assert_int_eq(moment_parse("71ms", &f.to), 0);
	text = collapsed(&f, (struct collapsed_options){0});
	ck_assert_str_eq(text, "__libc_start_main;demo.Main.main;<script>alert(1)</script>.run 1\n"
			       "__libc_start_main;demo.Main.main;demo.Main.work;demo.Util.inline;do_syscall_64 2\n");
	free(text);
	filter_free(&f);
}
END_TEST

START_TEST(filter_expressions)
{
	struct filter f = {0};
	char why[64] = "";
	char *text;

	ck_assert_int_eq(filter_add_include(&f, "^demo\\.Util\\.", why, sizeof(why)), 0);
	ck_assert_int_eq(filter_add_exclude(&f, "syscall|array", why, sizeof(why)), 0);
	text = collapsed(&f, (struct collapsed_options){0});
	ck_assert_str_eq(text, "__libc_start_main;demo.Main.main;demo.Main.work;demo.Util.inline 4\n");
	free(text);
	filter_free(&f);
	ck_assert_int_eq(filter_add_include(&f, "a(", why, sizeof(why)), -EINVAL);
	ck_assert_str_ne(why, "");
	filter_free(&f);
}
END_TEST

/* ---- info, report ---- */

static const char info_expected[] =
	"{\"duration_s\":2.5,\"samples\":{\"total\":19,\"complete\":16,\"by_cause\":{\"no_cfi\":2,\"no_stack\":1}},"
	"\"java_samples\":{\"total\":13,\"complete\":11,\"by_cause\":{\"no_cfi\":2}},"
	"\"virtual_threads\":{\"seen\":0,\"samples\":0,\"unidentified\":null},"
	"\"frames\":{\"java\":29,\"java_named\":28,\"native\":24,\"native_named\":22,\"kernel\":2},\"stacks\":7,"
	"\"jvms\":[{\"pid\":100,\"version\":\"17.0.15\",\"methods\":4,\"code_loads\":7,\"gc_pauses\":2,"
	"\"threads_started\":1,\"threads_ended\":1,\"capabilities\":{\"can_get_line_numbers\":true,"
	"\"can_generate_compiled_method_load_events\":true,\"can_generate_sampled_object_alloc_events\":false}}],"
	"\"lost\":{\"bpf\":{\"sample\":2},\"ring\":{\"code_load\":3}},\"bytes\":4321,"
	"\"overhead\":{\"collector_cpu_s\":1.5,\"bpf_cpu_s\":0.25},"
	"\"file\":{\"ended\":true,\"damaged\":false,\"bad_blocks\":0,\"missing_blocks\":0,\"skipped_bytes\":0,"
	"\"bad_records\":0,\"unknown_records\":0,\"truncated\":false,\"no_index\":false},"
	"\"start\":{\"monotonic_s\":9.999,\"realtime_s\":1767225600,\"date\":\"2026-01-01T00:00:00.000+0000\"},"
	"\"filter\":null,\"resources\":[],\"without_agent\":[]}\n";

START_TEST(info_as_json)
{
	struct run r = run_of(NULL);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	use_zone("UTC");
	info_json(out, r.v, &source);
	fclose(out);
	ck_assert_str_eq(text, info_expected);
	free(text);
	run_free(&r);
}
END_TEST

START_TEST(report_as_text)
{
	struct run r = run_of(NULL);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	report_text(out, r.v, &source, 3);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, "  command    java demo.Main ?[2J\n"));
	ck_assert_ptr_nonnull(strstr(text, "  samples    19 in 7 stacks\n"));
	ck_assert_ptr_nonnull(strstr(text, "   26.32%   26.32%          5  native       foo::bar(int)\n"
					   "   21.05%   36.84%          4  inlined      demo.Util.inline\n"
					   "   15.79%   15.79%          3  C1           <script>alert(1)</script>.run\n"
					   "  and 7 more\n"));
	ck_assert_ptr_nonnull(strstr(text, "   52.63%         10          100/101   yes  main\n"));
	ck_assert_ptr_nonnull(strstr(
		text, "  2 pauses, total 5.00 ms, mean 5.00 ms, p99 5.00 ms, max 5.00 ms\n"
		      "       count      total       mean        max  what and why\n"
		      "           1    5.00 ms    5.00 ms    5.00 ms  G1 young, System.gc()\n"
		      "     5.00 ms  at      0.052000 s  pid 100  number 1  3.0 -> 1.0 MiB  G1 young, System.gc()\n"
		      "   not ended  at      0.183000 s  pid 100  number 2  unknown\n"
		      "\nGC cycles, concurrent parts included\n"
		      "       count      total       mean        max  what and why\n"
		      "           1    9.00 ms    9.00 ms    9.00 ms  G1 young, System.gc()\n"));
	ck_assert_ptr_nonnull(strstr(text, "  no_cfi                    2          2  no unwind rule"));
	ck_assert_ptr_nonnull(strstr(text, "  ring       code_load                 3\n"));
	ck_assert_ptr_nonnull(strstr(text, "  warning: pid 100: sampled allocation was refused\n"));
	ck_assert_ptr_nonnull(strstr(text, "  4321 bytes, recording ended in order\n"));
	ck_assert_ptr_null(strchr(text, '\033'));
	free(text);
	run_free(&r);
}
END_TEST

/* A report begins with the summary, which is short enough to be read. */
START_TEST(summary_says_what_matters)
{
	static const char expected[] =
		"  recorded   java demo.Main ?[2J, 2026-01-01 00:00:00 +0000, 2.50 s\n"
		"  samples    19, 84.21 % with whole stacks (84.62 % of Java threads), 0.08 CPUs in use: 68.4 % java (100), "
		"31.6 % worker;x (200)\n"
		"  code       42.1 % Java, 36.8 % native, 10.5 % kernel, 5.3 % the JVM's stubs, 5.3 % not known\n"
		"  JVM        84.6 % in Java, 15.4 % in native code\n"
		"  hottest    26.3 % foo::bar(int), 21.1 % demo.Util.inline, 15.8 % <script>alert(1)</script>.run\n"
		"  threads    52.6 % main, 31.6 % worker;x, 15.8 % http nio 8080\n"
		"  GC         2 pauses, 0.20 % of the time (5.00 ms), longest 5.00 ms\n"
		"  lost       2 sample (bpf), 3 code_load (ring)\n";
	struct run r = run_of(NULL);
	char *text = NULL, *whole = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	use_zone("UTC");
	report_summary(out, r.v, &source);
	fclose(out);
	ck_assert_str_eq(text, expected);
	free(text);
	out = open_memstream(&whole, &size);
	report_text(out, r.v, &source, 3);
	fclose(out);
	ck_assert_ptr_eq(strstr(whole, expected), whole);
	free(whole);
	run_free(&r);
}
END_TEST

START_TEST(html_keeps_names_inside)
{
	struct run r = run_of(NULL);
	char *text = NULL;
	size_t size = 0, scripts = 0;
	FILE *out = open_memstream(&text, &size);
	const char *data;

	ck_assert_int_eq(report_html(out, r.v, &(struct page_request){.titles = {"</script><b>&"}}), 0);
	fclose(out);
	ck_assert_ptr_null(strstr(text, "<script>alert"));
	ck_assert_ptr_null(strstr(text, "@BRAID_DATA@"));
	ck_assert_ptr_nonnull(strstr(text, "\\u003cscript\\u003ealert(1)\\u003c/script\\u003e.run"));
	for (const char *p = text; (p = strstr(p, "</script")); p++)
		scripts++;
	ck_assert_uint_eq(scripts, 2);
	data = strstr(text, "id=\"data\">{");
	ck_assert_ptr_nonnull(data);
	data = strstr(data, "\"nodes\":[0,");
	ck_assert_ptr_nonnull(data);
	ck_assert_ptr_null(strstr(text, "http:"));
	ck_assert_ptr_null(strstr(text, "https:"));
	free(text);
	run_free(&r);
}
END_TEST

/*
 * The page identifies its recording and the time from which it knows what a thread did: the first sample, or the first
 * event if that is earlier.
 */
START_TEST(html_says_what_it_is_of)
{
	struct filter f = {0};
	struct run r;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	use_zone("UTC");
	ck_assert_int_eq(filter_add_tids(&f, "102,200"), 0);
	r = run_of(&f);
	ck_assert_int_eq(report_html(out, r.v, &(struct page_request){.titles = {"t"}}), 0);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text,
				     "\"command\":\"java demo.Main ?[2J\",\"began\":\"2026-01-01 00:00:00 +0000\","
				     "\"filter\":\"tid 102 or 200\",\"ended\":true,"
				     "\"lost\":[{\"hop\":\"bpf\",\"kind\":\"sample\",\"count\":2}"));
	ck_assert_ptr_nonnull(strstr(text, "\"name\":\"http nio 8080\",\"process\":\"java\",\"known_us\":6000,"
					   "\"began\":true,\"ended_us\":126000}"));
	ck_assert_ptr_nonnull(strstr(text, "\"process\":\"worker;x\",\"known_us\":131000,\"began\":false}"));
	free(text);
	run_free(&r);
	filter_free(&f);
}
END_TEST

Suite *test_export(void)
{
	Suite *s = suite_create("export");
	TCase *memory = tcase_create("memory");

	tcase_add_test(memory, collapsed_plain);
	tcase_add_test(memory, collapsed_annotated);
	tcase_add_test(memory, collapsed_size_is_announced);
	tcase_add_test(memory, filter_process_and_thread);
	tcase_add_test(memory, filter_time);
	tcase_add_test(memory, filter_expressions);
	tcase_add_test(memory, info_as_json);
	tcase_add_test(memory, report_as_text);
	tcase_add_test(memory, summary_says_what_matters);
	tcase_add_test(memory, html_keeps_names_inside);
	tcase_add_test(memory, html_says_what_it_is_of);
	suite_add_tcase(s, memory);
	return s;
}
