// SPDX-License-Identifier: Apache-2.0
/* Tests of the lines with which a report begins: whatever was recorded, they are ten at most. */
#include <diagnose/diagnose.h>
#include <report/report.h>

#include "unit/wall_fixture.h"

Suite *test_summary(void);

#define LINES 10
#define PAUSE(at, ms)                                                                                                  \
	JVM(AT(at), .kind = BRAID_JVM_GC_PAUSE, .duration_ns = (ms)*MS, .name = N_OP, .detail = N_OP,                  \
	    .number = 100 + (at))

/* What a recording can have, one bit each. */
enum {
	HAS_LOCKS,
	HAS_WAITS,
	HAS_PAUSES,
	HAS_ALLOCATIONS,
	HAS_EXCEPTIONS,
	HAS_NO_AGENT,
	HAS_FILTER,
	HAS_DIAGNOSIS,
	PARTS
};

static const struct trace_rec parts[][2] = {
	[HAS_LOCKS] = {JVM(AT(10), .kind = BRAID_JVM_LOCK, .thread = 2, .node = ON_INLINE, .duration_ns = 1500 * MS,
			   .number = 9, .name = C_LOCK, .other = 1, .other_node = ON_SCRIPT),
		       JVM(AT(20), .kind = BRAID_JVM_LOCK, .thread = 1, .node = ON_INLINE, .duration_ns = 1400 * MS,
			   .number = 9, .name = C_LOCK)},
	[HAS_WAITS] = {OFF(1, 10, 2000, SLEEPING, CLASS(SLEEP)), OFF(2, 10, 1000, ON_NATIVE, CLASS(FUTEX))},
	[HAS_PAUSES] = {PAUSE(300, 500), PAUSE(1000, 700)},
	[HAS_ALLOCATIONS] = {JVM(AT(30), .kind = BRAID_JVM_ALLOC, .thread = 1, .node = ON_INLINE, .name = C_BYTES,
				 .value = 1000, .weight = 524288),
			     JVM(AT(31), .kind = BRAID_JVM_ALLOC, .thread = 1, .node = ON_SCRIPT, .name = C_QUEUE,
				 .value = 1000, .weight = 524288)},
	[HAS_EXCEPTIONS] = {JVM(AT(40), .kind = BRAID_JVM_EXCEPTION, .thread = 1, .node = ON_INLINE, .name = C_HTML),
			    JVM(AT(41), .kind = BRAID_JVM_DEOPT, .thread = 1, .node = ON_INLINE, .name = R_NULL)},
	[HAS_NO_AGENT] = {REC(TRACE_STAT, stat, BASE_NS, 1, S(TRACE_STAT_AGENT), 0),
			  JVM(AT(0), .kind = BRAID_JVM_CONFIG, .value = BRAID_EVENT_TYPES_ALL)},
};

static size_t lines_of(const char *text)
{
	size_t lines = 0;

	for (; (text = strchr(text, '\n')); text++)
		lines++;
	return lines;
}

static const char *line_of(const char *text, const char *label)
{
	char begin[32];

	snprintf(begin, sizeof(begin), "\n  %s ", label);
	return strstr(text, begin);
}

static bool has(unsigned set, int part)
{
	return set >> part & 1;
}

/* What is asked for first is never what there is no room for. */
static void check_lines(const char *text, unsigned set)
{
	ck_assert_msg(lines_of(text) <= LINES, "%#x: %s", set, text);
	ck_assert_int_eq(strncmp(text, "  recorded ", strlen("  recorded ")), 0);
	ck_assert(line_of(text, "samples") && line_of(text, "hottest") && line_of(text, "lost"));
	ck_assert_msg((line_of(text, "waited") != NULL) == (has(set, HAS_LOCKS) || has(set, HAS_WAITS)), "%s", text);
	ck_assert(line_of(text, "GC") != NULL); /* the synthetic trace has a pause */
	ck_assert_msg((line_of(text, "allocated") != NULL) == has(set, HAS_ALLOCATIONS), "%s", text);
	ck_assert_msg((line_of(text, "only") != NULL) == has(set, HAS_FILTER), "%s", text);
	ck_assert_msg((line_of(text, "suspicious") != NULL) == has(set, HAS_DIAGNOSIS), "%s", text);
}

static void check_summary(unsigned set)
{
	struct filter f = {0};
	struct run r;
	struct report_source source = {.path = "a.trace"};
	struct diagnosis *d = NULL;
	char *text = NULL, *whole = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (has(set, HAS_FILTER))
		ck_assert_int_eq(filter_add_pids(&f, "100"), 0);
	r = run_begin(&f);
	run_feed(&r, more, COUNT(more));
	for (int part = 0; part <= HAS_NO_AGENT; part++)
		if (has(set, part))
			run_feed(&r, parts[part], COUNT(parts[part]));
	run_analyze(&r, &f);
	if (has(set, HAS_DIAGNOSIS))
		ck_assert_int_eq(diagnosis_new(&d, r.v, true), 0);
	source.diagnosis = d;
	report_summary(out, r.v, &source);
	fclose(out);
	check_lines(text, set);
	out = open_memstream(&whole, &size);
	ck_assert_int_eq(report_short(out, r.v, &source, REPORT_TOP), 0);
	fclose(out);
	ck_assert_int_eq(strncmp(whole, text, strlen(text)), 0);
	ck_assert(strstr(whole, "\nHot methods\n  in all ") && strstr(whole, "\nThreads\n  those of JVMs: "));
	ck_assert_msg((line_of(whole, "events") != NULL) == has(set, HAS_EXCEPTIONS), "%s", whole);
	free(text);
	free(whole);
	diagnosis_free(d);
	run_free(&r);
	filter_free(&f);
}

