// SPDX-License-Identifier: Apache-2.0
/* Tests of imports: what braid exports comes back as it was, and what other tools write is understood. */
#include <compare/diff.h>
#include <edit/edit.h>
#include <export/stack_table.h>
#include <import/input.h>
#include <jfr/jfr.h>
#include <report/report.h>

#include "import_fixture.h"

Suite *test_import(void);

/* ---- there and back ---- */

/* A file that braid exports of the trace with all fixtures. */
struct exported {
	struct stream_file f;
	char *bytes;
	size_t size;
};

static struct exported export_with(int (*write)(FILE *out, struct stream_file *f))
{
	struct exported x = {.f = stream_open(NULL)};
	FILE *out = open_memstream(&x.bytes, &x.size);

	ck_assert_int_eq(write(out, &x.f), 0);
	fclose(out);
	return x;
}

static void exported_free(struct exported *x)
{
	stream_close(&x->f);
	free(x->bytes);
}

static int write_collapsed(FILE *out, struct stream_file *f)
{
	const struct collapsed_options options = {.annotate = true, .threads = true};

	return collapsed_write(out, f->an, &f->an->samples, &options);
}

static int write_pprof(FILE *out, struct stream_file *f)
{
	const struct profile_unit unit = {.name = "samples", .unit = UNIT_COUNT, .period_ns = 10000000};
	struct stack_table t;
	int err = stack_table_new(&t, f->an, &f->an->samples, 0);

	err = err ?: pprof_write(out, &t, &unit, false);
	stack_table_free(&t);
	return err;
}

static int write_jfr(FILE *out, struct stream_file *f)
{
	static const struct timed_options all = {.own_stacks = true};
	struct timed_source s;
	int err = timed_open(&s, f->reader, f->an, &all);

	err = err ?: jfr_write_chunks(out, &s, 500); /* so that there are several */
	timed_close(&s);
	return err;
}

static int write_script(FILE *out, struct stream_file *f)
{
	const struct script_options options = {.annotate = true};
	const struct jvm_event_row *row;
	struct trace_rec rec;
	struct stream s;

	stream_begin(&s, f->reader, f->an);
	while (stream_record(&s, &rec, &row) == 1)
		script_print(out, f->an, &rec, row, &options);
	return 0;
}

static uint64_t sum_of_times(const struct analysis *an)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < an->a->samples.count; i++)
		sum += an->a->samples.at[i].time_ns - an->a->samples.at[0].time_ns;
	return sum;
}

/* One loop for all formats: stacks, their weights and kinds, and, where the format has them, threads and times. */
static const struct {
	int (*write)(FILE *out, struct stream_file *f);
	const char *format;
	bool annotated, threads, times;
} ways[] = {{write_collapsed, "collapsed stacks", true, true, false},
	    {write_pprof, "pprof", false, true, false},
	    {write_jfr, "JFR 2.0", false, true, true},
	    {write_script, "perf script", true, false, true}};

START_TEST(samples_come_back)
{
	struct exported x = export_with(ways[_i].write);
	struct imported i = import_bytes(x.bytes, x.size, IMPORT_DETECT);
	char *was = stacks_of(x.f.an, ways[_i].annotated, ways[_i].threads), *odd;

	odd = strstr(was, "</script>");
	if (odd && ways[_i].write == write_jfr) /* a class of the JDK's has no '/' */
		odd[1] = '+';
	ck_assert_int_eq(i.err, 0);
	ck_assert_str_eq(i.result.format, ways[_i].format);
	ck_assert_uint_eq(i.an->samples.quality.total, x.f.an->samples.quality.total);
	ck_assert_uint_eq(i.an->samples.quality.by_cause[CAUSE_COMPLETE],
			  x.f.an->samples.quality.by_cause[CAUSE_COMPLETE]);
	ck_assert_int_eq(analyzer_has_times(i.a), ways[_i].times);
	if (ways[_i].times)
		ck_assert_uint_eq(sum_of_times(i.an), 1710 * MS); /* of 19 samples, each 10 ms after the one before */
	must_have(&i, ways[_i].annotated, ways[_i].threads, was);
	free(was);
	exported_free(&x);
}
END_TEST

