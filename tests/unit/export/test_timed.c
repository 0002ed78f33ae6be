// SPDX-License-Identifier: Apache-2.0
/* Tests of formats with times, and of HPROF's text: what a reader of a small trace finds. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <export/stack_table.h>
#include <export/timed.h>
#include <util/utf8.h>

#include "proto/perfetto.pb-c.h"
#include "unit/stream_fixture.h"

Suite *test_timed(void);

typedef int timed_fn(FILE *out, struct timed_source *s);

/* Exports the synthetic trace with more records, and returns the text. */
static char *exported(timed_fn *write, struct timed_options o, const struct stream_part *recs, int want, size_t *size)
{
	const struct stream_part parts[] = {STREAM_PART(more), *recs};
	struct stream_file f = stream_open_with(NULL, parts, 2);
	struct timed_source source;
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	o.path = f.path;
	ck_assert_int_eq(timed_open(&source, f.reader, f.an, &o), 0);
	ck_assert_int_eq(write(out, &source), want);
	timed_close(&source);
	fclose(out);
	stream_close(&f);
	return text;
}

#define EXPORTED(write, o, recs, want, size)                                                                           \
	exported(write, (struct timed_options){o}, &(struct stream_part)STREAM_PART(recs), want, size)

/* ---- heat maps ---- */

/* From 16 ms to 66 ms after the start, and one of which 2 ms are after it. */
static const struct trace_rec locks[] = {
	JVM(.kind = BRAID_JVM_LOCK, AT(15), .thread = 1, .duration_ns = 50 * MS, .node = 3, .name = C_LOCK),
	JVM(.kind = BRAID_JVM_LOCK, .time_ns = START_NS - 3 * MS, .thread = 1, .duration_ns = 5 * MS, .name = C_LOCK),
};

START_TEST(an_interval_counts_where_it_is)
{
	size_t size;
	char *text = EXPORTED(heatmap_write, .kind = BRAID_JVM_LOCK, locks, 0, &size);

	ck_assert_ptr_nonnull(strstr(text, "\"event\":\"lock\",\"unit\":\"nanoseconds\",\"total\":52000000,"));
	ck_assert_ptr_nonnull(strstr(text, ",0,6000000,20000000,20000000,6000000],["));
	ck_assert_ptr_nonnull(strstr(text, "\"maxvalue\":20000000"));
	ck_assert_ptr_nonnull(strstr(text, "\"columns\":[0,1,2],"));
	free(text);
}
END_TEST

START_TEST(samples_count_at_their_time)
{
	size_t size;
	char *text = EXPORTED(heatmap_write, .samples = true, locks, 0, &size);

	/* one each 10 ms, from 1 ms to 181 ms after the start */
	ck_assert_ptr_nonnull(strstr(text, "\"unit\":\"samples\",\"total\":19,"));
	ck_assert_ptr_nonnull(strstr(text, "[[0,"));
	ck_assert_ptr_nonnull(strstr(text, ",0,1,2,2,2,2,2,2,2,2,2],["));
	free(text);
}
END_TEST

static const struct trace_rec far[] = {
	JVM(.kind = BRAID_JVM_DEOPT, .time_ns = 1ULL << 62, .thread = 1, .name = M_WORK),
};

START_TEST(a_heat_map_has_a_limit)
{
	size_t size;

	free(EXPORTED(heatmap_write, .kind = BRAID_JVM_DEOPT, far, -EFBIG, &size));
}
END_TEST

/* ---- hostile names ---- */

static const struct trace_rec hostile[] = {
	REC(TRACE_THREAD, thread, 1, 1, 101, 101, TRACE_THREAD_JAVA, 0, S("a\"b\\\n</script>"), S("main")),
};

START_TEST(json_is_escaped)
{
	static timed_fn *const writers[] = {chrome_write, firefox_write};
	size_t size;

	for (size_t i = 0; i < 2; i++) {
		char *text = EXPORTED(writers[i], .samples = true, hostile, 0, &size);

		ck_assert_ptr_nonnull(strstr(text, "\"name\":\"a\\\"b\\\\?\\u003c/script\\u003e\""));
		ck_assert_ptr_null(strstr(text, "</script"));
		ck_assert_ptr_null(memchr(text, '\n', size - 1));
		free(text);
	}
}
END_TEST

/* The kernel cuts a name at 15 bytes, inside a character, which is U+FFFD here: three bytes instead of one. */
static const struct trace_rec cut_names[] = {
	REC(TRACE_PROCESS, process, 1, 100, 0, 5, S("приложе\uFFFD"), S("/usr/bin/java")),
};