/* Every set of parts; none of them makes the summary longer, and what it leaves out is in the report. */
START_TEST(ten_lines_at_most)
{
	for (unsigned set = 0; set < 1 << PARTS; set++)
		check_summary(set);
}
END_TEST

static char *summary_of(const struct run *r)
{
	const struct report_source source = {.path = "a.trace"};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	report_summary(out, r->v, &source);
	fclose(out);
	return text;
}

/* Long names do not make long lines: a list ends where the line is full, and says how much it leaves out. */
START_TEST(long_names_are_cut)
{
	enum { NAMES = 20, LENGTH = 100 };
	static const struct trace_rec command[] = {
		REC(TRACE_INFO, info, S("record.command"),
		    S("java -cp /srv/application/lib/one.jar:/srv/application/lib/two.jar com.acme.Main"))};
	static char names[NAMES][LENGTH + 1];
	struct run r = run_begin(NULL);
	char *text;
	const char *lost;

	run_feed(&r, command, 1);
	for (int i = 0; i < NAMES; i++) {
		struct trace_rec rec = {.kind = TRACE_LOSS, .loss = {.time_ns = BASE_NS, .count = 1, .hop = S("bpf")}};

		memset(names[i], 'a' + i, LENGTH);
		rec.loss.kind = (struct trace_str){names[i], LENGTH};
		run_feed(&r, &rec, 1);
	}
	run_analyze(&r, NULL);
	text = summary_of(&r);
	ck_assert_msg(strstr(text, "  recorded   java -cp /srv/application/lib/one.jar:/srv/application/lib/t..., ") ==
			      text,
		      "%s", text);
	lost = line_of(text, "lost");
	ck_assert_ptr_nonnull(lost);
	ck_assert_msg(strcspn(lost + 1, "\n") < 150, "%s", text);
	ck_assert_msg(strstr(lost, ", and ") != NULL, "%s", text);
	free(text);
	run_free(&r);
}
END_TEST

/* Methods that only called others are not among the hottest. */
START_TEST(only_what_ran_is_hot)
{
	struct filter f = {0};
	struct run r;
	char *text;
	const char *hottest;

	ck_assert_int_eq(filter_add_tids(&f, "200"), 0);
	r = run_begin(&f);
	run_analyze(&r, &f);
	text = summary_of(&r);
	hottest = line_of(text, "hottest");
	ck_assert_msg(hottest && strcspn(hottest, "%") < strcspn(hottest + 1, "\n"), "%s", text);
	ck_assert_msg(!strstr(hottest, " 0.0 %") || strstr(hottest, " 0.0 %") > strchr(hottest + 1, '\n'), "%s", text);
	free(text);
	run_free(&r);
	filter_free(&f);
}
END_TEST

/* No share is given of what there is none of, and no table. */
START_TEST(no_share_of_nothing)
{
	static const struct trace_damage whole = {0};
	const struct report_source source = {.path = "a.trace", .damage = &whole};
	struct filter f = {0};
	struct run r;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	ck_assert_int_eq(filter_add_tids(&f, "200"), 0);
	r = run_begin(&f);
	run_analyze(&r, &f);
	report_text(out, r.v, &source, REPORT_TOP);
	fclose(out);
	ck_assert_msg(strstr(text, "\n  Java threads              0 samples\n") != NULL, "%s", text);
	ck_assert_msg(strstr(text, "\n  frames                    0 Java, ") != NULL, "%s", text);
	free(text);
	run_free(&r);
	filter_free(&f);
	ck_assert_int_eq(filter_add_comm(&f, "nobody"), 0);
	r = run_begin(&f);
	run_analyze(&r, &f);
	out = open_memstream(&text, &size);
	report_text(out, r.v, &source, REPORT_TOP);
	fclose(out);
	ck_assert_msg(!strstr(text, "Hot methods") && !strstr(text, "\nThreads\n") && !strstr(text, "\nProcesses"),
		      "%s", text);
	free(text);
	run_free(&r);
	filter_free(&f);
}
END_TEST

Suite *test_summary(void)
{
	Suite *suite = suite_create("summary");
	TCase *summary = tcase_create("summary");

	tcase_add_test(summary, ten_lines_at_most);
	tcase_add_test(summary, long_names_are_cut);
	tcase_add_test(summary, only_what_ran_is_hot);
	tcase_add_test(summary, no_share_of_nothing);
	suite_add_tcase(suite, summary);
	return suite;
}
