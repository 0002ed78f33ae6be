// SPDX-License-Identifier: Apache-2.0
/* Tests of the subcommands that read traces: what they print and refuse. */
#include <cli/common.h>
#include <cli/recording.h>
#include <explain/at.h>
#include <report/report.h>
#include <sys/wait.h>

#include "unit/commands_fixture.h"

Suite *test_commands(void);

START_TEST(replay_is_report)
{
	char *report = RUN(cmd_report, "--full", trace_path);
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

/* Times that are centuries apart do not hold a replay until the test's time is over. */
START_TEST(replay_of_lying_times)
{
	struct trace_rec far = {.kind = TRACE_SAMPLE, .sample = {.thread = 1, .node = 1, .weight = 1}};
	struct trace_writer *w = begin_trace();

	for (far.sample.time_ns = 1ULL << 60; far.sample.time_ns; far.sample.time_ns <<= 1)
		ck_assert_int_eq(trace_writer_put(w, &far), 0);
	ck_assert_int_eq(trace_writer_close(w), 0);
	free(RUN(cmd_replay, "--speed", "1000", trace_path));
}
END_TEST

START_TEST(script_of_a_thread)
{
	char *text = RUN(cmd_script, "--tid", "101", "--from", "0.051", "--to", "62ms", trace_path);

	ck_assert_str_eq(text, "main 100/101 [000] 0.051000000:          1 cpu-clock:\n"
			       "\tffffffff81000020 do_syscall_64+0x20 ([kernel.kallsyms])\n"
			       "\t    7d0000001010 demo.Util.inline (/tmp/perf-100.map)\n"
			       "\t    7d0000001010 demo.Main.work (/tmp/perf-100.map)\n"
			       "\t             800 demo.Main.main (/tmp/perf-100.map)\n"
			       "\t    7f0000001010 __libc_start_main+0x10 (/usr/lib/libc.so.6)\n"
			       "\n"
			       "main 100/101 [000] 0.061000000:          1 cpu-clock:\n"
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
		text, "\njava 100/100 [000] 0.052000000: braid:gc_pause: collector=\"G1 young\" cause=\"System.gc()\" "
		      "duration_ns=5000000 before_bytes=3145728 after_bytes=1048576 number=1 flags=0x0"));
	ck_assert_ptr_nonnull(strstr(text, "http_nio_8080 100/102 [000] 0.006000000: braid:thread_start: "));
	ck_assert_ptr_nonnull(strstr(text, "http_nio_8080 100/102 [001] 0.101000000:          1 cpu-clock:\n"
					   "\t    7f0000003456 [libc.so.6+0x3456] (/usr/lib/libc.so.6)\n"
					   "\t               0 [incomplete: no_cfi] ([unknown])\n\n"));
	ck_assert_ptr_nonnull(strstr(text, "braid:loss: hop=\"ring\" kind=\"code_load\" count=2\n"));
	ck_assert_ptr_nonnull(strstr(text, "worker;x 200/200 [000] 0.181000000:          1 cpu-clock:\n"
					   "\t               0 [incomplete: no_stack] ([unknown])\n\n"));
	free(text);
	text = RUN(cmd_script, "--raw", trace_path);
	ck_assert_ptr_nonnull(strstr(text, "demo.Util"));
	free(text);
}
END_TEST

START_TEST(script_of_named_events)
{
	static const struct trace_rec hits[] = {
		REC(TRACE_NAME, name, 100, S("uprobe:/a:begin")),
		REC(TRACE_NAME, name, 101, S("uprobe:/a:end")),
		REC(TRACE_NAME, name, 102, S("uprobe:/a:other")),
		REC(TRACE_SAMPLE, sample, BASE_NS + 15 * MS, 1, 0, 3, 1, 0, 100),
		REC(TRACE_SAMPLE, sample, BASE_NS + 25 * MS, 1, 0, 3, 1, 0, 101),
		REC(TRACE_SAMPLE, sample, BASE_NS + 35 * MS, 1, 0, 3, 1, 0, 102),
	};
	struct trace_writer *w = begin_trace();
	char *text;

	for (size_t i = 0; i < sizeof(hits) / sizeof(hits[0]); i++)
		ck_assert_int_eq(trace_writer_put(w, &hits[i]), 0);
	ck_assert_int_eq(trace_writer_close(w), 0);
	text = RUN(cmd_script, "--event", "begin", "--event", "end", "--event", "gc_pause", trace_path);
	ck_assert_ptr_nonnull(strstr(text, " uprobe:/a:begin:\n"));
	ck_assert_ptr_nonnull(strstr(text, " uprobe:/a:end:\n"));
	ck_assert_ptr_nonnull(strstr(text, " braid:gc_pause: "));
	ck_assert_ptr_null(strstr(text, " uprobe:/a:other:\n"));
	ck_assert_ptr_null(strstr(text, " cpu-clock:\n"));
	free(text);
	refused(cmd_script, "'nothing' is neither",
		(const char *const[]){"braid x", "--event", "nothing", "--event", "end", trace_path, NULL});
}
END_TEST

