// SPDX-License-Identifier: Apache-2.0
/* Tests of the page's data: where methods are in their sources, and two recordings in one page. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <page/html.h>

#include "unit/run.h"

Suite *test_page(void);

#define LINK "https://example.org/{path}#L{line}"

/* With the synthetic trace, and what a test adds to it. */
static struct run run_whole(const struct trace_rec *more, size_t count)
{
	static const struct filter everything;
	struct run r = {0};

	ck_assert_int_eq(analyzer_new(&r.a), 0);
	analyzer_keep_samples(r.a);
	run_feed(&r, synthetic, SYNTHETIC_COUNT);
	run_feed(&r, more, count);
	run_analyze(&r, &everything);
	return r;
}

START_TEST(links)
{
	static const char *const good[] = {LINK, "http://localhost/{path}"};
	static const char *const bad[] = {"", "https://example.org/", "ftp://example.org/{path}",
					  "javascript:alert(1)//{path}", " https://example.org/{path}"};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ck_assert_msg(page_can_link(good[i]), "%s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!page_can_link(bad[i]), "%s", bad[i]);
}
END_TEST

static char *report_page(const struct run *r, const char *link)
{
	const struct page_request request = {.titles = {"a.trace"}, .source_link = link};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	ck_assert_int_eq(report_html(out, r->v, &request), 0);
	fclose(out);
	return text;
}

/* Each method whose line is known is there once, at its heaviest line, in the directory of its package. */
START_TEST(sources)
{
	struct run r = run_whole(NULL, 0);
	char *text = report_page(&r, LINK);

	ck_assert_ptr_nonnull(strstr(text, "\"source_link\":\"" LINK "\""));
	ck_assert_ptr_nonnull(strstr(text, "\"sources\":[\"demo.Main.work\",\"demo/Main.java\",12,"
					   "\"demo.Util.inline\",\"demo/Util.java\",30]"));
	free(text);
	text = report_page(&r, NULL);
	ck_assert_ptr_null(strstr(text, "\"sources\":"));
	ck_assert_ptr_null(strstr(text, "\"source_link\":"));
	free(text);
	run_free(&r);
}
END_TEST

/* A label has only what it does not share with the one before. A shared part ends before what is not ASCII. */
START_TEST(labels)
{
	static const struct trace_rec more[] = {
		REC(TRACE_METHOD, method, 2, 1, 9, S("d\xc3\xa4mo"), S("one"), S("()V"), S("")),
		REC(TRACE_METHOD, method, 3, 1, 9, S("d\xc3\xa4mo"), S("other"), S("()V"), S("")),
	};
	struct run r = run_whole(more, 2);
	char *text = report_page(&r, NULL);

	ck_assert_ptr_nonnull(strstr(text, "\"shared\":[0,0,16,1,1,0,0,0,1,1,1,0],\"labels\":"));
	ck_assert_ptr_nonnull(
		strstr(text, "\"[incomplete: no_cfi]\",\"stack]\",\"libc.so.6+0x3456]\",\"unknown code]\","));
	ck_assert_ptr_nonnull(
		strstr(text, "\"demo.Main.main\",\"o_syscall_64\",\"\xc3\xa4mo.one\",\"\xc3\xa4mo.other\",\"foo::"));
	free(text);
	run_free(&r);
}
END_TEST

static char *diff_page(const struct run *r, uint32_t kind, const char *what)
{
	const struct diff_options options = {.kind = kind, .normalise = true};
	const struct analysis *an[DIFF_SIDES] = {r->an, r->an};
	const struct views *v[DIFF_SIDES] = {r->v, r->v};
	const struct page_request request = {.titles = {"a.trace", "b.trace"}, .source_link = LINK};
	struct diff_report report = {.options = &options, .what = what};
	struct diff *diff;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	ck_assert_int_eq(diff_new(&diff, an, (const double[]){1, 1}, &options), 0);
	report.diff = diff;
	ck_assert_int_eq(diff_html(out, &report, v, &request), 0);
	fclose(out);
	diff_free(diff);
	return text;
}

static unsigned times_in(const char *text, const char *what)
{
	unsigned n = 0;

	for (const char *at = text; (at = strstr(at, what)); at++)
		n++;
	return n;
}

/* A graph of each recording, whose sums are those of the head. */
START_TEST(two_recordings)
{
	struct run r = run_whole(NULL, 0);
	char *text = diff_page(&r, 0, "cpu-clock"), total[64];

	ck_assert_ptr_nonnull(strstr(text, "\"compared\":{\"what\":\"cpu-clock\",\"with_callees\":false,"));
	ck_assert_ptr_nonnull(strstr(text, "\"before\":{\"about\":{\"title\":\"a.trace\","));
	ck_assert_ptr_nonnull(strstr(text, "\"after\":{\"about\":{\"title\":\"b.trace\","));
	ck_assert_ptr_nonnull(strstr(text, "\"differ\":0,"));
	ck_assert_ptr_nonnull(strstr(text, "{\"method\":\"demo.Util.inline\",\"chance\":1.000000}"));
	snprintf(total, sizeof(total), "\"total\":%u,\"each\":1.000000}", (unsigned)r.an->samples.quality.total);
	ck_assert_uint_eq(times_in(text, total), DIFF_SIDES);
	snprintf(total, sizeof(total), "\"unit\":\"samples\",\"total\":%u,", (unsigned)r.an->samples.quality.total);
	ck_assert_uint_eq(times_in(text, total), DIFF_SIDES);
	ck_assert_uint_eq(times_in(text, "\"sources\":[\"demo.Main.work\","), DIFF_SIDES);
	free(text);
	run_free(&r);
}
END_TEST

/* Of events that last, the page says how long one of them is on average. */
START_TEST(events_of_two_recordings)
{
	const struct trace_rec locks[] = {
		REC(TRACE_JVM_EVENT, jvm_event, .kind = BRAID_JVM_LOCK, .time_ns = BASE_NS + 20 * MS, .process = 1,
		    .thread = 1, .node = 3, .duration_ns = 4 * MS),
		REC(TRACE_JVM_EVENT, jvm_event, .kind = BRAID_JVM_LOCK, .time_ns = BASE_NS + 40 * MS, .process = 1,
		    .thread = 1, .node = 4, .duration_ns = 6 * MS),
	};
	struct run r = run_whole(locks, 2);
	char *text = diff_page(&r, BRAID_JVM_LOCK, "lock");

	ck_assert_uint_eq(times_in(text, "\"total\":10000000,\"each\":5000000.000000}"), DIFF_SIDES);
	ck_assert_uint_eq(times_in(text, "\"name\":\"lock\",\"unit\":\"ns\",\"total\":10000000,"), DIFF_SIDES);
	free(text);
	run_free(&r);
}
END_TEST

Suite *test_page(void)
{
	Suite *s = suite_create("page");
	TCase *t = tcase_create("page");

	tcase_add_test(t, links);
	tcase_add_test(t, sources);
	tcase_add_test(t, labels);
	tcase_add_test(t, two_recordings);
	tcase_add_test(t, events_of_two_recordings);
	suite_add_tcase(s, t);
	return s;
}
