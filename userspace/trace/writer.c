// SPDX-License-Identifier: Apache-2.0
/*
 * Writes a trace; trace.h is its interface. Records go into blocks, blocks into the output, and definitions before the
 * events that need them.
 */
#include "trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "block.h"
#include "chain.h"
#include "codec.h"
#include "def_groups.h"
#include "output.h"
#include "util/varint.h"
#include "util/vec.h"

/* On a full disk a block can be cut at marks; this is their distance in bytes of events. */
#define MARK_BYTES 256U
#define MARKS_MAX (2 * BRAID_BLOCK_RAW_MAX / MARK_BYTES)

/* A block of one kind that is being filled. */
struct buffer {
	uint16_t kind;
	VEC(uint8_t) raw;
	uint64_t time_min_ns;
	uint64_t time_max_ns;
	struct trace_delta delta;
};

struct place {
	uint64_t offset;
	uint64_t time_min_ns;
	uint64_t time_max_ns;
	uint16_t kind;
};

/* The first bytes of events and of samples need only the first `defs` bytes of definitions. */
struct mark {
	uint32_t defs;
	uint32_t events, samples;
	uint32_t count; /* of samples in both */
};

struct trace_writer {
	struct trace_output out;
	int err; /* the first error; after it nothing is written */
	bool begun;
	uint16_t schema;
	uint64_t sequence;
	uint64_t bytes;
	struct buffer defs;
	struct buffer events;
	struct buffer samples;	/* those that readers can leave out by their time */
	VEC(struct mark) marks; /* at most MARKS_MAX */
	uint32_t waiting;	/* samples that are not in the file yet */
	uint64_t written;	/* samples that are */
	ZSTD_CCtx *zstd;
	struct trace_chain chain; /* of definitions */
	struct def_groups groups;
	VEC(uint8_t) block;
	VEC(struct place) places;
	trace_tap_fn tap;
	void *tap_ctx;
};

/* ---- blocks to the file ---- */

static int place_add(struct trace_writer *w, const struct braid_block *head)
{
	return VEC_PUSH(&w->places, (struct place){
					    .offset = w->bytes,
					    .time_min_ns = head->kind == BRAID_BLOCK_DEFS ? 0 : head->time_min_ns,
					    .time_max_ns = head->time_max_ns,
					    .kind = head->kind,
				    });
}

/*
 * Removes an incomplete block, and perhaps those that the next one would continue. When this fails, too, readers see a
 * file that ends inside a block.
 */
static void file_cut(struct trace_writer *w)
{
	chain_break(&w->chain);
	trace_output_cut(&w->out, w->bytes);
}

static int block_write(struct trace_writer *w, struct braid_block *head, const uint8_t *raw, size_t raw_bytes)
{
	struct trace_payload payload = {.raw = raw, .bytes = raw_bytes};
	long packed;
	int err;

	head->schema = w->schema;
	head->sequence = w->sequence;
	if (VEC_RESERVE(&w->block, TRACE_BLOCK_BOUND(raw_bytes)))
		return -ENOMEM;
	if (head->kind == BRAID_BLOCK_DEFS) {
		if (def_groups_make(&w->groups, raw, raw_bytes))
			return -ENOMEM;
		payload.raw = w->groups.raw.at;
		payload.ends = w->groups.ends;
	}
	packed = trace_block_pack(w->zstd, &w->chain, head, &payload, w->block.at);
	if (packed < 0)
		return (int)packed;
	err = place_add(w, head);
	if (err)
		return err;
	err = trace_output_write(&w->out, w->block.at, (size_t)packed);
	if (err) {
		file_cut(w);
		w->places.count--;
		return err;
	}
	w->sequence++;
	w->bytes += (uint64_t)packed;
	return 0;
}

static void buffer_reset(struct buffer *b)
{
	b->raw.count = 0;
	b->time_min_ns = 0;
	b->time_max_ns = 0;
	trace_delta_reset(&b->delta);
}

/* Writes the first `len` bytes of a buffer as a block. */
static int buffer_write(struct trace_writer *w, const struct buffer *b, size_t len)
{
	struct braid_block head = {
		.kind = b->kind,
		.time_min_ns = b->time_min_ns,
		.time_max_ns = b->time_max_ns,
	};

	return len ? block_write(w, &head, b->raw.at, len) : 0;
}

/* ---- a full disk ---- */

/* Writes what the buffers hold up to a mark: all of it or nothing. */
static int mark_write(struct trace_writer *w, const struct mark *m)
{
	uint64_t bytes = w->bytes, sequence = w->sequence;
	size_t places = w->places.count;
	int err = buffer_write(w, &w->defs, m->defs);

	err = err ?: buffer_write(w, &w->events, m->events);
	err = err ?: buffer_write(w, &w->samples, m->samples);
	if (err) {
		w->bytes = bytes;
		w->sequence = sequence;
		w->places.count = places;
		file_cut(w);
	}
	return err;
}