/* Seconds since the start, since boot, and since 1970, all of the same sample. */
START_TEST(script_time_bases)
{
	static const char *const expected[][2] = {{"start", "0.051000000"},
						  {"monotonic", "10.050000000"},
						  {"wall", "2026-01-01T01:00:00.051000000+0100"}};

	use_zone("XXX-1");
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		char head[96], *text = RUN(cmd_script, "--time", expected[i][0], "--from", "01:00:00.051", "--to",
					   "2026-01-01T00:00:00.052Z", trace_path);

		snprintf(head, sizeof(head), "main 100/101 [000] %s:          1 cpu-clock:\n\t", expected[i][1]);
		ck_assert_msg(strncmp(text, head, strlen(head)) == 0, "%s", text);
		free(text);
	}
}
END_TEST

#define STEP_MS 5 /* between samples, of which each has a block */
#define STEPS 100

/* The samples that are kept for a moment 1.2 s after the start. */
static size_t kept_near(bool with_span)
{
	struct trace_rec span = REC(TRACE_SPAN, span, 1, 1, 1, 2, 3);
	struct trace_writer *w = begin_trace();
	struct filter moment = {.has_from = true};
	struct loaded l;
	size_t kept;

	for (unsigned i = 0; i < STEPS; i++) {
		struct trace_rec sample = SAMPLE(1000 + STEP_MS * i, 1, 0, 4);

		ck_assert_int_eq(trace_writer_put(w, &sample), 0);
		ck_assert_int_eq(trace_writer_flush(w), 0);
	}
	if (with_span)
		ck_assert_int_eq(trace_writer_put(w, &span), 0);
	ck_assert_int_eq(trace_writer_close(w), 0);
	ck_assert_int_eq(moment_parse("1.2", &moment.from), 0);
	ck_assert(common_load_near(&l, trace_path, &moment, at_near_ns, NULL));
	kept = l.analyzer->samples.count;
	ck_assert_uint_eq(l.analyzer->last_ns, BASE_NS + (1000 + STEP_MS * (STEPS - 1)) * MS);
	common_unload(&l);
	return kept;
}

/* Samples far away say nothing of a moment, unless they say how long spans are. */
START_TEST(near_samples_are_kept)
{
	ck_assert_uint_eq(kept_near(false),
			  4); /* at 99 Hz, those within 10.1 ms; the start is 1 ms before the first event */
	ck_assert_uint_gt(kept_near(true), STEPS);
}
END_TEST