static void must_equal(const struct exported *x, const struct imported *i, uint32_t kind)
{
	struct kind_sum was = sum_of(x->f.an, kind), is = sum_of(i->an, kind);

	ck_assert_msg(was.count > 0, "no %s", jvm_event_name(kind));
	ck_assert_msg(was.count == is.count && was.weight == is.weight && was.duration_ns == is.duration_ns &&
			      was.first_ns == is.first_ns,
		      "%s: %" PRIu64 " events of %" PRIu64 ", %" PRIu64 " ns; were %" PRIu64 " of %" PRIu64 ", %" PRIu64
		      " ns",
		      jvm_event_name(kind), is.count, is.weight, is.duration_ns, was.count, was.weight,
		      was.duration_ns);
}

START_TEST(events_of_jfr_come_back)
{
	struct exported x = export_with(write_jfr);
	struct imported i = import_bytes(x.bytes, x.size, IMPORT_DETECT);

	ck_assert_int_eq(i.err, 0);
	must_equal(&x, &i, BRAID_JVM_ALLOC);
	must_equal(&x, &i, BRAID_JVM_LOCK);
	must_equal(&x, &i, BRAID_JVM_EXCEPTION);
	ck_assert_uint_eq(i.an->start_realtime_ns, START_REALTIME_NS);
	import_free(&i);
	exported_free(&x);
}
END_TEST

/* Events of a script are no samples: they are what they were, with their stacks. */
START_TEST(events_of_a_script_come_back)
{
	static const uint32_t kinds[] = {BRAID_JVM_ALLOC, BRAID_JVM_LOCK, BRAID_JVM_EXCEPTION, BRAID_JVM_OFFCPU,
					 BRAID_JVM_GC_PAUSE};
	struct exported x = export_with(write_script);
	struct imported i = import_bytes(x.bytes, x.size, IMPORT_DETECT);

	ck_assert_int_eq(i.err, 0);
	ck_assert_str_eq(i.result.damage, "");
	ck_assert_uint_eq(i.result.samples, x.f.an->samples.quality.total);
	ck_assert_uint_ge(i.result.events, i.a->events.count);
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		struct kind_sum was = sum_of(x.f.an, kinds[k]), is = sum_of(i.an, kinds[k]);

		ck_assert_msg(was.count > 0, "no %s", jvm_event_name(kinds[k]));
		ck_assert_msg(was.count == is.count && was.weight == is.weight && was.duration_ns == is.duration_ns,
			      "%s: %" PRIu64 " events of %" PRIu64 ", %" PRIu64 " ns; were %" PRIu64 " of %" PRIu64
			      ", %" PRIu64 " ns",
			      jvm_event_name(kinds[k]), is.count, is.weight, is.duration_ns, was.count, was.weight,
			      was.duration_ns);
	}
	import_free(&i);
	exported_free(&x);
}
END_TEST

START_TEST(events_of_a_script)
{
	static const char text[] = "a 5/6 [000] 1.5: braid:lock: class=\"a.\\\"B\\\\\" duration_ns=70 monitor=9 odd=1\n"
				   "# container x\n"
				   "a 5/6 [000] 1.5:         70 braid:lock:\n"
				   "\t               0 a.B ([class])\n"
				   "\t            1234 main (/bin/a)\n\n"
				   "java 5/5 [000] 1.6: braid:gc_pause: collector=\"G1\" duration_ns=8 flags=0x3\n"
				   "java 5/5 [000] 1.7: braid:stat: key=\"x\" value=1\n"
				   "java 5/5 [000] 1.8: braid:gc_pause: collector=\"G1\n";
	struct imported i = import_text(text);
	const struct jvm_event_row *rows;

	ck_assert_msg(!i.err, "%s", i.result.refused);
	ck_assert_str_eq(i.result.damage,
			 "1 field is left out; line 9 has a field that is neither a text nor a number");
	ck_assert_uint_eq(i.result.samples, 0);
	ck_assert_uint_eq(i.a->events.count, 3);
	rows = i.a->events.at;
	ck_assert_str_eq(strpool_get(&i.a->strings, rows[0].name), "a.\"B\\");
	ck_assert_uint_eq(rows[0].duration_ns, 70);
	ck_assert_uint_eq(rows[0].number, 9);
	ck_assert_uint_ne(rows[0].node, 0);
	ck_assert_uint_ne(rows[0].thread, 0);
	ck_assert_uint_eq(rows[1].flags, 3);
	ck_assert_uint_eq(rows[1].thread, 0);
	ck_assert_uint_eq(rows[1].node, 0);
	import_free(&i);
}
END_TEST

