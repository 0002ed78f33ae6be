// SPDX-License-Identifier: Apache-2.0
/* A trace file with all fixtures, analyzed, for what reads it a second time: streams, and formats made from them. */
#ifndef BRAID_TESTS_STREAM_FIXTURE_H
#define BRAID_TESTS_STREAM_FIXTURE_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <analyze/stream.h>
#include <views/span_pairs.h>

#include "events_fixture.h"
#include "run.h"

static const struct trace_rec stream_pairs[] = {
	REC(TRACE_NAME, name, 100, S("uprobe:/a:begin")),
	REC(TRACE_NAME, name, 101, S("uprobe:/a:end")),
	REC(TRACE_SAMPLE, sample, BASE_NS + 15 * MS, 1, 0, 3, 1, 0, 100),
	REC(TRACE_SAMPLE, sample, BASE_NS + 45 * MS, 1, 0, 3, 1, 0, 101),
};

struct stream_file {
	char path[64];
	struct analyzer *a;
	struct analysis *an;
	struct trace_reader *reader;
};

static inline void stream_put_all(struct trace_writer *w, const struct trace_rec *recs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ck_assert_int_eq(trace_writer_put(w, &recs[i]), 0);
}

struct stream_part {
	const struct trace_rec *recs;
	size_t count;
};

#define STREAM_PART(recs)                                                                                              \
	{                                                                                                              \
		recs, sizeof(recs) / sizeof((recs)[0])                                                                 \
	}

/* The synthetic trace, and what the parts add to it. */
static inline struct stream_file stream_open_with(const struct filter *filter, const struct stream_part *parts,
						  size_t count)
{
	struct stream_file f = {.path = "/tmp/braid-test-stream-XXXXXX"};
	struct span_pairs made;
	struct trace_writer *w;
	struct trace_rec rec;

	close(mkstemp(f.path));
	unlink(f.path);
	ck_assert_int_eq(trace_writer_open(&w, f.path), 0);
	stream_put_all(w, synthetic, SYNTHETIC_COUNT);
	for (size_t i = 0; i < count; i++)
		stream_put_all(w, parts[i].recs, parts[i].count);
	ck_assert_int_eq(trace_writer_close(w), 0);
	ck_assert_int_eq(trace_reader_open(&f.reader, f.path, NULL), 0);
	ck_assert_int_eq(analyzer_new(&f.a), 0);
	if (filter && filter_needs_samples(filter))
		analyzer_keep_samples(f.a);
	while (trace_reader_next(f.reader, &rec) == 1)
		ck_assert_int_eq(analyzer_feed(f.a, &rec), 0);
	if (filter && filter->pair)
		ck_assert_int_eq(span_pairs_define(f.a, filter->pair, &made), 0);
	ck_assert_int_eq(analysis_new(&f.an, f.a, filter), 0);
	return f;
}

static inline struct stream_file stream_open(const struct filter *filter)
{
	static const struct stream_part all[] = {STREAM_PART(more), STREAM_PART(events), STREAM_PART(stream_pairs)};

	return stream_open_with(filter, all, sizeof(all) / sizeof(all[0]));
}

static inline void stream_close(struct stream_file *f)
{
	analysis_free(f->an);
	analyzer_free(f->a);
	trace_reader_close(f->reader);
	unlink(f->path);
}

#endif
