// SPDX-License-Identifier: Apache-2.0
/* The exports' exact text for the synthetic trace, from memory and through files and subcommands. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <analyze/views.h>
#include <cli/cli.h>
#include <export/export.h>
#include <trace/trace.h>
#include <util/duration.h>

#include "run.h"

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
}
END_TEST

START_TEST(filter_time)
{
	struct filter f = {.has_from = true, .has_to = true};
	char *text;

	ck_assert_int_eq(duration_parse("0.04", &f.from_ns), 0);
	ck_assert_int_eq(duration_parse("70ms", &f.to_ns), 0);
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
	"\"virtual_threads\":{\"seen\":0,\"samples\":0},"
	"\"frames\":{\"java\":29,\"java_named\":28,\"native\":24,\"native_named\":22,\"kernel\":2},\"stacks\":7,"
	"\"jvms\":[{\"pid\":100,\"version\":\"17.0.15\",\"methods\":4,\"code_loads\":7,\"gc_pauses\":2,"
	"\"threads_started\":1,\"threads_ended\":1,\"capabilities\":{\"can_get_line_numbers\":true,"
	"\"can_generate_compiled_method_load_events\":true,\"can_generate_sampled_object_alloc_events\":false}}],"
	"\"lost\":{\"bpf\":{\"sample\":2},\"ring\":{\"code_load\":3}},\"bytes\":4321,"
	"\"overhead\":{\"collector_cpu_s\":1.5,\"bpf_cpu_s\":0.25}}\n";

START_TEST(info_as_json)
{
	struct run r = run_of(NULL);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

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
		      "     5.00 ms  at      0.051000 s  pid 100  number 1  3.0 -> 1.0 MiB  G1 young, System.gc()\n"
		      "   not ended  at      0.182000 s  pid 100  number 2  unknown\n"
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

START_TEST(html_keeps_names_inside)
{
	struct run r = run_of(NULL);
	char *text = NULL;
	size_t size = 0, scripts = 0;
	FILE *out = open_memstream(&text, &size);
	const char *data;

	ck_assert_int_eq(report_html(out, r.v, "</script><b>&"), 0);
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

/* ---- through files ---- */

static char trace_path[] = "/tmp/braid-export-XXXXXX";
static char output_path[] = "/tmp/braid-export-XXXXXX";
static char error_path[] = "/tmp/braid-export-XXXXXX";

static void setup_files(void)
{
	struct trace_writer *w;

	close(mkstemp(trace_path));
	close(mkstemp(output_path));
	close(mkstemp(error_path));
	ck_assert_int_eq(trace_writer_open(&w, trace_path), 0);
	for (size_t i = 0; i < SYNTHETIC_COUNT; i++)
		ck_assert_int_eq(trace_writer_put(w, &synthetic[i]), 0);
	ck_assert_int_eq(trace_writer_close(w), 0);
}

static void remove_files(void)
{
	unlink(trace_path);
	unlink(output_path);
	unlink(error_path);
}

static char error_text[4096];

static void read_back(const char *path, char *text, size_t size)
{
	FILE *in = fopen(path, "r");

	ck_assert_ptr_nonnull(in);
	text[fread(text, 1, size - 1, in)] = '\0';
	fclose(in);
}

/* Runs a subcommand with its output in files, and returns what it wrote; what it said is in error_text. */
static char *output_of(int (*command)(int, char **), int expected, const char *const *args)
{
	char *argv[16];
	int argc = 0, status, out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
	char *text = calloc(1, 1 << 20);

	for (; args[argc]; argc++)
		argv[argc] = (char *)(uintptr_t)args[argc];
	argv[argc] = NULL;
	fflush(stdout);
	ck_assert_ptr_nonnull(freopen(output_path, "w", stdout));
	ck_assert_ptr_nonnull(freopen(error_path, "w", stderr));
	status = command(argc, argv);
	fflush(stdout);
	fflush(stderr);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	close(out);
	close(err);
	read_back(output_path, text, 1 << 20);
	read_back(error_path, error_text, sizeof(error_text));
	ck_assert_msg(status == expected, "status %d: %s", status, error_text);
	return text;
}