/* What a recording has lost is not lost by the import, which counts what it cannot read itself. */
START_TEST(losses_of_a_script)
{
	static const char text[] = "a 5/6 [000] 1.5: braid:lock: class=\"A\" duration_ns=70\n"
				   "braid 0/0 [000] 1.6: braid:loss: hop=\"bpf\" kind=\"sample\" count=3\n"
				   "java 5/5 [000] 1.6: braid:loss: hop=\"agent\" kind=\"alloc \\\"x\" count=1\n"
				   "braid 0/0 [000] 1.9: braid:loss: hop=\"bpf\" kind=\"sample\" count=4\n"
				   "braid 0/0 [000] 1.9: braid:loss: hop=\"bpf\" count=4\n";
	struct imported i = import_text(text);
	const struct loss_row *rows;

	ck_assert_msg(!i.err, "%s", i.result.refused);
	ck_assert_str_eq(i.result.damage, "1 loss is left out; line 5 does not say what was lost");
	ck_assert_uint_eq(i.a->losses.count, 3);
	rows = i.a->losses.at;
	ck_assert_str_eq(strpool_get(&i.a->strings, rows[0].hop), "bpf");
	ck_assert_str_eq(strpool_get(&i.a->strings, rows[0].kind), "sample");
	ck_assert_uint_eq(rows[0].count, 7);
	ck_assert_str_eq(strpool_get(&i.a->strings, rows[1].kind), "alloc \"x");
	ck_assert_uint_eq(rows[1].count, 1);
	ck_assert_str_eq(strpool_get(&i.a->strings, rows[2].hop), "import");
	import_free(&i);
}
END_TEST

static uint32_t exported_kind;

static int write_kind(FILE *out, struct stream_file *f)
{
	const struct profile_unit unit = {.name = jvm_event_name(exported_kind), .unit = kind_of(exported_kind)->unit};
	struct profile p;
	struct stack_table t;
	int err = events_profile(f->an, exported_kind, &p) ?: stack_table_new(&t, f->an, &p, 0);

	err = err ?: pprof_write(out, &t, &unit, false);
	stack_table_free(&t);
	profile_free(&p);
	return err;
}

START_TEST(kinds_of_pprof_come_back)
{
	static const uint32_t kinds[] = {BRAID_JVM_ALLOC, BRAID_JVM_LOCK, BRAID_JVM_OFFCPU};
	struct exported x;
	struct imported i;

	exported_kind = kinds[_i];
	x = export_with(write_kind);
	i = import_bytes(x.bytes, x.size, IMPORT_DETECT);
	ck_assert_int_eq(i.err, 0);
	ck_assert_uint_eq(sum_of(i.an, exported_kind).weight, sum_of(x.f.an, exported_kind).weight);
	ck_assert_uint_eq(i.an->samples.quality.total, 0);
	import_free(&i);
	exported_free(&x);
}
END_TEST

/* ---- collapsed stacks ---- */

START_TEST(kinds_of_frames)
{
	struct imported i =
		import_text("a/b/Main.main_[0];a/b/Main.work_[j];a/b/Util.inlined_[i];a/b/Util.deep_[i];"
			    "do_syscall_64_[k] 3\n"
			    "start;a/b/Main:::run;Util$1.<init>;x/y/Z$$Lambda.0x1f.run;main.go;net/http.Get 2\r\n"
			    "\n"
			    "java.util.HashMap.get;foo::bar(int);libc.so.6;Main.main;a.b 1\n");

	must_have(&i, true, false,
		  "a.b.Main.main_[0];a.b.Main.work_[j];a.b.Util.inlined_[i];a.b.Util.deep_[i];do_syscall_64_[k] 3\n"
		  "java.util.HashMap.get_[j];foo::bar(int);libc.so.6;Main.main_[j];a.b 1\n"
		  "start;a.b.Main.run_[j];Util$1.<init>_[j];x.y.Z$$Lambda/0x1f.run_[j];main.go;net/http.Get 2\n");
}
END_TEST