START_TEST(names_end_with_a_character)
{
	size_t size, length;
	char *text = EXPORTED(chrome_write, .samples = true, cut_names, 0, &size), *valid = malloc(4 * size);

	ck_assert_ptr_nonnull(strstr(text, "{\"name\":\"приложе"));
	length = utf8_from_modified(valid, 4 * size, text, size);
	ck_assert_uint_eq(length, size);
	ck_assert_mem_eq(valid, text, size);
	free(valid);
	free(text);
}
END_TEST

START_TEST(long_frames_keep_whole_characters_and_the_suffix)
{
	char text[FRAME_NAME_MAX + 8], name[FRAME_NAME_MAX];
	const struct tree_label label = {.text = text, .kind = KIND_INTERPRETED};

	memset(text, 'x', FRAME_NAME_MAX);
	strcpy(text + FRAME_NAME_MAX - 2, "ää");
	stack_table_name(&label, false, name);
	ck_assert_uint_eq(strlen(name), FRAME_NAME_MAX - 2);
	ck_assert_int_eq(name[FRAME_NAME_MAX - 3], 'x');
	stack_table_name(&label, true, name);
	ck_assert_uint_eq(strlen(name), FRAME_NAME_MAX - 1);
	ck_assert_str_eq(name + FRAME_NAME_MAX - 5, "_[0]");
}
END_TEST

START_TEST(long_threads_keep_whole_characters_and_their_ids)
{
	char name[600];
	struct trace_rec thread = REC(TRACE_THREAD, thread, 1, 1, 101, 101, TRACE_THREAD_JAVA, 0, {name, sizeof(name)});
	struct run r = run_begin(NULL);
	struct stack_table t;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	memset(name, 'x', sizeof(name));
	for (size_t i = 500; i + 1 < sizeof(name); i += 2)
		memcpy(name + i, "ä", 2); /* the sixth one is cut */
	run_feed(&r, &thread, 1);
	run_analyze(&r, NULL);
	ck_assert_int_eq(stack_table_new(&t, r.an, &r.an->samples, 0), 0);
	ck_assert_int_eq(speedscope_write(out, &t, &(struct profile_unit){.name = "samples"}, false), 0);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, "xäääää (pid 100, tid 101)\""));
	free(text);
	stack_table_free(&t);
	run_free(&r);
}
END_TEST

START_TEST(hprof_has_no_quotes_in_names)
{
	struct run r = run_begin(NULL);
	struct stack_table t;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	run_feed(&r, hostile, 1);
	run_analyze(&r, NULL);
	ck_assert_int_eq(stack_table_new(&t, r.an, &r.an->samples, 2), 0);
	ck_assert_int_eq(hprof_write(out, &t, &(struct profile_unit){.name = "samples"}, false), 0);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, ", name=\"a'b\\?</script>\", group=\"java\")\n"));
	ck_assert_ptr_nonnull(strstr(text, "CPU SAMPLES BEGIN (total = 9) "));
	ck_assert_ptr_nonnull(strstr(text, "\n   1 55.56% 55.56%       5 30000"));
	ck_assert_ptr_nonnull(strstr(text, "\n   2 44.44% 100.00%       4 30000"));
	free(text);
	stack_table_free(&t);
	run_free(&r);
}
END_TEST

/* ---- Perfetto ---- */

struct seen {
	uint64_t samples, begun, ended, points;
	uint64_t stacks[64]; /* iids that are interned */
	size_t count;
};

static bool knows_stack(const struct seen *s, uint64_t iid)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->stacks[i] == iid)
			return true;
	return !iid;
}

static void see(struct seen *s, const Perfetto__TracePacket *p)
{
	for (size_t i = 0; p->interned_data && i < p->interned_data->n_callstacks; i++) {
		ck_assert_uint_lt(s->count, 64);
		s->stacks[s->count++] = p->interned_data->callstacks[i]->iid;
	}
	if (p->data_case == PERFETTO__TRACE_PACKET__DATA_PERF_SAMPLE) {
		s->samples++;
		ck_assert(knows_stack(s, p->perf_sample->callstack_iid));
	} else if (p->data_case == PERFETTO__TRACE_PACKET__DATA_TRACK_EVENT) {
		s->begun += p->track_event->type == PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN;
		s->ended += p->track_event->type == PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END;
		s->points += p->track_event->type == PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT;
		ck_assert(knows_stack(s, p->track_event->callstack_iid));
	}
}

START_TEST(packets_refer_to_what_came_before)
{
	size_t size;
	char *bytes = EXPORTED(perfetto_write, .kind = 0, locks, 0, &size);
	Perfetto__Trace *t = perfetto__trace__unpack(NULL, size, (uint8_t *)bytes);
	struct seen seen = {0};

	ck_assert_ptr_nonnull(t);
	ck_assert_int_eq(t->packet[0]->data_case, PERFETTO__TRACE_PACKET__DATA_CLOCK_SNAPSHOT);
	for (size_t i = 0; i < t->n_packet; i++)
		see(&seen, t->packet[i]);
	ck_assert_uint_eq(seen.samples, 19);
	ck_assert_uint_eq(seen.begun, 4); /* two locks, a pause and a cycle */
	ck_assert_uint_eq(seen.ended, 4);
	ck_assert_uint_eq(seen.points, 3); /* a thread's start and end, a pause of unknown length */
	perfetto__trace__free_unpacked(t, NULL);
	free(bytes);
}
END_TEST

