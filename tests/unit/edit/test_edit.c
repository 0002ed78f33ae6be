// SPDX-License-Identifier: Apache-2.0
/* Tests of what makes traces from traces: parts, sums, and what damage leaves. */
#include "edit_files.h"

#include <analyze/events.h>
#include <edit/put.h>

#include "unit/wall_fixture.h"

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

/* A block of samples behind the part is not read, so nobody knows of how many the part is. */
START_TEST(cut_of_a_long_trace)
{
	struct trace_rec late = SAMPLE(100000, 1, 0, 4);
	struct filter f = {.has_to = true};
	struct edit_counts c;
	struct opened from;
	char *path, *whole;
	struct trace_writer *w = writer_new(&whole);

	for (size_t i = 0; i < SYNTHETIC_COUNT; i++)
		ck_assert_int_eq(trace_writer_put(w, &synthetic[i]), 0);
	ck_assert_int_eq(trace_writer_flush(w), 0);
	ck_assert_int_eq(trace_writer_put(w, &late), 0);
	ck_assert_int_eq(trace_writer_close(w), 0);
	for (int all = 0; all < 2; all++) {
		ck_assert_int_eq(moment_parse(all ? "200" : "1", &f.to), 0);
		opened_begin(&from, strdup(whole), &f);
		w = writer_new(&path);
		ck_assert_int_eq(edit_cut(w, from.reader, from.an, &c), 0);
		ck_assert_int_eq(trace_writer_close(w), 0);
		ck_assert_int_eq(c.unread, !all);
		unlink(path);
		free(path);
		opened_close(&from);
		free(from.path);
	}
	unlink(whole);
	free(whole);
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

static const struct trace_rec natives[] = {
	JVM(AT(5), .kind = BRAID_JVM_MALLOC, .thread = 1, .node = ON_NATIVE, .value = 64, .weight = 640, .number = 1),
	JVM(AT(6), .kind = BRAID_JVM_MALLOC, .thread = 2, .node = ON_NATIVE, .value = 32, .weight = 320, .number = 2),
	JVM(AT(70), .kind = BRAID_JVM_MALLOC, .thread = 1, .node = ON_SCRIPT, .value = 1, .weight = 10, .number = 3),
	JVM(AT(190), .kind = BRAID_JVM_UNFREED, .number = 1),
	JVM(AT(190), .kind = BRAID_JVM_UNFREED, .number = 2),
	JVM(AT(190), .kind = BRAID_JVM_UNFREED, .number = 3),
	JVM(AT(5), .kind = BRAID_JVM_JNI_STACK, .thread = 1, .node = ON_INLINE, .number = 1),
	JVM(AT(5), .kind = BRAID_JVM_JNI_STACK, .thread = 2, .node = ON_SCRIPT, .number = 2),
	JVM(AT(6), .kind = BRAID_JVM_JNI_REF, .duration_ns = 184 * MS, .value = 7, .number = 1),
	JVM(AT(6), .kind = BRAID_JVM_JNI_REF, .duration_ns = 184 * MS, .value = 9, .number = 2),
	JVM(AT(100), .kind = BRAID_JVM_LOCK, .thread = 1, .node = ON_INLINE, .name = C_LOCK, .duration_ns = 5 * MS),
	JVM(AT(100), .kind = BRAID_JVM_WAIT, .thread = 1, .node = ON_INLINE, .name = C_LOCK, .duration_ns = 5 * MS),
	JVM(AT(10), .kind = BRAID_JVM_WAIT, .thread = 1, .node = ON_INLINE, .name = C_LOCK, .duration_ns = 5 * MS),
	JVM(AT(3), .kind = BRAID_JVM_THREAD_START, .thread = 1, .name = C_LOCK),
	JVM(AT(121), .kind = BRAID_JVM_THREAD_START, .thread = 2, .name = C_LOCK),
	REC(TRACE_STAT, stat, BASE_NS + 30 * MS, 1, S("cgroup_periods"), 40),
	REC(TRACE_STAT, stat, BASE_NS + 150 * MS, 1, S("cgroup_periods"), 100),
};

static char *file_with_events(void)
{
	struct trace_rec recs[SYNTHETIC_COUNT + COUNT(more) + COUNT(events) + COUNT(natives)], *at = recs;

	at = mempcpy(at, synthetic, sizeof(synthetic));
	at = mempcpy(at, more, sizeof(more));
	at = mempcpy(at, events, sizeof(events));
	memcpy(at, natives, sizeof(natives));
	return file_of(recs, COUNT(recs));
}

/* The sums of the kinds that count objects and time, as reports have them. */
struct sums {
	uint64_t weight[BRAID_JVM_EVENTS];
};

static struct sums sums_of(const struct analysis *an)
{
	static const uint32_t kinds[] = {BRAID_JVM_ALLOC,  BRAID_JVM_LIVE,    BRAID_JVM_UNCOLLECTED, BRAID_JVM_DIED,
					 BRAID_JVM_MALLOC, BRAID_JVM_UNFREED, BRAID_JVM_JNI_REF,     BRAID_JVM_LOCK,
					 BRAID_JVM_OFFCPU, BRAID_JVM_COMPILE};
	struct sums s = {0};
	struct profile p;

	for (size_t i = 0; i < COUNT(kinds); i++) {
		ck_assert_int_eq(events_profile(an, kinds[i], &p), 0);
		s.weight[kinds[i]] = p.quality.total;
		profile_free(&p);
	}
	return s;
}

static void are_the_same(const struct sums *x, const struct sums *y)
{
	for (uint32_t kind = 0; kind < BRAID_JVM_EVENTS; kind++)
		ck_assert_msg(x->weight[kind] == y->weight[kind], "%s: %llu, %llu", jvm_event_name(kind),
			      (unsigned long long)x->weight[kind], (unsigned long long)y->weight[kind]);
}

/* Cuts the file with events; its sums are those under the filter. */
static char *cut_events(const struct filter *filter, struct sums *sums)
{
	struct opened from, to;
	struct filter all = {0};
	struct edit_counts c;
	char *path;
	struct trace_writer *w = writer_new(&path);
	struct sums after;

	opened_begin(&from, file_with_events(), filter);
	ck_assert_int_eq(edit_cut(w, from.reader, from.an, &c), 0);
	ck_assert_int_eq(trace_writer_close(w), 0);
	opened_begin(&to, path, &all);
	*sums = sums_of(from.an);
	after = sums_of(to.an);
	are_the_same(sums, &after);
	opened_end(&from);
	opened_close(&to);
	return path;
}

/* Objects and native memory are of the thread, the stack and the time of their allocation. */
START_TEST(cut_by_thread_and_stack)
{
	struct filter f = {0};
	struct sums sums;
	char why[64], *path;

	ck_assert_int_eq(filter_add_tids(&f, "101"), 0);
	path = cut_events(&f, &sums);
	ck_assert_uint_gt(sums.weight[BRAID_JVM_LIVE], 0);
	ck_assert_uint_eq(sums.weight[BRAID_JVM_UNFREED], 650);
	ck_assert_uint_eq(sums.weight[BRAID_JVM_JNI_REF], 7);
	unlink(path);
	free(path);
	filter_free(&f);

	ck_assert_int_eq(filter_add_include(&f, "alert", why, sizeof(why)), 0);
	path = cut_events(&f, &sums);
	ck_assert_uint_gt(sums.weight[BRAID_JVM_ALLOC], 0);
	ck_assert_uint_eq(sums.weight[BRAID_JVM_UNFREED], 10);
	ck_assert_uint_eq(sums.weight[BRAID_JVM_JNI_REF], 9);
	unlink(path);
	free(path);
	filter_free(&f);
}
END_TEST

/* A thread of a merged trace has several records of its life, of which each is in sum. */
START_TEST(cut_of_several_lives)
{
	static const struct trace_rec lives[] = {
		JVM(AT(0), .kind = BRAID_JVM_CONFIG, .value = BRAID_EVENT_TYPES_ALL),
		LIFE(1, 0, 100, 40, .weight = 10 * MS),
		LIFE(1, 100, 200, 60, .weight = 20 * MS),
	};
	struct trace_rec recs[SYNTHETIC_COUNT + COUNT(lives)];
	struct filter f = {.has_to = true}, all = {0};
	struct opened from, to;
	struct wall *before, *after;
	struct edit_counts c;
	char *path;
	struct trace_writer *w = writer_new(&path);

	memcpy(mempcpy(recs, synthetic, sizeof(synthetic)), lives, sizeof(lives));
	ck_assert_int_eq(moment_parse("151ms", &f.to), 0);
	opened_begin(&from, file_of(recs, COUNT(recs)), &f);
	ck_assert_int_eq(edit_cut(w, from.reader, from.an, &c), 0);
	ck_assert_int_eq(trace_writer_close(w), 0);
	opened_begin(&to, path, &all);
	ck_assert_int_eq(wall_new(&before, from.an), 0);
	ck_assert_int_eq(wall_new(&after, to.an), 0);
	ck_assert_uint_gt(before->threads.at[0].ns[WALL_RUNNING], 0);
	for (int s = 0; s < WALL_STATES; s++)
		ck_assert_msg(before->threads.at[0].ns[s] == after->threads.at[0].ns[s], "%s", wall_key(s));
	wall_free(before);
	wall_free(after);
	opened_end(&from);
	opened_end(&to);
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
	opened_close(&o);
	free(o.path);
	return weight;
}

/* What a user counts: no figures, no notices, and not the end that each file has. */
static uint64_t counted(const struct trace_rec *recs, size_t count)
{
	uint64_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += recs[i].kind == TRACE_SAMPLE || recs[i].kind == TRACE_JVM_EVENT;
	return n;
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
	ck_assert_uint_eq(c.events, 2 * counted(synthetic, SYNTHETIC_COUNT));
	ck_assert_uint_eq(c.events_kept, c.events);
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

/* What lasts longer than a part is in each of them, and counts once afterwards. */
START_TEST(merged_parts)
{
	struct filter first = {.has_to = true}, second = {.has_from = true}, all = {0};
	struct sums sums, merged;
	struct edit_counts c;
	struct opened whole, o;
	char *path, *paths[2];

	ck_assert_int_eq(moment_parse("61ms", &first.to), 0);
	second.from = first.to;
	paths[0] = cut_events(&first, &sums);
	paths[1] = cut_events(&second, &sums);
	merge_files(paths, &path, &c);
	opened_begin(&whole, file_with_events(), &all);
	opened_begin(&o, path, &all);
	sums = sums_of(whole.an);
	merged = sums_of(o.an);
	ck_assert_uint_gt(sums.weight[BRAID_JVM_LIVE], 0);
	are_the_same(&sums, &merged);
	ck_assert_uint_eq(analysis_stat(o.an, 1, "cgroup_periods", 0), 100);
	opened_end(&whole);
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

/* A process that was recorded twice has what was counted in both. */
START_TEST(figures_of_processes_add_up)
{
	struct trace_rec recs[SYNTHETIC_COUNT + 2];
	char *path, *paths[2];
	struct edit_counts c;
	struct opened o;
	struct filter all = {0};

	memcpy(recs, synthetic, sizeof(synthetic));
	for (uint64_t i = 0; i < 2; i++)
		recs[SYNTHETIC_COUNT + i] =
			(struct trace_rec)REC(TRACE_STAT, stat, BASE_NS + i * MS, 1, S("cgroup_periods"), 30 + 10 * i);
	for (int i = 0; i < 2; i++)
		paths[i] = file_of(recs, COUNT(recs));
	merge_files(paths, &path, &c);
	opened_begin(&o, path, &all);
	ck_assert_uint_eq(analysis_stat(o.an, o.a->processes.ids[0], "cgroup_periods", 0), 80);
	opened_end(&o);
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

/* Samples of another tool that do not count like braid's become events, and each allocation keeps its weight. */
START_TEST(merged_with_an_import)
{
	static const struct trace_rec of_import[] = {
		REC(TRACE_INFO, info, S(IMPORT_FACT_FORMAT), S("JFR 2.1")),
		REC(TRACE_INFO, info, S("record.event"), S("jdk.ExecutionSample")),
		REC(TRACE_CLOCK, clock, START_REALTIME_NS, START_REALTIME_NS, START_REALTIME_NS),
		REC(TRACE_PROCESS, process, 1, 100, 0, 5, S("java"), S("")),
		REC(TRACE_THREAD, thread, 1, 1, 101, 101, TRACE_THREAD_JAVA, 0, S("main"), S("")),
		REC(TRACE_NAME, name, 1, S("byte[]")),
		REC(TRACE_SAMPLE, sample, START_REALTIME_NS + 5 * MS, 1, TRACE_NO_CPU, 0, 3, 0),
		REC(TRACE_JVM_EVENT, jvm_event, .kind = BRAID_JVM_ALLOC, .time_ns = START_REALTIME_NS + 6 * MS,
		    .process = 1, .thread = 1, .name = 1, .weight = 700000),
		REC(TRACE_END, end, START_REALTIME_NS + 10 * MS),
	};
	static const struct trace_rec alloc[] = {
		REC(TRACE_INFO, info, S("record.alloc_interval"), S("524288")),
		REC(TRACE_NAME, name, 9, S("byte[]")),
		REC(TRACE_JVM_EVENT, jvm_event, .kind = BRAID_JVM_ALLOC, .time_ns = BASE_NS + MS, .process = 1,
		    .thread = 1, .name = 9, .value = 16),
	};
	struct trace_rec own[SYNTHETIC_COUNT + COUNT(alloc)];
	const struct filter all = {0};
	uint64_t weight, by_interval = 524288 + 16 / 2;
	size_t processes, threads;
	struct edit_counts c;
	struct opened o;
	struct sums sums;
	char *path, *paths[2], *raw;

	memcpy(own, alloc, sizeof(alloc));
	memcpy(own + COUNT(alloc), synthetic, sizeof(synthetic));
	paths[1] = file_of(own, COUNT(own));
	weight = weight_of(paths[1], &processes, &threads);
	paths[0] = file_of(of_import, COUNT(of_import));
	merge_files(paths, &path, &c);
	is_whole(path);
	opened_begin(&o, path, &all);
	ck_assert_str_eq(analyzer_info(o.a, "record.event"), "cpu-clock");
	ck_assert_uint_eq(o.an->samples.quality.total, weight);
	sums = sums_of(o.an);
	ck_assert_uint_eq(sums.weight[BRAID_JVM_ALLOC], 700000 + by_interval);
	raw = raw_of(path);
	ck_assert_ptr_nonnull(strstr(raw, "text=\"jdk.ExecutionSample\""));
	free(raw);
	opened_end(&o);
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

/* A record that a file can have, and the writer has no room for, costs no other one. */
START_TEST(records_that_cannot_be_written)
{
	enum { PAIRS = BRAID_BLOCK_RAW_MAX / 10 + 1 };
	struct trace_line *pairs = calloc(PAIRS, sizeof(*pairs));
	struct trace_rec lines = {.kind = TRACE_LINES, .lines = {2, PAIRS, pairs}};
	struct trace_rec sample = REC(TRACE_SAMPLE, sample, .time_ns = BASE_NS, .weight = 1);
	struct edit_counts c = {0};
	char *path, *raw;
	struct trace_writer *w = writer_new(&path);

	ck_assert_int_eq(put_kept(w, &sample, true, &c), 0);
	ck_assert_int_eq(put_kept(w, &lines, true, &c), 0);
	ck_assert_int_eq(put_kept(w, &sample, true, &c), 0);
	ck_assert_int_eq(put_lost(w, &c), 0);
	ck_assert_int_eq(trace_writer_close(w), 0);
	ck_assert_uint_eq(c.lost, 1);
	ck_assert_uint_eq(c.events_kept, 2);
	raw = raw_of(path);
	ck_assert_ptr_nonnull(strstr(raw, "hop=\"file\" kind=\"bad_record\" count=1"));
	free(raw);
	free(pairs);
	unlink(path);
	free(path);
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
	tcase_add_test(t, cut_of_a_long_trace);
	tcase_add_test(t, cut_by_process);
	tcase_add_test(t, cut_by_thread_and_stack);
	tcase_add_test(t, cut_of_several_lives);
	tcase_add_test(t, merged_with_itself);
	tcase_add_test(t, merged_with_another_host);
	tcase_add_test(t, merged_parts);
	tcase_add_test(t, figures_add_up);
	tcase_add_test(t, figures_of_processes_add_up);
	tcase_add_test(t, merge_refused);
	tcase_add_test(t, merged_with_an_import);
	tcase_add_test(t, damaged);
	tcase_add_test(t, records_that_cannot_be_written);
	tcase_add_test(t, undefined_ids);
	return s;
}
