// SPDX-License-Identifier: Apache-2.0
/*
 * Writes and reads trace files. record/ writes, the commands read. Functions return 0 or a negative errno unless noted.
 */
#ifndef BRAID_TRACE_TRACE_H
#define BRAID_TRACE_TRACE_H

#include <braid/trace.h>

#include "record.h"

/* ---- codec.c ---- */

/* Running values for delta fields; zero at the start of every block. One for writing, one for reading. */
struct trace_delta;

/* ---- writer.c ---- */

struct trace_writer;

/* Receives every record in order before it is written, for the live analyzer. */
typedef void (*trace_tap_fn)(void *ctx, const struct trace_rec *rec);

/*
 * Finds out whether `path` can be written and writes the schema. On failure *out is NULL. trace_writer_begin() opens
 * the file: until then records are held in memory, and what is there is locked and remains as it is. "-" is standard
 * output. Standard output, a FIFO (the open waits for its reader) and /dev/null are streams, which are opened at once.
 *
 * -EEXIST: the file is neither an older trace nor empty; -ENOTEMPTY: the same of `path`.old; -EBUSY: another recording
 * writes to it; -ENOTTY: it is a terminal.
 */
int trace_writer_prepare(struct trace_writer **out, const char *path);

/*
 * Opens the file. It grows by whole blocks; definitions reach it before the events that need them. A new file has mode
 * 0600, and under sudo belongs to the caller. An older trace of that name becomes `path`.old.
 */
int trace_writer_begin(struct trace_writer *w);

/* Both at once. */
int trace_writer_open(struct trace_writer **out, const char *path);

void trace_writer_tap(struct trace_writer *w, trace_tap_fn fn, void *ctx);

/*
 * Adds one record. An I/O error is returned at once and by every later call: the blocks already written stay valid, and
 * the incomplete one is removed. On a full disk, as many of its oldest records as fit are written. -EPIPE and
 * -ETIMEDOUT: the reader of a stream has ended, or does not read. -EINVAL for a record that the schema cannot hold.
 */
int trace_writer_put(struct trace_writer *w, const struct trace_rec *rec);

/* Writes out buffered records as blocks of their own. Cheap when there are none. */
int trace_writer_flush(struct trace_writer *w);

uint64_t trace_writer_bytes(const struct trace_writer *w);
uint64_t trace_writer_samples(const struct trace_writer *w); /* that have been written */
bool trace_writer_streams(const struct trace_writer *w);     /* to a pipe or the like */
bool trace_writer_on_stdout(const struct trace_writer *w);   /* nothing else may be written there */

/* Explains an error of the functions here; the string is static or strerror()'s. */
const char *trace_writer_why(int err);

/*
 * Flushes, writes the index, closes and frees. What has not begun leaves nothing. `w` may be NULL. Returns the first
 * error that ever occurred.
 */
int trace_writer_close(struct trace_writer *w);

/* ---- reader.c ---- */

struct trace_reader;

/* What a reader had to skip. */
struct trace_damage {
	uint64_t bad_blocks;	  /* wrong checksum, size or compression */
	uint64_t skipped_bytes;	  /* of the file: searched for the next block, or in skipped blocks */
	uint64_t bad_records;	  /* in valid blocks: undecodable or with ids out of range */
	uint64_t unknown_records; /* kinds or fields newer than this reader */
	bool truncated;		  /* the file ends inside a block */
	bool no_index;		  /* no index block: the recording did not end in order */
	uint64_t missing_blocks;  /* gaps in the sequence numbers */
};

/* Whether written data could not be read. A recording that did not end in order is not damaged. */
bool trace_is_damaged(const struct trace_damage *d);

/*
 * Opens `path` ("-" is standard input; a pipe is read to its end first) and checks that it is a trace. -ENOENT etc.
 * from open(2), -EMEDIUMTYPE when it is no trace of braid, -EPROTONOSUPPORT when it has a newer, incompatible version.
 * For these two, *why (unless NULL) gets an explanation in static storage.
 */
int trace_reader_open(struct trace_reader **out, const char *path, const char **why);

/*
 * Follows a trace while it is written. From now on, the file may grow: trace_reader_next() returns 0 when there is no
 * more yet, and goes on there when it is called again. A block of which the file has only the beginning is waited for,
 * and is no damage. Blocks come about every second, definitions before the events that need them; the record TRACE_END
 * is the last one of a recording that ends in order. The file is the same one if its name gets another one meanwhile.
 *
 * 	err = trace_reader_open(&r, path, &why);  -EMEDIUMTYPE of an empty file: its recording has not begun
 * 	trace_reader_follow(r);
 * 	do {
 * 		grows = trace_reader_grows(r);            before reading, so that nothing is missed
 * 		while ((err = trace_reader_next(r, &rec)) == 1)
 * 			...
 * 		wait for a second
 * 	} while (!err && grows);
 */
void trace_reader_follow(struct trace_reader *r);

/*
 * The same of a pipe or socket, which is read no further than it has been written, and cannot be read again. It is made
 * non-blocking and closed with the reader, or on failure. Memory has at most two blocks of it. What the stream ends
 * inside of is damage.
 */
int trace_reader_follow_stream(struct trace_reader **out, int fd);

/* Whether something still writes: a recording has the file locked, or the stream's other end is open. */
bool trace_reader_grows(const struct trace_reader *r);

/*
 * The next record: 1 and *rec is filled, 0 at the end, negative errno on an I/O error. Damage does not end the reading:
 * it is counted and skipped. *rec's pointers are valid until the next call.
 */
int trace_reader_next(struct trace_reader *r, struct trace_rec *rec);

/* Another reader of the same file, at its first record. 0 or a negative errno. */
int trace_reader_again(struct trace_reader **out, const struct trace_reader *r);

/*
 * From now on, leaves out definitions, and events whose block has none of that range of time (inclusive, by the times
 * at which they began). Of blocks that are left out only the headers are read.
 */
void trace_reader_between(struct trace_reader *r, uint64_t from_ns, uint64_t to_ns);

/*
 * The same for samples of the recording's sampling event, and for nothing else. Some that are outside come all the
 * same.
 */
void trace_reader_samples_between(struct trace_reader *r, uint64_t from_ns, uint64_t to_ns);

/* The times of all that was left out, as far as its headers can be trusted; 0: nothing was. */
void trace_reader_left_out(const struct trace_reader *r, uint64_t *from_ns, uint64_t *to_ns);

/* Goes back to the first record, without bounds; counts of skipped data start at zero. */
void trace_reader_rewind(struct trace_reader *r);

const struct trace_damage *trace_reader_damage(const struct trace_reader *r);
uint64_t trace_reader_bytes(const struct trace_reader *r); /* size of the file */
void trace_reader_close(struct trace_reader *r);

#endif
