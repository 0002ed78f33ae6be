// SPDX-License-Identifier: Apache-2.0
/* Tests of what makes traces from traces: parts, sums, and what damage leaves. */
#include "edit_files.h"

Suite *test_edit(void);

/* ---- cut ---- */

static void cut_is_the_same(const struct filter *filter, uint64_t least_left_out)
{
	struct opened from, to;
	struct filter all = {0};
	struct edit_counts c;
	char *path, *before, *after;
	struct trace_writer *w = writer_new(&path);

	opened_begin(&from, file_of(synthetic, SYNTHETIC_COUNT), filter);
	ck_assert_int_eq(edit_cut(w, from.reader, from.an, &c), 0);
	ck_assert_int_eq(trace_writer_close(w), 0);
	ck_assert_uint_ge(c.events - c.events_kept, least_left_out);
	is_whole(path);
	opened_begin(&to, path, &all);
	before = collapsed_of(&from);
	after = collapsed_of(&to);
	ck_assert_str_eq(before, after);
	ck_assert_uint_gt(strlen(before), 10);
	ck_assert_uint_eq(from.an->from_ns, to.an->from_ns);
	ck_assert_uint_eq(from.an->to_ns, to.an->to_ns);
	free(before);
	free(after);
	opened_end(&from);
	opened_end(&to);
}

START_TEST(cut_by_time)
{
	struct filter f = {.has_from = true, .has_to = true};

	ck_assert_int_eq(moment_parse("20ms", &f.from), 0);
	ck_assert_int_eq(moment_parse("120ms", &f.to), 0);
	cut_is_the_same(&f, 2);
}
END_TEST

START_TEST(cut_by_process)
{
	struct filter f = {0};

	ck_assert_int_eq(filter_add_pids(&f, "200"), 0);
	cut_is_the_same(&f, 2);
	filter_free(&f);
}
END_TEST

/* ---- merge ---- */

static void merge_files(char *const paths[2], char **path, struct edit_counts *c)
{
	const struct filter all = {0};
	struct trace_writer *w = writer_new(path);
	struct merge_input in[2];
	struct opened o[2];
	char why[MERGE_WHY_MAX];

	for (int i = 0; i < 2; i++) {
		opened_begin(&o[i], paths[i], &all);
		in[i] = (struct merge_input){paths[i], o[i].reader, o[i].an};
	}
	ck_assert_uint_eq(edit_merge_refused(in, 2, why), 0);
	ck_assert_int_eq(edit_merge(w, in, 2, c), 0);
	ck_assert_int_eq(trace_writer_close(w), 0);
	for (int i = 0; i < 2; i++)
		opened_end(&o[i]);
}

static uint64_t weight_of(const char *path, size_t *processes, size_t *threads)
{
	const struct filter all = {0};
	struct opened o;
	uint64_t weight;

	opened_begin(&o, strdup(path), &all);
	weight = o.an->samples.quality.total;
	*processes = o.a->processes.count;
	*threads = o.a->threads.count;
	analysis_free(o.an);
	analyzer_free(o.a);
	trace_reader_close(o.reader);
	free(o.path);
	return weight;
}

START_TEST(merged_with_itself)
{
	char *one = file_of(synthetic, SYNTHETIC_COUNT), *path;
	char *const paths[2] = {one, file_of(synthetic, SYNTHETIC_COUNT)};
	size_t processes[2], threads[2];
	uint64_t weight = weight_of(one, &processes[0], &threads[0]);
	struct edit_counts c;

	merge_files(paths, &path, &c);
	is_whole(path);
	ck_assert_uint_eq(weight_of(path, &processes[1], &threads[1]), 2 * weight);
	ck_assert_uint_eq(processes[0], processes[1]);
	ck_assert_uint_eq(threads[0], threads[1]);
	unlink(path);
	free(path);
}
END_TEST

/* The clock of the second host began an hour later; its trace is half an hour younger. */
START_TEST(merged_with_another_host)
{
	const uint64_t hour_ns = 3600000 * MS;
	struct trace_rec other[SYNTHETIC_COUNT + 1];
	const struct filter all = {0};
	char *raw, *path, *paths[2];
	size_t processes, threads;
	struct edit_counts c;
	struct opened o;

	memcpy(other, synthetic, sizeof(synthetic));
	for (size_t i = 0; i < SYNTHETIC_COUNT; i++)
		if (other[i].kind == TRACE_CLOCK)
			other[i].clock.realtime_ns += hour_ns / 2;
	other[SYNTHETIC_COUNT] = (struct trace_rec)REC(TRACE_INFO, info, S("host.name"), S("web-2"));
	paths[0] = file_of(synthetic, SYNTHETIC_COUNT);
	paths[1] = file_of(other, SYNTHETIC_COUNT + 1);
	merge_files(paths, &path, &c);
	is_whole(path);
	weight_of(path, &processes, &threads);
	ck_assert_uint_eq(processes, 4);
	opened_begin(&o, path, &all);
	ck_assert_uint_eq(o.a->first_ns / hour_ns, 0);
	ck_assert_uint_ge(o.a->last_ns - o.a->first_ns, hour_ns / 2);
	ck_assert_uint_ge(o.an->duration_ns, hour_ns / 2);
	raw = raw_of(path);
	ck_assert_ptr_nonnull(strstr(raw, "\"host.name\""));
	free(raw);
	opened_end(&o);
}
END_TEST

