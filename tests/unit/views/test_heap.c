// SPDX-License-Identifier: Apache-2.0
/* Tests of histograms of the heap in reports: the last one, growth, bounded rows, and records that make no sense. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <views/heap.h>
#include <report/report.h>

#include "unit/events_fixture.h"
#include "unit/run.h"

Suite *test_heap(void);

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define EXPECTED(ms, n, ns, bits)                                                                                      \
	JVM(AT(ms), .kind = BRAID_JVM_HEAP_ESTIMATE, .number = n, .value = 5000, .weight = ns, .flags = (bits))
#define ROW(ms, n, class, loader, bytes, objects, bits)                                                                \
	JVM(AT(ms), .kind = BRAID_JVM_HEAP_CLASS, .number = n, .name = class, .detail = loader, .value = bytes,        \
	    .weight = objects, .flags = (bits))
#define TAKEN(ms, n, bytes, objects, bits)                                                                             \
	JVM(AT(ms), .kind = BRAID_JVM_HEAP, .number = n, .value = bytes, .weight = objects, .duration_ns = MS,         \
	    .flags = (bits))

/* Three histograms, of which the second was refused; a class of two loaders; one that is new, one that is gone. */
static const struct trace_rec three[] = {
	EXPECTED(10, 1, 2 * MS, 0),
	ROW(12, 1, C_BYTES, 0, 3000, 10, 0),
	ROW(12, 1, C_QUEUE, N_LOADER, 500, 5, 0),
	ROW(12, 1, C_LOCK, N_LOADER, 100, 1, 0),
	TAKEN(11, 1, 3600, 16, 0),
	EXPECTED(20, 2, 9000 * MS, BRAID_HEAP_REFUSED | BRAID_HEAP_AT_MOST),
	EXPECTED(30, 3, 2 * MS, 0),
	ROW(32, 3, C_BYTES, 0, 2000, 8, 0),
	ROW(32, 3, C_QUEUE, N_LOADER, 900, 9, 0),
	ROW(32, 3, C_QUEUE, N_OP, 400, 4, 0),
	TAKEN(31, 3, 3300, 21, 0),
};

static struct run run_heap(const struct trace_rec *recs, size_t count)
{
	struct run r = run_begin(NULL);

	run_feed(&r, more, COUNT(more));
	run_feed(&r, recs, count);
	run_analyze(&r, NULL);
	return r;
}

static void row_is(const struct heap_row *r, const char *class, const char *loader, uint64_t bytes, uint64_t before)
{
	ck_assert_str_eq(r->class, class);
	ck_assert_str_eq(r->loader, loader);
	ck_assert_uint_eq(r->bytes, bytes);
	ck_assert(r->compared);
	ck_assert_uint_eq(r->first_bytes, before);
}

START_TEST(growth)
{
	struct run r = run_heap(three, COUNT(three));
	const struct heap_view *h = r.v->heap.jvms.at;

	ck_assert_uint_eq(r.v->heap.jvms.count, 1);
	ck_assert_uint_eq(h->histograms.count, 3);
	ck_assert(h->first == &h->histograms.at[0] && h->last == &h->histograms.at[2]);
	ck_assert_uint_eq(h->first->pause_ns, MS);
	ck_assert_uint_eq(h->first->expected_ns, 2 * MS);
	ck_assert_uint_eq(h->first->used, 5000);
	ck_assert(!heap_histogram_complete(&h->histograms.at[1]));
	ck_assert_uint_eq(h->last->objects, 21);
	ck_assert_uint_eq(h->rows.count, 3);
	row_is(&h->rows.at[0], "byte[]", "", 2000, 3000);
	row_is(&h->rows.at[1], "demo.Queue", "app", 900, 500);
	row_is(&h->rows.at[2], "demo.Queue", "Cleanup", 400, 0);
	ck_assert_uint_eq(h->grown.count, 2);
	row_is(&h->grown.at[0], "demo.Queue", "Cleanup", 400, 0);
	row_is(&h->grown.at[1], "demo.Queue", "app", 900, 500);
	run_free(&r);
}
END_TEST

/* What had no row at first may have been in the sum of the others: its growth is not known. */
START_TEST(sums_are_not_compared)
{
	static const struct trace_rec sums[] = {
		ROW(12, 1, C_BYTES, 0, 3000, 10, 0), ROW(12, 1, C_LOCK, 0, 50, 2, 7),  TAKEN(11, 1, 3050, 12, 0),
		ROW(32, 2, C_BYTES, 0, 3100, 11, 0), ROW(32, 2, C_QUEUE, 0, 60, 1, 0), ROW(32, 2, C_LOCK, 0, 90, 3, 6),
		TAKEN(31, 2, 3250, 15, 0),
	};
	struct run r = run_heap(sums, COUNT(sums));
	const struct heap_view *h = r.v->heap.jvms.at;

	ck_assert_uint_eq(h->rows.count, 3);
	row_is(&h->rows.at[0], "byte[]", "", 3100, 3000);
	ck_assert_uint_eq(h->rows.at[1].classes, 6);
	ck_assert(!h->rows.at[1].compared);
	ck_assert_str_eq(h->rows.at[2].class, "demo.Queue");
	ck_assert(!h->rows.at[2].compared);
	ck_assert_uint_eq(h->grown.count, 1);
	run_free(&r);
}
END_TEST

