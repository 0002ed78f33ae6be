// SPDX-License-Identifier: Apache-2.0
/* Files of traces for the tests of what makes traces from traces. */
#ifndef TESTS_UNIT_EDIT_FILES_H
#define TESTS_UNIT_EDIT_FILES_H

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <edit/edit.h>
#include <export/export.h>
#include <trace/codec.h>

#include "unit/run.h"

static inline char *path_new(void)
{
	char *path = strdup("/tmp/braid-test-edit-XXXXXX");
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	close(fd);
	unlink(path);
	return path;
}

static inline char *file_of(const struct trace_rec *recs, size_t count)
{
	char *path = path_new();
	struct trace_writer *w;

	ck_assert_int_eq(trace_writer_open(&w, path), 0);
	for (size_t i = 0; i < count; i++)
		ck_assert_int_eq(trace_writer_put(w, &recs[i]), 0);
	ck_assert_int_eq(trace_writer_close(w), 0);
	return path;
}

/* A file that is open for an operation, and analyzed. */
struct opened {
	char *path;
	struct trace_reader *reader;
	struct analyzer *a;
	struct analysis *an;
};

static inline void opened_begin(struct opened *o, char *path, const struct filter *filter)
{
	struct trace_rec rec;

	o->path = path;
	ck_assert_int_eq(trace_reader_open(&o->reader, path, NULL), 0);
	ck_assert_int_eq(analyzer_new(&o->a), 0);
	analyzer_keep_samples(o->a);
	while (trace_reader_next(o->reader, &rec) == 1)
		ck_assert_int_eq(analyzer_feed(o->a, &rec), 0);
	ck_assert_int_eq(analysis_new(&o->an, o->a, filter), 0);
}

/* Leaves the file. */
static inline void opened_close(struct opened *o)
{
	analysis_free(o->an);
	analyzer_free(o->a);
	trace_reader_close(o->reader);
}

static inline void opened_end(struct opened *o)
{
	opened_close(o);
	unlink(o->path);
	free(o->path);
}

/* What `braid export` writes of a trace. */
static inline char *collapsed_of(const struct opened *o)
{
	const struct collapsed_options options = {.threads = true};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ck_assert_int_eq(collapsed_write(out, o->an, &o->an->samples, &options), 0);
	fclose(out);
	return text;
}

static inline char *raw_of(const char *path)
{
	struct trace_reader *r;
	struct trace_rec rec;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ck_assert_int_eq(trace_reader_open(&r, path, NULL), 0);
	while (trace_reader_next(r, &rec) == 1)
		trace_rec_print(out, &rec);
	ck_assert(!trace_is_damaged(trace_reader_damage(r)));
	trace_reader_close(r);
	fclose(out);
	return text;
}

static inline void is_whole(const char *path)
{
	struct verify_result v;
	struct trace_reader *r;

	ck_assert_int_eq(trace_reader_open(&r, path, NULL), 0);
	ck_assert_int_eq(edit_verify(r, &v), 0);
	ck_assert(!trace_is_damaged(trace_reader_damage(r)) && !trace_reader_damage(r)->no_index);
	for (unsigned i = 0; i < TRACE_ID_SPACES; i++)
		ck_assert_msg(!v.undefined[i] && !v.late[i], "%s: %s", path, trace_id_space_name(i));
	trace_reader_close(r);
}

static inline struct trace_writer *writer_new(char **path)
{
	struct trace_writer *w;

	*path = path_new();
	ck_assert_int_eq(trace_writer_open(&w, *path), 0);
	return w;
}

#endif