/* So many that the tables of figures grow. */
#define FIGURES 200

START_TEST(figures_add_up)
{
	struct trace_rec recs[FIGURES];
	char keys[FIGURES][16], expected[64], *path, *paths[2], *raw;
	struct edit_counts c;

	for (uint32_t i = 0; i < FIGURES; i++) {
		snprintf(keys[i], sizeof(keys[i]), "figure_%u", i);
		recs[i] = (struct trace_rec){.kind = TRACE_STAT,
					     .stat = {.time_ns = BASE_NS, .key = str_of(keys[i]), .value = 1000 + i}};
	}
	for (int i = 0; i < 2; i++)
		paths[i] = file_of(recs, FIGURES);
	merge_files(paths, &path, &c);
	raw = raw_of(path);
	for (uint32_t i = 0; i < FIGURES; i++) {
		snprintf(expected, sizeof(expected), "key=\"figure_%u\" value=%u\n", i, 2 * (1000 + i));
		ck_assert_msg(strstr(raw, expected) != NULL, "%s", expected);
	}
	free(raw);
	unlink(path);
	free(path);
}
END_TEST

START_TEST(merge_refused)
{
	static const struct trace_rec hz[] = {REC(TRACE_INFO, info, S("record.frequency_hz"), S("997"))};
	const struct filter all = {0};
	struct merge_input in[2];
	char why[MERGE_WHY_MAX];
	struct opened o[2];

	opened_begin(&o[0], file_of(synthetic, SYNTHETIC_COUNT), &all);
	opened_begin(&o[1], file_of(hz, 1), &all);
	for (int i = 0; i < 2; i++)
		in[i] = (struct merge_input){i ? "b" : "a", o[i].reader, o[i].an};
	ck_assert_uint_eq(edit_merge_refused(in, 2, why), 1);
	ck_assert_ptr_nonnull(strstr(why, " in a and '"));
	opened_end(&o[0]);
	opened_end(&o[1]);
}
END_TEST

/* ---- recover, verify ---- */

START_TEST(damaged)
{
	char *from = file_of(synthetic, SYNTHETIC_COUNT), *path, *raw;
	struct trace_writer *w = writer_new(&path);
	struct trace_reader *r;
	struct verify_result v;
	struct edit_counts c;
	FILE *f = fopen(from, "r+");

	/* in the last block but one: the events */
	ck_assert_int_eq(fseek(f, -200, SEEK_END), 0);
	fputc(0x55, f);
	fclose(f);
	ck_assert_int_eq(trace_reader_open(&r, from, NULL), 0);
	ck_assert_int_eq(edit_verify(r, &v), 0);
	ck_assert(trace_is_damaged(trace_reader_damage(r)));
	ck_assert_int_eq(edit_recover(w, r, &c), 0);
	ck_assert_int_eq(trace_writer_close(w), 0);
	trace_reader_close(r);
	raw = raw_of(path);
	ck_assert_ptr_nonnull(strstr(raw, "hop=\"file\" kind=\"byte\""));
	ck_assert_ptr_nonnull(strstr(raw, "record.command"));
	free(raw);
	unlink(path);
	unlink(from);
	free(path);
	free(from);
}
END_TEST

START_TEST(undefined_ids)
{
	static const struct trace_rec recs[] = {
		REC(TRACE_NODE, node, .node = 2, .parent = 1, .frame = 9),
		REC(TRACE_NODE, node, .node = 1),
		REC(TRACE_SAMPLE, sample, BASE_NS, 5, 0, 2, 1),
	};
	char *path = file_of(recs, 3);
	struct verify_result v;
	struct trace_reader *r;

	ck_assert_int_eq(trace_reader_open(&r, path, NULL), 0);
	ck_assert_int_eq(edit_verify(r, &v), 0);
	ck_assert_uint_eq(v.undefined[TRACE_ID_FRAME], 1);
	ck_assert_uint_eq(v.undefined[TRACE_ID_THREAD], 1);
	ck_assert_uint_eq(v.late[TRACE_ID_NODE], 1);
	ck_assert_uint_eq(v.records[TRACE_NODE], 2);
	ck_assert(!v.ended);
	trace_reader_close(r);
	unlink(path);
	free(path);
}
END_TEST

Suite *test_edit(void)
{
	Suite *s = suite_create("edit");
	TCase *t = tcase_create("edit");

	suite_add_tcase(s, t);
	tcase_add_test(t, cut_by_time);
	tcase_add_test(t, cut_by_process);
	tcase_add_test(t, merged_with_itself);
	tcase_add_test(t, merged_with_another_host);
	tcase_add_test(t, figures_add_up);
	tcase_add_test(t, merge_refused);
	tcase_add_test(t, damaged);
	tcase_add_test(t, undefined_ids);
	return s;
}