static char *report_of(const struct run *r, bool json)
{
	static const struct trace_damage no_damage;
	static const struct report_source source = {&no_damage, 4321, false};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	(json ? report_json : report_text)(out, r->v, &source, 30);
	fclose(out);
	return text;
}

START_TEST(report_shows_it)
{
	struct run r = run_heap(three, COUNT(three));
	char *text = report_of(&r, false), *json = report_of(&r, true);

	ck_assert_ptr_nonnull(strstr(text, "\nHeap of pid 100\n"));
	ck_assert_ptr_nonnull(strstr(text, "not taken: it was expected to take longer than --max-pause allows\n"));
	ck_assert_ptr_nonnull(
		strstr(text, "        900 B            9        +400 B           +4  demo.Queue (app)\n"));
	ck_assert_ptr_nonnull(strstr(text, "      3.22 KiB           21        -300 B           +5  total\n"));
	ck_assert_ptr_nonnull(strstr(json, "{\"class\":\"demo.Queue\",\"loader\":\"app\",\"bytes\":900,\"objects\":9,"
					   "\"first_bytes\":500,\"first_objects\":5}"));
	ck_assert_ptr_nonnull(strstr(
		json,
		"\"expected_s\":9,\"expected_at_most\":true,\"used_bytes\":5000,\"bytes\":null,\"objects\":null,"));
	free(text);
	free(json);
	run_free(&r);
}
END_TEST

/* Results without rows, rows without results, one number twice, totals that no machine has. */
START_TEST(nonsense)
{
	static const struct trace_rec odd[] = {
		ROW(12, 1, C_BYTES, 0, 3000, 10, 0),
		TAKEN(20, 2, UINT64_MAX, UINT64_MAX, UINT32_MAX),
		TAKEN(30, 3, UINT64_MAX, UINT64_MAX, 0),
		TAKEN(40, 3, 0, 0, 0),
		ROW(12, 3, C_QUEUE, 0, UINT64_MAX, UINT64_MAX, 0),
		ROW(12, 3, C_QUEUE, 0, UINT64_MAX, UINT64_MAX, UINT32_MAX),
		TAKEN(50, UINT64_MAX, 1, 1, 0),
		ROW(12, UINT64_MAX, 0, 0, 1, 1, 0),
		JVM_OF(4711, AT(60), .kind = BRAID_JVM_HEAP, .number = 1),
	};
	struct run r = run_heap(odd, COUNT(odd));
	const struct heap_view *h = &r.v->heap.jvms.at[1];
	char *text = report_of(&r, false), *json = report_of(&r, true);

	ck_assert_uint_eq(r.v->heap.jvms.count, 2);
	ck_assert_uint_eq(h->pid, 100);
	ck_assert_uint_eq(h->histograms.count, 3);
	ck_assert_uint_eq(h->rows.count, 1);
	ck_assert_str_eq(h->rows.at[0].class, "[unknown]");
	free(text);
	free(json);
	run_free(&r);
}
END_TEST

/* The estimate of a copy that is counted is that of its histogram; those of heap dumps are of none. */
START_TEST(copies)
{
	static const struct trace_rec counted[] = {
		EXPECTED(5, 0, 7 * MS, BRAID_HEAP_COPIED),
		EXPECTED(10, 1, 2 * MS, BRAID_HEAP_COPIED),
		ROW(12, 1, C_BYTES, 0, 3000, 10, 0),
		TAKEN(11, 1, 3000, 10, BRAID_HEAP_COPIED),
	};
	struct run r = run_heap(counted, COUNT(counted));
	const struct heap_view *h = r.v->heap.jvms.at;

	ck_assert_uint_eq(h->histograms.count, 1);
	ck_assert_uint_eq(h->last->expected_ns, 2 * MS);
	ck_assert_uint_eq(h->last->objects, 10);
	ck_assert(h->last->flags & BRAID_HEAP_COPIED);
	run_free(&r);
}
END_TEST

Suite *test_heap(void)
{
	Suite *s = suite_create("heap");
	TCase *c = tcase_create("all");

	tcase_add_test(c, growth);
	tcase_add_test(c, sums_are_not_compared);
	tcase_add_test(c, report_shows_it);
	tcase_add_test(c, copies);
	tcase_add_test(c, nonsense);
	suite_add_tcase(s, c);
	return s;
}