/* The block no longer fits: writes as many of the waiting records as do, by bisection. */
static void salvage(struct trace_writer *w)
{
	uint64_t bytes = w->bytes, sequence = w->sequence;
	size_t places = w->places.count, good = 0, bad = w->marks.count + 1;

	while (bad - good > 1) {
		size_t middle = good + (bad - good) / 2;

		w->bytes = bytes;
		w->sequence = sequence;
		w->places.count = places;
		file_cut(w);
		if (mark_write(w, &w->marks.at[middle - 1]))
			bad = middle;
		else
			good = middle;
	}
	if (good && w->bytes == bytes && mark_write(w, &w->marks.at[good - 1]))
		good = 0; /* another process has taken the space */
	if (good)
		w->written += w->marks.at[good - 1].count;
}

static bool disk_is_full(int err)
{
	return err == -ENOSPC || err == -EDQUOT || err == -EFBIG;
}

/* Writes the definitions and, if requested, the events after them. */
static int buffers_flush(struct trace_writer *w, bool events)
{
	if (w->err)
		return w->err;
	w->err = mark_write(w, &(struct mark){.defs = (uint32_t)w->defs.raw.count,
					      .events = events ? (uint32_t)w->events.raw.count : 0,
					      .samples = events ? (uint32_t)w->samples.raw.count : 0});
	if (disk_is_full(w->err) && !w->out.stream)
		salvage(w);
	if (w->err)
		return w->err;
	buffer_reset(&w->defs);
	for (size_t i = 0; i < w->marks.count; i++)
		w->marks.at[i].defs = 0;
	if (events) {
		buffer_reset(&w->events);
		buffer_reset(&w->samples);
		w->written += w->waiting;
		w->waiting = 0;
		w->marks.count = 0;
	}
	return 0;
}

/* Adds a mark after an event, every MARK_BYTES. Without memory for it, a full disk takes a little less. */
static void mark_add(struct trace_writer *w)
{
	const struct mark *last = w->marks.count ? &w->marks.at[w->marks.count - 1] : &(struct mark){0};
	size_t events = w->events.raw.count, samples = w->samples.raw.count;

	if (events + samples - last->events - last->samples >= MARK_BYTES && w->marks.count < MARKS_MAX)
		(void)VEC_PUSH(&w->marks, ((struct mark){.defs = (uint32_t)w->defs.raw.count,
							 .events = (uint32_t)events,
							 .samples = (uint32_t)samples,
							 .count = w->waiting}));
}

/* ---- opening ---- */

static void writer_free(struct trace_writer *w)
{
	if (!w)
		return;
	ZSTD_freeCCtx(w->zstd);
	chain_free(&w->chain);
	def_groups_free(&w->groups);
	free(w->defs.raw.at);
	free(w->events.raw.at);
	free(w->samples.raw.at);
	free(w->block.at);
	free(w->places.at);
	free(w->marks.at);
	(void)trace_output_close(&w->out);
	free(w);
}

static int writer_new(struct trace_writer **out)
{
	struct trace_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->out.fd = -1;
	w->defs.kind = BRAID_BLOCK_DEFS;
	w->events.kind = BRAID_BLOCK_EVENTS;
	w->samples.kind = BRAID_BLOCK_SAMPLES;
	w->zstd = ZSTD_createCCtx();
	if (!w->zstd) {
		writer_free(w);
		return -ENOMEM;
	}
	*out = w;
	return 0;
}

static int schema_write(struct trace_writer *w)
{
	struct braid_block head = {.kind = BRAID_BLOCK_SCHEMA};
	const struct trace_schema_own *own = trace_schema_own();

	w->schema = own->schema.id;
	return own->err ?: block_write(w, &head, (const uint8_t *)own->text, own->len);
}

int trace_writer_prepare(struct trace_writer **out, const char *path)
{
	struct trace_writer *w = NULL;
	int err;

	*out = NULL;
	err = writer_new(&w);
	if (err)
		return err;
	err = trace_output_prepare(&w->out, path);
	err = err ?: schema_write(w);
	if (err)
		writer_free(w);
	else
		*out = w;
	return err;
}

int trace_writer_begin(struct trace_writer *w)
{
	int err = trace_output_begin(&w->out);

	w->err = w->err ?: err;
	w->begun = true;
	return w->err;
}

int trace_writer_open(struct trace_writer **out, const char *path)
{
	int err = trace_writer_prepare(out, path);

	err = err ?: trace_writer_begin(*out);
	if (err) {
		writer_free(*out);
		*out = NULL;
	}
	return err;
}

void trace_writer_tap(struct trace_writer *w, trace_tap_fn fn, void *ctx)
{
	w->tap = fn;
	w->tap_ctx = ctx;
}

/* ---- records ---- */