/* A pause from 51 to 56 ms after the first event is in both windows, each with its part. */
START_TEST(windows_are_shown)
{
	char *text;

	use_zone("UTC");
	text = RUN(cmd_report, "--full", "--from", "53ms", "--to", "55ms", "--pid", "100", trace_path);
	ck_assert_ptr_nonnull(strstr(text, "\n  began      2026-01-01 00:00:00.000 +0000\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n  filter     pid 100; from 0.053000 s (2026-01-01 00:00:00.053 +0000); "
					   "to 0.055000 s (2026-01-01 00:00:00.055 +0000)\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n  1 pause, total 2.00 ms, "));
	ck_assert_ptr_nonnull(strstr(text, " 2.00 ms  at      0.053000 s  pid 100  number 1  "));
	free(text);
	text = RUN(cmd_report, "--json", "--from", "55ms", "--to", "1m", trace_path);
	ck_assert_ptr_nonnull(strstr(text, "\"at_s\":0.055,\"duration_s\":0.002,"));
	ck_assert_ptr_nonnull(strstr(text, "\"filter\":\"from 0.055000 s"));
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

/* Unreadable parts are shown as loss and in the exit status; everything else is shown. */
START_TEST(damage_is_loss)
{
	static int (*const commands[])(int, char **) = {cmd_report, cmd_replay, cmd_script, cmd_export, cmd_info};
	const char *const args[] = {"braid x", trace_path, NULL},
			  *const json[] = {"braid x", "--json", trace_path, NULL},
			  *const full[] = {"braid x", "--full", trace_path, NULL},
			  *const raw[] = {"braid x", "--raw", trace_path, NULL},
			  *const batch[] = {"braid x", "--batch", trace_path, NULL};
	FILE *f = fopen(trace_path, "r+");
	char *text;
	long size;

	fseek(f, 0, SEEK_END);
	size = ftell(f);
	ck_assert_int_eq(fputs("nothing that braid wrote", f), 1);
	ck_assert_int_eq(fclose(f), 0);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		char said[128];

		snprintf(said, sizeof(said), "is damaged: 24 of its %ld bytes cannot be read\n", size + 24);
		text = output_of(commands[i], 3, args);
		ck_assert_ptr_nonnull(strstr(error_text, said));
		ck_assert_ptr_nonnull(strstr(text, "foo::bar(int)") ?: strstr(text, "19 in 7 stacks"));
		free(text);
	}
	text = output_of(cmd_report, 3, args);
	ck_assert_ptr_nonnull(strstr(text, "  damaged: 24 bytes skipped\n"));
	free(text);
	text = output_of(cmd_report, 3, full);
	ck_assert_ptr_nonnull(strstr(text, "\nLoss\n  bpf        sample                    2\n"
					   "  file       byte                     24\n"));
	free(text);
	text = output_of(cmd_info, 3, json);
	ck_assert_ptr_nonnull(strstr(text, "\"file\":{\"byte\":24}"));
	ck_assert_ptr_nonnull(strstr(text, "\"ended\":true,\"damaged\":true"));
	free(text);
	free(output_of(cmd_script, 3, raw));
	ck_assert_ptr_nonnull(strstr(error_text, "is damaged: 24 of its"));
	text = output_of(cmd_top, 3, batch);
	ck_assert_ptr_nonnull(strstr(error_text, "is damaged: 24 of its"));
	ck_assert_ptr_nonnull(strstr(text, "foo::bar(int)"));
	free(text);
}
END_TEST

/* A killed recorder leaves a trace that is complete up to its end. */
START_TEST(end_is_missing)
{
	struct trace_writer *w;
	char *text;

	ck_assert_int_eq(trace_writer_open(&w, trace_path), 0);
	for (size_t i = 0; i < SYNTHETIC_COUNT; i++)
		if (synthetic[i].kind != TRACE_END && synthetic[i].kind != TRACE_LOSS)
			ck_assert_int_eq(trace_writer_put(w, &synthetic[i]), 0);
	ck_assert_int_eq(trace_writer_close(w), 0);
	text = RUN(cmd_report, "--full", trace_path);
	ck_assert_ptr_nonnull(strstr(error_text, "the recording did not end in order"));
	ck_assert_ptr_nonnull(strstr(text, "\nLoss\n  nothing lost in what was written; the recording did not end"));
	free(text);
	text = RUN(cmd_script, "--raw", trace_path);
	ck_assert_ptr_nonnull(strstr(error_text, "the recording did not end in order"));
	free(text);
}
END_TEST