/* Fails with status 1 and says `expected` in one line. */
static void refused(int (*command)(int, char **), const char *expected, const char *const *args)
{
	char *text = output_of(command, 1, args);
	const char *end = strchr(error_text, '\n');

	ck_assert_msg(strstr(error_text, expected) != NULL, "%s", error_text);
	ck_assert_ptr_nonnull(end);
	ck_assert_str_eq(end, "\n");
	ck_assert_str_eq(text, "");
	free(text);
}

#define RUN(command, ...) output_of(command, 0, (const char *const[]){"braid x", __VA_ARGS__, NULL})

START_TEST(replay_is_report)
{
	char *report = RUN(cmd_report, trace_path);
	char *replay = RUN(cmd_replay, trace_path);
	char *paced = RUN(cmd_replay, "--speed", "10", trace_path);

	ck_assert_ptr_nonnull(strstr(report, "19 in 7 stacks"));
	ck_assert_str_eq(report, replay);
	ck_assert_str_eq(report, paced);
	free(report);
	free(replay);
	free(paced);
}
END_TEST

START_TEST(script_of_a_thread)
{
	char *text = RUN(cmd_script, "--tid", "101", "--from", "0.05", "--to", "61ms", trace_path);

	ck_assert_str_eq(text, "main 100/101 [000] 10.050000000:          1 cpu-clock:\n"
			       "\tffffffff81000020 do_syscall_64+0x20 ([kernel.kallsyms])\n"
			       "\t    7d0000001010 demo.Util.inline (/tmp/perf-100.map)\n"
			       "\t    7d0000001010 demo.Main.work (/tmp/perf-100.map)\n"
			       "\t             800 demo.Main.main (/tmp/perf-100.map)\n"
			       "\t    7f0000001010 __libc_start_main+0x10 (/usr/lib/libc.so.6)\n"
			       "\n"
			       "main 100/101 [000] 10.060000000:          1 cpu-clock:\n"
			       "\t    7d0000001104 <script>alert(1)</script>.run (/tmp/perf-100.map)\n"
			       "\t             800 demo.Main.main (/tmp/perf-100.map)\n"
			       "\t    7f0000001010 __libc_start_main+0x10 (/usr/lib/libc.so.6)\n"
			       "\n");
	free(text);
}
END_TEST

START_TEST(script_of_other_events)
{
	char *text = RUN(cmd_script, trace_path);

	ck_assert_ptr_nonnull(strstr(
		text, "\njava 100/100 [000] 10.051000000: braid:gc_pause: collector=\"G1 young\" cause=\"System.gc()\" "
		      "duration_ns=5000000 before_bytes=3145728 after_bytes=1048576 number=1 flags=0x0"));
	ck_assert_ptr_nonnull(strstr(text, "http_nio_8080 100/102 [000] 10.005000000: braid:thread_start: "));
	ck_assert_ptr_nonnull(strstr(text, "http_nio_8080 100/102 [001] 10.100000000:          1 cpu-clock:\n"
					   "\t    7f0000003456 [libc.so.6+0x3456] (/usr/lib/libc.so.6)\n"
					   "\t               0 [incomplete: no_cfi] ([unknown])\n\n"));
	ck_assert_ptr_nonnull(strstr(text, "braid:loss: hop=\"ring\" kind=\"code_load\" count=2\n"));
	ck_assert_ptr_nonnull(strstr(text, "worker;x 200/200 [000] 10.180000000:          1 cpu-clock:\n"
					   "\t               0 [incomplete: no_stack] ([unknown])\n\n"));
	free(text);
	text = RUN(cmd_script, "--raw", trace_path);
	ck_assert_ptr_nonnull(strstr(text, "demo.Util"));
	free(text);
}
END_TEST

START_TEST(commands_read_files)
{
	char *text = RUN(cmd_info, "--json", trace_path);

	ck_assert_ptr_nonnull(strstr(text, "\"java_samples\":{\"total\":13,\"complete\":11,"));
	free(text);
	text = RUN(cmd_export, "--format", "collapsed", "--comm", "worker;x", trace_path);
	ck_assert_str_eq(text, "[incomplete: no_stack] 1\n__libc_start_main;foo::bar(int) 5\n");
	free(text);
	text = RUN(cmd_report, "--json", "--top", "1", trace_path);
	ck_assert_ptr_nonnull(strstr(text, "\"methods\":[{\"name\":\"foo::bar(int)\",\"kind\":\"native\",\"self\":5,"
					   "\"total\":5,\"kinds\":{\"native\":5}}]"));
	free(text);
}
END_TEST

