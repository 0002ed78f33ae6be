// SPDX-License-Identifier: Apache-2.0
/* Tests of traces that are read while they are written. */
#include <fcntl.h>

#include "unit/trace_fixture.h"

Suite *test_trace_follow(void);

#define BLOCKS 3 /* of events */

/* A trace of a few blocks, as bytes; definitions come before their events. */
static uint8_t *trace_make(char **path, size_t *len)
{
	struct trace_writer *w;

	*path = fixture_path();
	ck_assert_int_eq(trace_writer_open(&w, *path), 0);
	for (unsigned i = 0; i < BLOCKS; i++) {
		fixture_put(w, (struct trace_rec){.kind = TRACE_NODE, .node = {i + 1, i, i + 5}});
		fixture_sample(w, 1000000 * (i + 1), i + 1);
		fixture_sample(w, 1000000 * (i + 1) + 10, i + 1);
		ck_assert_int_eq(trace_writer_flush(w), 0);
	}
	ck_assert_int_eq(trace_writer_close(w), 0);
	return fixture_load(*path, len);
}

/* Reads what is there; a sample needs the node that came before it. */
static void read_on(struct trace_reader *r, unsigned *nodes, unsigned *samples)
{
	struct trace_rec rec;
	int got;

	while ((got = trace_reader_next(r, &rec)) == 1) {
		if (rec.kind == TRACE_NODE)
			MUST(rec.node.node == ++*nodes);
		else if (rec.kind == TRACE_SAMPLE)
			MUST(rec.sample.node == 1 + (*samples)++ / 2 && rec.sample.node <= *nodes);
	}
	ck_assert_int_eq(got, 0);
}

START_TEST(a_file_that_grows_byte_by_byte)
{
	unsigned nodes = 0, samples = 0;
	struct trace_reader *r;
	size_t len, begun = sizeof(struct braid_block);
	const char *why;
	char *path;
	uint8_t *bytes = trace_make(&path, &len);
	int fd;

	fixture_store(path, bytes, begun);
	ck_assert_int_eq(trace_reader_open(&r, path, &why), 0);
	trace_reader_follow(r);
	fd = open(path, O_WRONLY | O_APPEND);
	for (size_t at = begun; at < len; at++) {
		read_on(r, &nodes, &samples);
		MUST(write(fd, bytes + at, 1) == 1);
	}
	read_on(r, &nodes, &samples);
	ck_assert_uint_eq(nodes, BLOCKS);
	ck_assert_uint_eq(samples, 2 * BLOCKS);
	ck_assert(!trace_is_damaged(trace_reader_damage(r)));
	ck_assert(!trace_reader_damage(r)->no_index);
	ck_assert_uint_eq(trace_reader_bytes(r), len);
	trace_reader_close(r);
	close(fd);
	unlink(path);
	free(path);
	free(bytes);
}
END_TEST

/* Where the block begins. */
static size_t block_at(const uint8_t *bytes, unsigned block)
{
	size_t at = 0;

	for (struct braid_block head; block; block--) {
		memcpy(&head, bytes + at, sizeof(head));
		at += sizeof(head) + head.stored_bytes;
	}
	return at;
}

START_TEST(damage_in_a_file_that_grows)
{
	unsigned got = 0;
	struct trace_reader *r;
	struct trace_rec rec;
	const char *why;
	char *path;
	size_t len;
	uint8_t *bytes = trace_make(&path, &len);
	int fd;

	bytes[block_at(bytes, 2) + sizeof(struct braid_block)] ^= 0xff; /* the first one of events */
	fixture_store(path, bytes, sizeof(struct braid_block));
	ck_assert_int_eq(trace_reader_open(&r, path, &why), 0);
	trace_reader_follow(r);
	fd = open(path, O_WRONLY | O_APPEND);
	for (size_t at = sizeof(struct braid_block); at < len; at++) {
		while (trace_reader_next(r, &rec) == 1)
			got++;
		MUST(write(fd, bytes + at, 1) == 1);
	}
	while (trace_reader_next(r, &rec) == 1)
		got++;
	ck_assert_uint_eq(got, 3 * BLOCKS - 2);
	ck_assert_uint_eq(trace_reader_damage(r)->bad_blocks, 1);
	ck_assert(trace_is_damaged(trace_reader_damage(r)));
	trace_reader_close(r);
	close(fd);
	unlink(path);
	free(path);
	free(bytes);
}
END_TEST

/* Sends a trace without its last bytes in pieces, and closes the pipe. */
static void stream(size_t piece, size_t keep_back)
{
	unsigned nodes = 0, samples = 0;
	struct trace_reader *r;
	char *path;
	size_t len, sent;
	uint8_t *bytes = trace_make(&path, &len);
	int ends[2];

	sent = len - keep_back;
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	ck_assert_int_eq(trace_reader_follow_stream(&r, ends[0]), 0);
	for (size_t at = 0; at < sent; at += piece) {
		size_t n = sent - at < piece ? sent - at : piece;

		ck_assert(trace_reader_grows(r));
		MUST(write(ends[1], bytes + at, n) == (ssize_t)n);
		read_on(r, &nodes, &samples);
	}
	close(ends[1]);
	read_on(r, &nodes, &samples);
	ck_assert(!trace_reader_grows(r));
	ck_assert_uint_eq(trace_reader_damage(r)->truncated, keep_back > 0);
	ck_assert_uint_eq(trace_is_damaged(trace_reader_damage(r)), keep_back > 0);
	ck_assert_uint_eq(samples, 2 * BLOCKS);
	trace_reader_close(r);
	unlink(path);
	free(path);
	free(bytes);
}

START_TEST(a_stream_in_pieces)
{
	for (size_t piece = 1; piece < 200; piece += 7)
		stream(piece, 0);
	stream(60000, 0);
}
END_TEST

START_TEST(a_stream_that_ends_inside_a_block)
{
	stream(100, 1); /* of the index */
}
END_TEST

START_TEST(whether_a_recording_writes)
{
	struct trace_writer *w;
	struct trace_reader *r;
	const char *why;
	char *path = fixture_path();

	ck_assert_int_eq(trace_writer_open(&w, path), 0);
	ck_assert_int_eq(trace_reader_open(&r, path, &why), 0);
	trace_reader_follow(r);
	ck_assert(trace_reader_grows(r));
	ck_assert_int_eq(trace_writer_close(w), 0);
	ck_assert(!trace_reader_grows(r));
	trace_reader_close(r);
	unlink(path);
	free(path);
}
END_TEST

Suite *test_trace_follow(void)
{
	Suite *s = suite_create("trace_follow");
	TCase *tc = tcase_create("follow");

	tcase_add_test(tc, a_file_that_grows_byte_by_byte);
	tcase_add_test(tc, damage_in_a_file_that_grows);
	tcase_add_test(tc, a_stream_in_pieces);
	tcase_add_test(tc, a_stream_that_ends_inside_a_block);
	tcase_add_test(tc, whether_a_recording_writes);
	suite_add_tcase(s, tc);
	return s;
}