/* Two requests of thread 1: one of 20 ms that sleeps for 15, and one of 30 ms. */
START_TEST(slow_spans_are_explained)
{
#define SLEEP(ms, lasted, of)                                                                                          \
	REC(TRACE_JVM_EVENT, jvm_event, .time_ns = BASE_NS + (ms)*MS, .kind = BRAID_JVM_OFFCPU, .process = 1,          \
	    .thread = 1, .duration_ns = (lasted)*MS, .flags = BRAID_OFFCPU_SLEEP << BRAID_OFFCPU_CLASS_SHIFT,          \
	    .span = of)
	const struct trace_rec spans[] = {
		REC(TRACE_SPAN, span, 1, 1, 1, 2, 0xa1),
		REC(TRACE_SPAN, span, 2, 1, 1, 2, 0xa2),
		REC(TRACE_JVM_EVENT, jvm_event, .time_ns = BASE_NS, .kind = BRAID_JVM_THREAD_TIME, .process = 1,
		    .thread = 1, .duration_ns = 200 * MS, .value = 155 * MS),
		SLEEP(10, 5, 1),
		SLEEP(20, 10, 1),
		SLEEP(100, 30, 2),
	};
	struct trace_writer *w;
	char *text, change[] = "sleeping=0";

	ck_assert_int_eq(trace_writer_open(&w, trace_path), 0);
	for (size_t i = 0; i < SYNTHETIC_COUNT; i++)
		if (synthetic[i].kind != TRACE_END)
			ck_assert_int_eq(trace_writer_put(w, &synthetic[i]), 0);
	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++)
		ck_assert_int_eq(trace_writer_put(w, &spans[i]), 0);
	ck_assert_int_eq(trace_writer_close(w), 0);
	text = RUN(cmd_explain, "--slowest", "9", trace_path);
	ck_assert_ptr_nonnull(strstr(text, "Span 00000000000000a2\nmain (101) took 30.00 ms: 100% sleeping\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n\nSpan 00000000000000a1\nmain (101) took 20.00 ms: 75% sleeping\n"));
	free(text);
	text = RUN(cmd_explain, "--span", "00000000000000a1", trace_path);
	ck_assert_ptr_null(strstr(text, "Span 00000000000000a2"));
	free(text);
	text = RUN(cmd_explain, "--span", "00000000000000a1", "--what-if", change, trace_path);
	ck_assert_ptr_nonnull(
		strstr(text, "main would have taken 5.00 ms instead of 20.00 ms: 75% less\n"
			     "the program, by its thread main, would have taken 155.00 ms instead of 200.00 ms: "
			     "22% less\n"));
	free(text);
	text = RUN(cmd_explain, "--diff", trace_path);
	ck_assert_ptr_nonnull(strstr(text,
				     "Span 00000000000000a2\nagainst the typical one, 00000000000000a1\n"
				     "main (101) took 30.00 ms, 10.00 ms more than 20.00 ms, the median of 2 spans\n"));
	free(text);
	text = RUN(cmd_explain, "--span", "00000000000000a1", "--against", "00000000000000a2", trace_path);
	ck_assert_ptr_nonnull(strstr(text, "main (101) took 20.00 ms, 10.00 ms less than 30.00 ms\n"));
	free(text);
	text = output_of(cmd_explain, 1,
			 (const char *const[]){"braid x", "--diff", "--span", "00000000000000a1", trace_path, NULL});
	ck_assert_ptr_nonnull(strstr(error_text, "the span 00000000000000a1 is the typical one itself\n"));
	free(text);
	text = RUN(cmd_explain, "--thread", "main", "--from", "11ms", "--to", "16ms", "--against", "101ms..111ms",
		   trace_path);
	ck_assert_ptr_nonnull(strstr(text, "main (101) took 5.00 ms, 5.00 ms less than 10.00 ms\n"));
	free(text);
}
END_TEST

#define REFUSED(command, expected, ...) refused(command, expected, (const char *const[]){"braid x", __VA_ARGS__, NULL})

/* A process without memory, as kernel threads are, is not denied. */
static void refuse_ended(void)
{
	siginfo_t ended;
	char text[16];
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT), 0);
	snprintf(text, sizeof(text), "%d", (int)pid);
	REFUSED(cmd_memory, " has no memory: it is a kernel thread, or has just ended", text);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

START_TEST(commands_refuse)
{
	REFUSED(cmd_report, "has no process 4711", "--pid", "100,4711", trace_path);
	REFUSED(cmd_script, "has no thread 4711", "--tid", "4711", trace_path);
	REFUSED(cmd_export, "--from must be before --to", "--from", "2", "--to", "1", trace_path);
	REFUSED(cmd_report, "--from must be before --to", "--from", "1", "--to", "1", trace_path);
	REFUSED(cmd_replay, "are outside of the recording: ", "--from", "100", trace_path);
	REFUSED(cmd_report, "are outside of the recording: ", "--to", "2025-12-31T23:59:59Z", trace_path);
	REFUSED(cmd_report, "cannot read /nonexistent: No such file", "/nonexistent");
	REFUSED(cmd_info, "/etc/passwd is not a braid trace (", "/etc/passwd");
	REFUSED(cmd_script, "`braid record` records one, and `braid import`", "/etc/passwd");
	REFUSED(cmd_replay, "/ is not a braid trace (", "/");
	REFUSED(cmd_memory, "no process 4194304", "4194304");
	REFUSED(cmd_export, "is the trace itself", "--format", "collapsed", "-o", trace_path, trace_path);
	REFUSED(cmd_export, "/dev/full: No space left", "--format", "collapsed", "-o", "/dev/full", trace_path);
	REFUSED(cmd_report, "/dev/full: No space left", "--html", "/dev/full", trace_path);
	REFUSED(cmd_report, "cannot write /nonexistent/x: No such file", "--html", "/nonexistent/x", trace_path);
	REFUSED(cmd_explain, "has no times of a thread 'main'", "--thread", "main", trace_path);
	REFUSED(cmd_explain, "has no times of spans", "--slowest", "2", trace_path);
	REFUSED(cmd_explain, "are outside of the recording: ", "--thread", "main", "--from", "100", trace_path);
	refuse_ended();
	/* the trace was not overwritten */
	free(RUN(cmd_info, trace_path));
}
END_TEST