/* Of a file that ends in a line, that line is missing, and everything else is there. */
START_TEST(damaged_lines_are_counted)
{
	struct imported i = import_text("a;b 1\na;c 2\nno number\na;b 99999999999999999999\na;d");
	char *text;

	ck_assert_int_eq(i.err, 0);
	ck_assert_str_eq(i.result.damage, "3 lines are left out; line 3 is no stack with a number behind it");
	ck_assert_uint_eq(i.a->lost, 3);
	text = stacks_of(i.an, false, false);
	ck_assert_str_eq(text, "a;b 1\na;c 2\n");
	free(text);
	import_free(&i);
}
END_TEST

START_TEST(lines_that_are_too_long)
{
	static const char first[] = "a;b 1\n", last[] = "\na;c 2\n";
	size_t size = sizeof(first) - 1 + 2 * INPUT_LINE_MAX + sizeof(last) - 1;
	char *text = malloc(size), *stacks;
	struct imported i;

	ck_assert_ptr_nonnull(text);
	memset(text, 'x', size);
	memcpy(text, first, sizeof(first) - 1);
	memcpy(text + size - (sizeof(last) - 1), last, sizeof(last) - 1);
	i = import_bytes(text, size, IMPORT_DETECT);
	ck_assert_int_eq(i.err, 0);
	ck_assert_str_eq(i.result.damage, "1 line is left out; line 2 is longer than 1048576 bytes");
	stacks = stacks_of(i.an, false, false);
	ck_assert_str_eq(stacks, "a;b 1\na;c 2\n");
	free(stacks);
	import_free(&i);
	free(text);
}
END_TEST

/* What a stack has more than a trace can have is left out at its root, which the trace says. */
START_TEST(deep_stacks)
{
	size_t size;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);
	struct imported i;

	for (int k = 0; k < 100000; k++)
		fprintf(out, "f%d;", k % 7);
	fputs("leaf 4\n", out);
	fclose(out);
	i = import_bytes(text, size, IMPORT_DETECT);
	ck_assert_int_eq(i.err, 0);
	ck_assert_uint_eq(i.an->samples.quality.by_cause[BRAID_END_DEPTH], 4);
	import_free(&i);
	free(text);
}
END_TEST

/* ---- perf script ---- */

static const struct {
	const char *text, *stacks;
	uint64_t hits;
} scripts[] = {
	/* without pid, as by default */
	{"java  4711 [001] 100.000001:   10101010 cpu-clock:u: \n"
	 "\t    7f0000001234 memcpy+0x12 (/usr/lib/libc.so.6)\n"
	 "\t    7f0000005678 Ldemo/Main;::work+0x34 (/tmp/perf-4711.map)\n"
	 "\tffffffff81000020 do_syscall_64+0x20 ([kernel.kallsyms])\n"
	 "\t               0 [unknown] ([unknown])\n"
	 "\n"
	 "java  4711 [001] 100.010001:   10101010 cpu-clock:u: \n"
	 "\t    7f0000001239 memcpy+0x17 (/usr/lib/libc.so.6)\n",
	 "[java tid=4711];[unknown];do_syscall_64_[k];demo.Main.work_[j];memcpy 1\n"
	 "[java tid=4711];memcpy 1\n",
	 0},
	/* names with blanks, colons and numbers; pid; no CPU; a frame on the line itself */
	{"  http nio 8080 12 10/12 7.5:      1 cycles:  ffffffff81 foo(int, char const*)+0x1 (/bin/a b)\n"
	 "  :12 10/12 7.6:      1 cycles:  ffffffff82 [unknown] (/bin/a b)\n",
	 "[:12 tid=12];[a b] 1\n"
	 "[:12 tid=12];foo(int, char const*) 1\n",
	 0},
	/* a tracepoint beside the clock, and source lines */
	{"# hostname : web1\n"
	 "swapper     0/0     [000] 1.000000000: cycles:P: \n"
	 "\tffffffff81000020 idle+0x20 ([kernel.kallsyms])\n"
	 "  idle.c:12\n"
	 "\n"
	 "a 5/6 [000] 2.000000000: sched:sched_switch: prev_comm=a prev_pid=6 ==> next_pid=0\n"
	 "\tffffffff81000120 schedule+0x20 ([kernel.kallsyms])\n"
	 "\n",
	 "[swapper tid=0];idle_[k] 1\n", 1},
	/* no time */
	{"a 5/6 [000] task-clock:\n\t12345 main+0x5 (/bin/a)\n\n", "[a tid=6];main 1\n", 0},
};

