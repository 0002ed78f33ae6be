// SPDX-License-Identifier: Apache-2.0
/* Files that are imported, and what the traces then have. */
#ifndef BRAID_TESTS_IMPORT_FIXTURE_H
#define BRAID_TESTS_IMPORT_FIXTURE_H

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <export/export.h>
#include <import/import.h>

#include "unit/stream_fixture.h"

/* A trace that was made by an import, and is loaded. */
struct imported {
	struct import_result result;
	int err;
	struct analyzer *a;
	struct analysis *an;
	struct trace_damage damage;
};

static inline void temporary(char path[64])
{
	strcpy(path, "/tmp/braid-test-import-XXXXXX");
	close(mkstemp(path));
}

static inline void import_load(struct imported *i, const char *path)
{
	struct trace_reader *reader;
	struct trace_rec rec;

	ck_assert_int_eq(trace_reader_open(&reader, path, NULL), 0);
	ck_assert_int_eq(analyzer_new(&i->a), 0);
	analyzer_keep_samples(i->a);
	while (trace_reader_next(reader, &rec) == 1)
		ck_assert_int_eq(analyzer_feed(i->a, &rec), 0);
	i->damage = *trace_reader_damage(reader);
	ck_assert(!trace_is_damaged(&i->damage));
	ck_assert_uint_eq(i->a->ignored, 0);
	ck_assert(i->a->ended);
	ck_assert_int_eq(analysis_new(&i->an, i->a, NULL), 0);
	trace_reader_close(reader);
}

static inline struct imported import_bytes(const void *bytes, size_t size, enum import_format format)
{
	struct imported i = {0};
	char from[64], to[64];
	struct trace_writer *w;
	bool writing;
	FILE *f;

	temporary(from);
	temporary(to);
	unlink(to);
	f = fopen(from, "w");
	ck_assert_uint_eq(fwrite(bytes, 1, size, f), size);
	fclose(f);
	ck_assert_int_eq(trace_writer_prepare(&w, to), 0);
	i.err = import_file(w, from, format, &i.result, &writing);
	ck_assert(!writing);
	ck_assert_int_eq(trace_writer_close(w), 0);
	if (!i.err)
		import_load(&i, to);
	else
		ck_assert_int_ne(access(to, F_OK), 0);
	unlink(from);
	unlink(to);
	return i;
}

static inline struct imported import_text(const char *text)
{
	return import_bytes(text, strlen(text), IMPORT_DETECT);
}

static inline void import_free(struct imported *i)
{
	analysis_free(i->an);
	analyzer_free(i->a);
}

static inline char *stacks_of(const struct analysis *an, bool annotate, bool threads)
{
	const struct collapsed_options options = {.annotate = annotate, .threads = threads};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ck_assert_int_eq(collapsed_write(out, an, &an->samples, &options), 0);
	fclose(out);
	return text;
}

/* The imported trace has these stacks, frees it. */
static inline void must_have(struct imported *i, bool annotate, bool threads, const char *expected)
{
	char *text;

	ck_assert_msg(!i->err, "%s", i->result.refused);
	ck_assert_str_eq(i->result.damage, "");
	text = stacks_of(i->an, annotate, threads);
	ck_assert_str_eq(text, expected);
	free(text);
	import_free(i);
}

/* The number, weight and duration of the events of a kind. */
struct kind_sum {
	uint64_t count, weight, duration_ns, first_ns;
};

static inline struct kind_sum sum_of(const struct analysis *an, uint32_t kind)
{
	struct kind_sum sum = {0};
	struct event e;

	for (size_t i = 0; i < events_count(an); i++) {
		if (!events_get_summed(an, i, &e) || e.kind != kind)
			continue;
		sum.count++;
		sum.weight += e.weight;
		sum.duration_ns += e.duration_ns;
		sum.first_ns += analysis_since(an, e.start_ns);
	}
	return sum;
}

#endif