static const struct {
	int (*command)(int, char **);
	const char *args[5];
} bad[] = {
	{cmd_report, {"braid report", "--from", "soon", "x"}},
	{cmd_report, {"braid report", "--pid", "1,", "x"}},
	{cmd_report, {"braid report", "--include", "a(", "x"}},
	{cmd_report, {"braid report", "--top", "-1", "x"}},
	{cmd_report, {"braid report", "a", "b"}},
	{cmd_explain, {"braid explain", "x"}},
	{cmd_explain, {"braid explain", "--thread", "1", "--slowest=2"}},
	{cmd_explain, {"braid explain", "--thread", "1", "--against=1.."}},
	{cmd_explain, {"braid explain", "--thread", "1", "--against=..2"}},
	{cmd_explain, {"braid explain", "--slowest=1", "--against=1..2"}},
	{cmd_explain, {"braid explain", "--diff", "--thread", "1"}},
	{cmd_explain, {"braid explain", "--diff", "--slowest=2"}},
	{cmd_explain, {"braid explain", "--diff", "--against=00000000000000a1"}},
	{cmd_explain, {"braid explain", "--diff", "--what-if=io=0"}},
	/* 2^32 + 999999999 and the like would be other processes if they were cut */
	{cmd_heap, {"braid heap", "5294967295"}},
	{cmd_memory, {"braid memory", "999999999"}},
	{cmd_threads, {"braid threads", "0"}},
	{cmd_record, {"braid record", "-p", "4194304.9"}},
	{cmd_record, {"braid record", "-p", "0x3fffff"}},
	{cmd_record, {"braid record", "-p", "4194304,4294967297"}},
	{cmd_record, {"braid record", "-o", "", "-p4194304"}},
	{cmd_export, {"braid export", "-o", "", "/etc/passwd"}},
	{cmd_cut, {"braid cut", "-o", "", "--pid=1"}},
	{cmd_report, {"braid report", "--html", "", "/etc/passwd"}},
	{cmd_record, {"braid record", "-p4194304", "--agent-opts", "verbose,spil=1"}},
	{cmd_record, {"braid record", "-p4194304", "--agent-opts", "spill=1k"}},
	{cmd_record, {"braid record", "-p4194304", "--agent-opts", "verbose=1"}},
	{cmd_record, {"braid record", "-p4194304", "--agent-opts", "sock=/tmp/x"}},
	{cmd_ctl, {"braid ctl", "4194305", "status"}},
	{cmd_query, {"braid query", "/etc/passwd"}}, /* a file, and no question */
	{cmd_query, {"braid query", "--named", "no-such-question"}},
};

START_TEST(command_line_is_checked)
{
	char *argv[5] = {0};
	int argc = 0;

	for (; bad[_i].args[argc]; argc++)
		argv[argc] = strdup(bad[_i].args[argc]); /* lists are taken apart where they are */
	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
	/* leaves by exit(2), which the test case expects */
	bad[_i].command(argc, argv);
}
END_TEST

/* A mistake in the agent's options is told with those that there are, and what is valid is not the mistake. */
START_TEST(agent_options_are_named)
{
	char *argv[] = {(char[]){"braid record"}, (char[]){"-p4194304"}, (char[]){"--agent-opts"},
			(char[]){"wait_ms=1,spil=1"}, NULL};
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		ck_assert_ptr_nonnull(freopen(error_path, "w", stderr));
		_exit(cmd_record(4, argv));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 2);
	read_back(error_path, error_text, sizeof(error_text));
	ck_assert_ptr_nonnull(strstr(error_text, "--agent-opts: unknown option 'spil=1'; the options are spill=BYTES, "
						 "wait_ms=MILLISECONDS and verbose\n"));
}
END_TEST

