// SPDX-License-Identifier: Apache-2.0
/* Writing and reading trace files. Functions return 0 or a negative errno unless said otherwise. */
#ifndef BRAID_TRACE_TRACE_H
#define BRAID_TRACE_TRACE_H

#include <braid/trace.h>

#include "record.h"

/* ---- codec.c ---- */

/* Running values that delta fields refer to; zero at the start of every block. One for writing, one for reading. */
struct trace_delta;

/* ---- writer.c ---- */

struct trace_writer;

/* Sees every record that is put, in order, before it is written: the live side of the one analyzer. */
typedef void (*trace_tap_fn)(void *ctx, const struct trace_rec *rec);

/*
 * Creates `path` and writes the schema. On failure *out is NULL. The file grows by whole blocks; definitions reach it
 * before the events that need them. A new file has mode 0600, and under sudo belongs to its caller. An older trace
 * there becomes `path`.old. "-" is standard output; that, a FIFO (whose reader is waited for) and /dev/null are
 * streams.
 *
 * -EEXIST: something else than an older trace or an empty file is there, and was left alone; -ENOTEMPTY: the same of
 * `path`.old; -EBUSY: another recording is writing it; -ENOTTY: it is a terminal.
 */
int trace_writer_open(struct trace_writer **out, const char *path);
void trace_writer_tap(struct trace_writer *w, trace_tap_fn fn, void *ctx);

/*
 * Adds one record. An I/O error is returned at once and by every later call: the blocks already written stay valid, and
 * the incomplete one is cut off. On a full disk the oldest records of it are written as far as they fit. -EPIPE and
 * -ETIMEDOUT: the reader of a stream has ended, or takes nothing. -EINVAL for a record that the schema cannot hold.
 */
int trace_writer_put(struct trace_writer *w, const struct trace_rec *rec);

/* Writes out what is buffered, as blocks of their own. Cheap when nothing is. */
int trace_writer_flush(struct trace_writer *w);

uint64_t trace_writer_bytes(const struct trace_writer *w);
uint64_t trace_writer_samples(const struct trace_writer *w); /* that have been written */
bool trace_writer_streams(const struct trace_writer *w);     /* to a pipe or the like */
bool trace_writer_on_stdout(const struct trace_writer *w);   /* nothing else may be written there */

/* Why a trace cannot be written, of what the functions here return: static, or strerror()'s. */
const char *trace_writer_why(int err);

/* Flushes, writes the index, closes and frees. NULL is fine. Returns the first error that the writer ever met. */
int trace_writer_close(struct trace_writer *w);

/* ---- reader.c ---- */

struct trace_reader;

/* What a reader had to leave out. */
struct trace_damage {
	uint64_t bad_blocks;	  /* checksum, size or decompression wrong */
	uint64_t skipped_bytes;	  /* of the file: searched through for the next block, or in blocks left out */
	uint64_t bad_records;	  /* in good blocks: not decodable or with ids out of range */
	uint64_t unknown_records; /* kinds or fields newer than this reader */
	bool truncated;		  /* the file ends inside a block */
	bool no_index;		  /* no index block: the recording did not end in order */
	uint64_t missing_blocks;  /* gaps in the sequence numbers */
};

/* Whether something that was written could not be read. A recording that did not end in order is no damage. */
bool trace_is_damaged(const struct trace_damage *d);

/*
 * Opens `path` ("-" is standard input; of a pipe all is read first) and checks that it is a trace. -ENOENT etc. from
 * open(2), -EMEDIUMTYPE when it is no trace of braid's, -EPROTONOSUPPORT when it is of a newer, incompatible version.
 * *why, when given, is set to a sentence in either case (static storage).
 */
int trace_reader_open(struct trace_reader **out, const char *path, const char **why);

/*
 * The next record: 1 and *rec filled, 0 at the end, negative errno on an I/O error. Damage does not end the reading: it
 * is counted and skipped. Everything that *rec points to is valid until the next call.
 */
int trace_reader_next(struct trace_reader *r, struct trace_rec *rec);

/* Back to the first record; what is left out is counted from zero. */
void trace_reader_rewind(struct trace_reader *r);

const struct trace_damage *trace_reader_damage(const struct trace_reader *r);
uint64_t trace_reader_bytes(const struct trace_reader *r); /* size of the file */
void trace_reader_close(struct trace_reader *r);

#endif
