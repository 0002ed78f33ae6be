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
 * Creates (or truncates) `path` ("-" is refused) and writes the schema. On failure *out is NULL. The file grows by
 * whole blocks; definitions reach it before the events that need them. A new file has mode 0600. -EEXIST: there is
 * something else than an older trace or an empty file, and it was left alone; -EBUSY: another recording is writing it.
 */
int trace_writer_open(struct trace_writer **out, const char *path);
void trace_writer_tap(struct trace_writer *w, trace_tap_fn fn, void *ctx);

/*
 * Adds one record. An I/O error (a full disk) is returned at once and by every later call: the blocks already written
 * stay valid, and the incomplete one is cut off. -EINVAL for a record that the schema cannot hold.
 */
int trace_writer_put(struct trace_writer *w, const struct trace_rec *rec);

/* Writes out what is buffered, as blocks of their own. Cheap when nothing is. */
int trace_writer_flush(struct trace_writer *w);

uint64_t trace_writer_bytes(const struct trace_writer *w);

/* Flushes, writes the index, closes and frees. NULL is fine. Returns the first error that the writer ever met. */
int trace_writer_close(struct trace_writer *w);

/* ---- reader.c ---- */

struct trace_reader;

/* What a reader had to leave out. */
struct trace_damage {
	uint64_t bad_blocks;	  /* checksum, size or decompression wrong */
	uint64_t skipped_bytes;	  /* searched through for the next block */
	uint64_t bad_records;	  /* in good blocks: not decodable or with ids out of range */
	uint64_t unknown_records; /* kinds or fields newer than this reader */
	bool truncated;		  /* the file ends inside a block */
	bool no_index;		  /* no index block: the recording did not end in order */
	bool missing_blocks;	  /* sequence numbers with gaps */
};

/*
 * Opens `path` and checks that it is a trace. -ENOENT etc. from open(2), -EMEDIUMTYPE when it is no trace of braid's,
 * -EPROTONOSUPPORT when it is of a newer, incompatible version. *why, when given, is set to a sentence in either case
 * (static storage).
 */
int trace_reader_open(struct trace_reader **out, const char *path, const char **why);

/*
 * The next record: 1 and *rec filled, 0 at the end, negative errno on an I/O error. Damage does not end the reading: it
 * is counted and skipped. Everything that *rec points to is valid until the next call.
 */
int trace_reader_next(struct trace_reader *r, struct trace_rec *rec);

const struct trace_damage *trace_reader_damage(const struct trace_reader *r);
uint64_t trace_reader_bytes(const struct trace_reader *r); /* size of the file */
void trace_reader_close(struct trace_reader *r);

#endif