START_TEST(perf_scripts)
{
	struct imported i = import_text(scripts[_i].text);

	ck_assert_msg(!i.err, "%s", i.result.refused);
	ck_assert_str_eq(i.result.format, "perf script");
	ck_assert_uint_eq(i.a->hits.count, scripts[_i].hits ? 1 : 0);
	must_have(&i, true, true, scripts[_i].stacks);
}
END_TEST

START_TEST(facts_of_perf)
{
	struct imported i = import_text(scripts[2].text);

	ck_assert_str_eq(analyzer_info(i.a, "host.name"), "web1");
	ck_assert_str_eq(analyzer_info(i.a, "record.event"), "cycles:P");
	ck_assert_str_eq(analyzer_info(i.a, "import.clock"), "perf's");
	ck_assert_str_eq(strpool_get(&i.a->strings, i.a->hits.at[0].name), "sched:sched_switch");
	ck_assert_uint_eq(i.an->duration_ns, 1000000000);
	import_free(&i);
	i = import_text(scripts[0].text);
	ck_assert_uint_eq(analyzer_frequency(i.a), 99);
	ck_assert_uint_eq(i.a->samples.at[0].cpu, 1);
	import_free(&i);
	i = import_text(scripts[3].text);
	ck_assert(!analyzer_has_times(i.a));
	import_free(&i);
}
END_TEST

/* ---- without times ---- */

static size_t significant(const char *before, const char *after)
{
	struct imported i[DIFF_SIDES] = {import_text(before), import_text(after)};
	const struct analysis *an[DIFF_SIDES] = {i[DIFF_BEFORE].an, i[DIFF_AFTER].an};
	const double one[DIFF_SIDES] = {1, 1};
	const struct diff_options shares = {.normalise = true};
	struct diff *d;
	size_t count;

	ck_assert_int_eq(diff_new(&d, an, one, &shares), 0);
	count = d->significant;
	diff_free(d);
	import_free(&i[DIFF_BEFORE]);
	import_free(&i[DIFF_AFTER]);
	return count;
}

/* Without slices of time, the numbers of samples decide. */
START_TEST(samples_without_times_are_compared)
{
	ck_assert_uint_eq(significant("m;a 5000\nm;b 5000\nm;c 5000\n", "m;a 5050\nm;b 4950\nm;c 5010\n"), 0);
	ck_assert_uint_eq(significant("m;a 5000\nm;b 5000\nm;c 5000\n", "m;a 7000\nm;b 5000\nm;c 5000\n"), 1);
	ck_assert_uint_eq(significant("m;a 5\nm;b 5\nm;c 5\n", "m;a 7\nm;b 5\nm;c 5\n"), 0);
}
END_TEST

START_TEST(samples_without_times_are_not_merged)
{
	struct imported none = import_text("a;b 1\n"), some = import_text(scripts[3].text), timed;
	struct merge_input in[2] = {{.path = "a", .an = none.an}, {.path = "b", .an = none.an}};
	char why[MERGE_WHY_MAX];

	ck_assert_uint_eq(edit_merge_refused(in, 2, why), 0);
	timed = import_text("a 5/6 [000] 1.5: samples:\n\t12 main (/bin/a)\n\n");
	in[0].an = some.an;
	in[1].an = timed.an;
	ck_assert_uint_eq(edit_merge_refused(in, 2, why), 1);
	import_free(&none);
	import_free(&some);
	import_free(&timed);
}
END_TEST

/* ---- refused ---- */

static const struct {
	const char *text, *why;
} refused[] = {
	{"", "is empty"},
	{"PERFILE2", "perf script -i FILE"},
	{BRAID_BLOCK_MAGIC, "is a trace of braid already"},
	{"hello world\n", "is in no format that is known"},
	{"\001\002\003", "is in no format that is known"},
	{"# only a comment\n", "is in no format that is known"},
	{"\x1f\x8b not packed", "damaged at byte"},
	{"{\"a\": 1}", "JSON"},
};

START_TEST(what_is_no_recording_is_refused)
{
	struct imported i = import_text(refused[_i].text);

	ck_assert_int_eq(i.err, -EBADMSG);
	ck_assert_msg(strstr(i.result.refused, refused[_i].why) != NULL, "%s", i.result.refused);
}
END_TEST

/* ---- damage ---- */