/* Without a FILE the commands read the one that `record` writes. */
START_TEST(default_is_read)
{
	static int (*const commands[])(int, char **) = {cmd_report, cmd_replay, cmd_script, cmd_export, cmd_info};
	char dir[] = "/tmp/braid-export-XXXXXX";

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		refused(commands[i], "no braid.trace in this directory", (const char *const[]){"braid x", NULL});
	ck_assert_int_eq(symlink(trace_path, "braid.trace"), 0);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		char *named = RUN(commands[i], "braid.trace"), *text = RUN(commands[i], "--", NULL);

		ck_assert_str_eq(text, named);
		free(named);
		free(text);
	}
	ck_assert_int_eq(unlink("braid.trace"), 0);
	ck_assert_int_eq(rmdir(dir), 0);
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

/* One recursion of 10,000 frames, hit at each of its depths: a trace of some kilobytes, whose lines are a gigabyte. */
START_TEST(a_large_export_is_announced)
{
	struct trace_writer *w = begin_trace();
	enum { DEPTH = 10000, FIRST = 100 };

	for (uint32_t i = 0; i < DEPTH; i++) {
		const struct trace_rec node = REC(TRACE_NODE, node, FIRST + i, i ? FIRST + i - 1 : 0, 3);
		const struct trace_rec sample = SAMPLE(60, 1, 0, FIRST + i);

		ck_assert_int_eq(trace_writer_put(w, &node), 0);
		ck_assert_int_eq(trace_writer_put(w, &sample), 0);
	}
	ck_assert_int_eq(trace_writer_close(w), 0);
	free(output_of(cmd_export, 1, (const char *const[]){"braid x", "-o", "/dev/full", trace_path, NULL}));
	ck_assert_msg(strstr(error_text, "writing ") && strstr(error_text, " GiB, ") && strstr(error_text, "--top N"),
		      "%s", error_text);
	free(RUN(cmd_export, "-o", "/dev/null", "--top", "5", trace_path));
	ck_assert_str_eq(error_text, "");
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

/* The preset "all" names every type that it leaves out, and no other one. */
START_TEST(help_of_all)
{
	char *text = recording_help(ARGP_KEY_HELP_POST_DOC, "", NULL), *line, *end, word[32];

	ck_assert_ptr_nonnull(text);
	line = strstr(text, " all of these but ");
	ck_assert_ptr_nonnull(line);
	end = strchr(line, '\n');
	ck_assert_ptr_nonnull(end);
	memcpy(end, ",", 2);
	for (int type = 0; type < BRAID_EVENT_TYPES; type++) {
		bool named;

		snprintf(word, sizeof(word), " %s", event_type_name(type));
		named = strstr(line, word) && strchr(", ", strstr(line, word)[strlen(word)]);
		ck_assert_msg(named == !(BRAID_EVENT_TYPES_ALL >> type & 1), "%s in '%s'", word, line);
	}
	free(text);
}
END_TEST

Suite *test_commands(void)
{
	Suite *s = suite_create("commands");
	TCase *files = tcase_create("files");
	TCase *leaves = tcase_create("command line");

	tcase_add_unchecked_fixture(files, make_directory, remove_directory);
	tcase_add_checked_fixture(files, write_trace, NULL);
	tcase_add_test(files, replay_is_report);
	tcase_add_test(files, replay_of_lying_times);
	tcase_add_test(files, script_of_a_thread);
	tcase_add_test(files, script_of_other_events);
	tcase_add_test(files, script_of_named_events);
	tcase_add_test(files, script_time_bases);
	tcase_add_test(files, near_samples_are_kept);
	tcase_add_test(files, windows_are_shown);
	tcase_add_test(files, commands_read_files);
	tcase_add_test(files, default_is_read);
	tcase_add_test(files, damage_is_loss);
	tcase_add_test(files, end_is_missing);
	tcase_add_test(files, slow_spans_are_explained);
	tcase_add_test(files, commands_refuse);
	tcase_add_test(files, agent_options_are_named);
	tcase_add_loop_test(files, full_disk_is_an_error, 0, 4);
	tcase_add_test(files, a_large_export_is_announced);
	tcase_add_test(files, top_limits);
	suite_add_tcase(s, files);
	/* without the fixture, whose end exit() would skip */
	tcase_add_test(leaves, help_of_all);
	tcase_add_loop_exit_test(leaves, command_line_is_checked, 2, 0, sizeof(bad) / sizeof(bad[0]));
	suite_add_tcase(s, leaves);
	return s;
}