#define REFUSED(command, expected, ...) refused(command, expected, (const char *const[]){"braid x", __VA_ARGS__, NULL})

START_TEST(commands_refuse)
{
	REFUSED(cmd_report, "cannot read /nonexistent: No such file", "/nonexistent");
	REFUSED(cmd_info, "/etc/passwd is not a braid trace (", "/etc/passwd");
	REFUSED(cmd_script, "record one with `braid record`", "/etc/passwd");
	REFUSED(cmd_replay, "/ is not a braid trace (", "/");
	REFUSED(cmd_export, "is the trace itself", "--format", "collapsed", "-o", trace_path, trace_path);
	REFUSED(cmd_export, "/dev/full: No space left", "--format", "collapsed", "-o", "/dev/full", trace_path);
	REFUSED(cmd_report, "/dev/full: No space left", "--html", "/dev/full", trace_path);
	REFUSED(cmd_report, "cannot write /nonexistent/x: No such file", "--html", "/nonexistent/x", trace_path);
	/* the trace was not written over */
	free(RUN(cmd_info, trace_path));
}
END_TEST

START_TEST(command_line_is_checked)
{
	static const char *bad[][5] = {
		{"braid report", "--from", "soon", "x", NULL},
		{"braid report", "--pid", "1,", "x", NULL},
		{"braid report", "--include", "a(", "x", NULL},
		{"braid report", "--top", "-1", "x", NULL},
		{"braid report", "a", "b", NULL},
		{"braid report", NULL},
	};
	int argc = 0;

	while (bad[_i][argc])
		argc++;
	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
	/* leaves by exit(2), which the test case expects */
	cmd_report(argc, (char **)(uintptr_t)bad[_i]);
}
END_TEST

START_TEST(full_disk_is_an_error)
{
	static int (*const commands[])(int, char **) = {cmd_report, cmd_info, cmd_script, cmd_replay};
	char *argv[] = {(char[]){"braid x"}, trace_path, NULL};

	fflush(stdout);
	ck_assert_ptr_nonnull(freopen("/dev/full", "w", stdout));
	ck_assert_ptr_nonnull(freopen(error_path, "w", stderr));
	ck_assert_int_eq(commands[_i](2, argv), 1);
	fflush(stderr);
	read_back(error_path, error_text, sizeof(error_text));
	ck_assert_str_eq(error_text, "braid: cannot write standard output: No space left on device\n");
}
END_TEST

START_TEST(top_limits)
{
	char *text = RUN(cmd_export, "--format", "collapsed", "--top", "2", trace_path);

	ck_assert_str_eq(text, "__libc_start_main;demo.Main.main;demo.Main.work;demo.Util.inline 4\n"
			       "__libc_start_main;foo::bar(int) 5\n");
	free(text);
	text = RUN(cmd_script, "--top", "1", trace_path);
	ck_assert_ptr_eq(strstr(text, "\n\n"), text + strlen(text) - 2);
	free(text);
}
END_TEST

Suite *test_export(void)
{
	Suite *s = suite_create("export");
	TCase *memory = tcase_create("memory");
	TCase *files = tcase_create("files");
	TCase *leaves = tcase_create("command line");

	tcase_add_test(memory, collapsed_plain);
	tcase_add_test(memory, collapsed_annotated);
	tcase_add_test(memory, filter_process_and_thread);
	tcase_add_test(memory, filter_time);
	tcase_add_test(memory, filter_expressions);
	tcase_add_test(memory, info_as_json);
	tcase_add_test(memory, report_as_text);
	tcase_add_test(memory, html_keeps_names_inside);
	suite_add_tcase(s, memory);
	tcase_add_checked_fixture(files, setup_files, remove_files);
	tcase_add_test(files, replay_is_report);
	tcase_add_test(files, script_of_a_thread);
	tcase_add_test(files, script_of_other_events);
	tcase_add_test(files, commands_read_files);
	tcase_add_test(files, commands_refuse);
	tcase_add_loop_test(files, full_disk_is_an_error, 0, 4);
	tcase_add_test(files, top_limits);
	suite_add_tcase(s, files);
	/* without the fixture, whose end exit() would skip */
	tcase_add_loop_exit_test(leaves, command_line_is_checked, 2, 0, 6);
	suite_add_tcase(s, leaves);
	return s;
}