/* Hits of other events are few, and readers want them all. */
static struct buffer *buffer_of(struct trace_writer *w, const struct trace_rec *rec)
{
	if (rec->kind < TRACE_FIRST_EVENT)
		return &w->defs;
	return rec->kind == TRACE_SAMPLE && !rec->sample.event ? &w->samples : &w->events;
}

int trace_writer_put(struct trace_writer *w, const struct trace_rec *rec)
{
	bool is_event = rec->kind >= TRACE_FIRST_EVENT;
	struct buffer *b = buffer_of(w, rec);
	uint64_t time_ns;
	size_t bound;
	int err;

	if (w->err)
		return w->err;
	err = trace_rec_bound(rec, &bound);
	if (err)
		return err;
	if (w->tap)
		w->tap(w->tap_ctx, rec);
	if (bound > BRAID_BLOCK_RAW_MAX - b->raw.count)
		err = buffers_flush(w, is_event);
	if (!err && VEC_RESERVE(&b->raw, bound))
		err = w->err = -ENOMEM;
	if (err)
		return err;
	b->raw.count = (size_t)(trace_rec_encode(&b->delta, rec, b->raw.at + b->raw.count) - b->raw.at);
	if (!is_event)
		return 0;
	/* Every event has a time, which is the last one coded. */
	time_ns = b->delta.time_ns;
	if (b->time_min_ns == 0 || time_ns < b->time_min_ns)
		b->time_min_ns = time_ns;
	if (time_ns > b->time_max_ns)
		b->time_max_ns = time_ns;
	w->waiting += rec->kind == TRACE_SAMPLE;
	mark_add(w);
	return 0;
}

int trace_writer_flush(struct trace_writer *w)
{
	return buffers_flush(w, true);
}

uint64_t trace_writer_bytes(const struct trace_writer *w)
{
	return w->bytes;
}

uint64_t trace_writer_samples(const struct trace_writer *w)
{
	return w->written;
}

bool trace_writer_streams(const struct trace_writer *w)
{
	return w->out.stream;
}

bool trace_writer_on_stdout(const struct trace_writer *w)
{
	struct stat at, out;

	return fstat(w->out.fd, &at) == 0 && fstat(STDOUT_FILENO, &out) == 0 && at.st_dev == out.st_dev &&
	       at.st_ino == out.st_ino && !S_ISCHR(at.st_mode);
}

const char *trace_writer_why(int err)
{
	switch (err) {
	case -EEXIST:
		return "it is not a braid trace; choose another name with -o";
	case -ENOTEMPTY:
		return "the former trace would become FILE.old, but that file exists and is not a braid trace; move it away";
	case -EBUSY:
		return "another recording is writing to it; choose another name with -o";
	case -EUSERS:
		return "another user owns it, or can write to it; choose another name with -o";
	case -ENOLINK:
		return "it is a link without a target; remove it, or choose another name with -o";
	case -ENOTTY:
		return "a trace is not text for a terminal; redirect it, or name a file with -o";
	case -EPIPE:
		return "its reader has ended";
	case -ETIMEDOUT:
		return "its reader takes nothing any more";
	default:
		return strerror(-err);
	}
}

/* ---- the index ---- */

/*
 * Writes the positions of the blocks from *next on, as many as fit. The events buffer is empty by now and lends its
 * memory.
 */
static int index_write(struct trace_writer *w, size_t *next, size_t count)
{
	struct braid_block head = {.kind = BRAID_BLOCK_INDEX};
	size_t bytes = (count - *next) * 4 * VARINT_MAX_BYTES;
	uint8_t *p, *end;
	uint64_t offset = 0;

	bytes = bytes < BRAID_BLOCK_RAW_MAX ? bytes : BRAID_BLOCK_RAW_MAX;
	if (VEC_RESERVE(&w->events.raw, bytes))
		return -ENOMEM;
	p = w->events.raw.at;
	end = p + bytes;
	for (; *next < count && end - p >= 4 * VARINT_MAX_BYTES; (*next)++) {
		const struct place *at = &w->places.at[*next];

		p = varint_put(p, at->offset - offset);
		p = varint_put(p, at->kind);
		p = varint_put(p, at->time_min_ns);
		p = varint_put(p, at->time_max_ns - at->time_min_ns);
		offset = at->offset;
	}
	return block_write(w, &head, w->events.raw.at, (size_t)(p - w->events.raw.at));
}

int trace_writer_close(struct trace_writer *w)
{
	size_t next = 0, count;
	int err;

	if (!w)
		return 0;
	if (w->begun)
		(void)trace_writer_flush(w); /* w->err keeps a failure */
	count = w->places.count;
	while (w->begun && !w->err && next < count)
		w->err = index_write(w, &next, count);
	err = trace_output_close(&w->out);
	if (w->err)
		err = w->err;
	writer_free(w);
	return err;
}