/* Whatever is wrong with a file, reading ends, and what comes of it is a whole trace. */
static void damage(int (*write)(FILE *out, struct stream_file *f), enum import_format format)
{
	struct exported x = export_with(write);
	unsigned seed = 7;

	for (unsigned k = 0; k < 400; k++) {
		size_t at = (size_t)rand_r(&seed) % x.size, size = k % 4 ? x.size : at;
		char was = x.bytes[at];
		struct imported i;

		if (k % 4)
			x.bytes[at] = (char)rand_r(&seed);
		i = import_bytes(x.bytes, size, format);
		ck_assert(!i.err || i.err == -EBADMSG);
		ck_assert(!i.err || *i.result.refused);
		import_free(&i);
		if (k % 3)
			x.bytes[at] = was;
	}
	exported_free(&x);
}

START_TEST(damaged_files)
{
	static const enum import_format formats[] = {IMPORT_COLLAPSED, IMPORT_PPROF, IMPORT_JFR, IMPORT_PERF};

	damage(ways[_i].write, formats[_i]);
}
END_TEST

/* Headers that no reader can go on from: the file has nothing else. */
static const struct {
	size_t at;
	char byte;
	const char *why;
} heads[] = {{5, 0, "has a version that is not known"},
	     {67, 0, "numbers are not compressed"},
	     {15, 0, "the file ends before it"},
	     {8, 1, "larger than 1 GiB"},
	     {30, 127, "the declarations of its types are damaged"},
	     {22, 127, "its constants are damaged"}};

START_TEST(heads_of_jfr)
{
	struct exported x = export_with(write_jfr);
	uint64_t first = 0;
	struct imported i;

	for (unsigned k = 8; k < 16; k++)
		first = first << 8 | (unsigned char)x.bytes[k];
	if (heads[_i].at == 15) /* one byte more than there is */
		first = (first & 0xff) == 0xff ? first - 1 : first;
	x.bytes[heads[_i].at] = heads[_i].at == 15 ? (char)(first + 1) : heads[_i].byte;
	i = import_bytes(x.bytes, first, IMPORT_DETECT);
	ck_assert_int_eq(i.err, -EBADMSG);
	ck_assert_msg(strstr(i.result.refused, heads[_i].why) != NULL, "%s", i.result.refused);
	exported_free(&x);
}
END_TEST

/* Of a cut file, the chunks in front of the cut are there. */
START_TEST(cut_jfr)
{
	struct exported x = export_with(write_jfr);
	struct imported i = import_bytes(x.bytes, x.size - 10, IMPORT_DETECT);

	ck_assert_msg(!i.err, "%s", i.result.refused);
	ck_assert_ptr_nonnull(strstr(i.result.damage, "the file ends before it"));
	ck_assert_uint_gt(i.a->lost, 0);
	ck_assert_uint_gt(i.an->samples.quality.total, 0);
	import_free(&i);
	exported_free(&x);
}
END_TEST

Suite *test_import(void)
{
	Suite *s = suite_create("import");
	TCase *tc = tcase_create("import");

	tcase_add_loop_test(tc, samples_come_back, 0, sizeof(ways) / sizeof(ways[0]));
	tcase_add_test(tc, events_of_jfr_come_back);
	tcase_add_test(tc, events_of_a_script_come_back);
	tcase_add_test(tc, events_of_a_script);
	tcase_add_test(tc, losses_of_a_script);
	tcase_add_loop_test(tc, kinds_of_pprof_come_back, 0, 3);
	tcase_add_test(tc, kinds_of_frames);
	tcase_add_test(tc, damaged_lines_are_counted);
	tcase_add_test(tc, lines_that_are_too_long);
	tcase_add_test(tc, deep_stacks);
	tcase_add_loop_test(tc, perf_scripts, 0, sizeof(scripts) / sizeof(scripts[0]));
	tcase_add_test(tc, facts_of_perf);
	tcase_add_loop_test(tc, what_is_no_recording_is_refused, 0, sizeof(refused) / sizeof(refused[0]));
	tcase_add_loop_test(tc, damaged_files, 0, sizeof(ways) / sizeof(ways[0]));
	tcase_add_test(tc, samples_without_times_are_compared);
	tcase_add_test(tc, samples_without_times_are_not_merged);
	tcase_add_loop_test(tc, heads_of_jfr, 0, sizeof(heads) / sizeof(heads[0]));
	tcase_add_test(tc, cut_jfr);
	suite_add_tcase(s, tc);
	return s;
}