/* On one row, in the order of their ends: two that cross each other, one inside, and one right behind the other. */
static const struct trace_rec crossing[] = {
	JVM(.kind = BRAID_JVM_LOCK, AT(22), .thread = 1, .duration_ns = 2 * MS, .name = C_LOCK),
	JVM(.kind = BRAID_JVM_LOCK, AT(10), .thread = 1, .duration_ns = 20 * MS, .name = C_LOCK),
	JVM(.kind = BRAID_JVM_LOCK, AT(20), .thread = 1, .duration_ns = 21 * MS, .name = C_LOCK),
	JVM(.kind = BRAID_JVM_LOCK, AT(41), .thread = 1, .duration_ns = 4 * MS, .name = C_LOCK),
};

/* As a reader does it: what is at the same time keeps its order. */
static void sort_by_time(Perfetto__Trace *t)
{
	for (size_t i = 1; i < t->n_packet; i++)
		for (size_t k = i; k && t->packet[k - 1]->timestamp > t->packet[k]->timestamp; k--) {
			Perfetto__TracePacket *later = t->packet[k - 1];

			t->packet[k - 1] = t->packet[k];
			t->packet[k] = later;
		}
}

/* The time from the begin `at`, by the end that a reader gives it; 0: it has none. */
static uint64_t slice_at(Perfetto__Trace *t, size_t at)
{
	const Perfetto__TrackEvent *begin = t->packet[at]->track_event;
	unsigned open = 0;

	for (size_t i = at; i < t->n_packet; i++) {
		const Perfetto__TrackEvent *e = t->packet[i]->track_event;

		if (t->packet[i]->data_case != PERFETTO__TRACE_PACKET__DATA_TRACK_EVENT ||
		    e->track_uuid != begin->track_uuid)
			continue;
		open += e->type == PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN;
		open -= e->type == PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END;
		if (!open)
			return t->packet[i]->timestamp - t->packet[at]->timestamp;
	}
	return 0;
}

START_TEST(intervals_that_overlap_keep_their_lengths)
{
	size_t size, found = 0;
	char *bytes = EXPORTED(perfetto_write, .kind = BRAID_JVM_LOCK, crossing, 0, &size);
	Perfetto__Trace *t = perfetto__trace__unpack(NULL, size, (uint8_t *)bytes);
	uint64_t tracks = 0;

	ck_assert_ptr_nonnull(t);
	for (size_t i = 0; i < t->n_packet; i++)
		if (t->packet[i]->data_case == PERFETTO__TRACE_PACKET__DATA_TRACK_DESCRIPTOR)
			tracks += t->packet[i]->track_descriptor->name &&
				  t->packet[i]->track_descriptor->parent_uuid != 0;
	ck_assert_uint_eq(tracks, 3); /* as many as overlap at 22 ms */
	sort_by_time(t);
	for (size_t i = 0; i < t->n_packet; i++) {
		const Perfetto__TracePacket *p = t->packet[i];

		if (p->data_case != PERFETTO__TRACE_PACKET__DATA_TRACK_EVENT ||
		    p->track_event->type != PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN)
			continue;
		for (size_t k = 0; k < sizeof(crossing) / sizeof(crossing[0]); k++)
			if (crossing[k].jvm_event.time_ns == p->timestamp) {
				ck_assert_uint_eq(slice_at(t, i), crossing[k].jvm_event.duration_ns);
				found++;
			}
	}
	ck_assert_uint_eq(found, sizeof(crossing) / sizeof(crossing[0]));
	perfetto__trace__free_unpacked(t, NULL);
	free(bytes);
}
END_TEST

Suite *test_timed(void)
{
	Suite *s = suite_create("timed");
	TCase *t = tcase_create("timed");

	tcase_add_test(t, an_interval_counts_where_it_is);
	tcase_add_test(t, samples_count_at_their_time);
	tcase_add_test(t, a_heat_map_has_a_limit);
	tcase_add_test(t, json_is_escaped);
	tcase_add_test(t, names_end_with_a_character);
	tcase_add_test(t, long_frames_keep_whole_characters_and_the_suffix);
	tcase_add_test(t, long_threads_keep_whole_characters_and_their_ids);
	tcase_add_test(t, hprof_has_no_quotes_in_names);
	tcase_add_test(t, packets_refer_to_what_came_before);
	tcase_add_test(t, intervals_that_overlap_keep_their_lengths);
	suite_add_tcase(s, t);
	return s;
}
