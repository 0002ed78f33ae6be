// SPDX-License-Identifier: Apache-2.0
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "block.h"
#include "codec.h"
#include "util/varint.h"

/* One kind of block being filled. */
struct buffer {
	uint16_t kind;
	uint8_t *raw;
	size_t len;
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

struct trace_writer {
	int fd;
	int err; /* the first one; nothing is written any more */
	uint16_t schema;
	uint64_t sequence;
	uint64_t bytes;
	struct buffer defs;
	struct buffer events;
	ZSTD_CCtx *zstd;
	uint8_t *block;
	struct place *places;
	size_t place_count;
	size_t place_capacity;
	trace_tap_fn tap;
	void *tap_ctx;
};

/* ---- blocks to the file ---- */

static int write_all(int fd, const uint8_t *p, size_t len)
{
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static int place_add(struct trace_writer *w, const struct braid_block *head)
{
	if (w->place_count == w->place_capacity) {
		size_t capacity = w->place_capacity ? w->place_capacity * 2 : 256;
		struct place *grown = reallocarray(w->places, capacity, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		w->places = grown;
		w->place_capacity = capacity;
	}
	w->places[w->place_count++] = (struct place){
		.offset = w->bytes,
		.time_min_ns = head->time_min_ns,
		.time_max_ns = head->time_max_ns,
		.kind = head->kind,
	};
	return 0;
}

static int block_write(struct trace_writer *w, struct braid_block *head, const void *raw, size_t raw_bytes)
{
	long packed;
	int err;

	head->schema = w->schema;
	head->sequence = w->sequence;
	packed = trace_block_pack(w->zstd, head, raw, raw_bytes, w->block);
	if (packed < 0)
		return (int)packed;
	err = place_add(w, head);
	if (err)
		return err;
	err = write_all(w->fd, w->block, (size_t)packed);
	if (err) {
		/* When this fails too, the rest stays: a reader sees a file that ends inside a block. */
		int cut = ftruncate(w->fd, (off_t)w->bytes);

		(void)cut;
		w->place_count--;
		return err;
	}
	w->sequence++;
	w->bytes += (uint64_t)packed;
	return 0;
}

static void buffer_reset(struct buffer *b)
{
	b->len = 0;
	b->time_min_ns = 0;
	b->time_max_ns = 0;
	memset(&b->delta, 0, sizeof(b->delta));
}

static int buffer_flush(struct trace_writer *w, struct buffer *b)
{
	struct braid_block head = {
		.kind = b->kind,
		.time_min_ns = b->time_min_ns,
		.time_max_ns = b->time_max_ns,
	};

	if (b->len == 0 || w->err)
		return w->err;
	w->err = block_write(w, &head, b->raw, b->len);
	buffer_reset(b);
	return w->err;
}

/* ---- opening ---- */

static int buffer_init(struct buffer *b, uint16_t kind)
{
	b->kind = kind;
	b->raw = malloc(BRAID_BLOCK_RAW_MAX);
	return b->raw ? 0 : -ENOMEM;
}

static void writer_free(struct trace_writer *w)
{
	if (!w)
		return;
	ZSTD_freeCCtx(w->zstd);
	free(w->defs.raw);
	free(w->events.raw);
	free(w->block);
	free(w->places);
	free(w);
}

static int writer_new(struct trace_writer **out)
{
	struct trace_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->fd = -1;
	w->zstd = ZSTD_createCCtx();
	w->block = malloc(TRACE_BLOCK_MAX);
	if (!w->zstd || !w->block || buffer_init(&w->defs, BRAID_BLOCK_DEFS) ||
	    buffer_init(&w->events, BRAID_BLOCK_EVENTS)) {
		writer_free(w);
		return -ENOMEM;
	}
	*out = w;
	return 0;
}

/* 0 when nothing is lost by writing over the file: it is empty, or an older trace. */
static int file_check(int fd)
{
	char magic[sizeof(BRAID_BLOCK_MAGIC) - 1];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EEXIST;
	if (st.st_size == 0)
		return 0;
	n = pread(fd, magic, sizeof(magic), 0);
	if (n < 0)
		return -errno;
	return n == sizeof(magic) && memcmp(magic, BRAID_BLOCK_MAGIC, sizeof(magic)) == 0 ? 0 : -EEXIST;
}

/* A trace names the functions, files and threads of production programs: only its owner may read it. */
static int file_open(const char *path, int *out)
{
	int fd, err;

	if (strcmp(path, "-") == 0)
		return -EINVAL;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
	if (fd < 0)
		return -errno;
	err = file_check(fd);
	/* Two recordings into one file would leave neither. */
	if (!err && flock(fd, LOCK_EX | LOCK_NB))
		err = errno == EWOULDBLOCK ? -EBUSY : -errno;
	if (!err && ftruncate(fd, 0))
		err = -errno;
	if (err)
		close(fd);
	else
		*out = fd;
	return err;
}

static int schema_write(struct trace_writer *w)
{
	struct braid_block head = {.kind = BRAID_BLOCK_SCHEMA};
	char text[TRACE_SCHEMA_MAX];
	int len = trace_schema_text(text, sizeof(text));

	if (len < 0)
		return len;
	w->schema = trace_schema_id(text, (size_t)len);
	return block_write(w, &head, text, (size_t)len);
}

int trace_writer_open(struct trace_writer **out, const char *path)
{
	struct trace_writer *w = NULL;
	int err;

	*out = NULL;
	err = writer_new(&w);
	if (err)
		goto out;
	err = file_open(path, &w->fd);
	if (err)
		goto out;
	err = schema_write(w);
	if (err) {
		close(w->fd);
		goto out;
	}
	*out = w;
	w = NULL;
out:
	writer_free(w);
	return err;
}

void trace_writer_tap(struct trace_writer *w, trace_tap_fn fn, void *ctx)
{
	w->tap = fn;
	w->tap_ctx = ctx;
}

/* ---- records ---- */

int trace_writer_put(struct trace_writer *w, const struct trace_rec *rec)
{
	bool is_event = rec->kind >= TRACE_FIRST_EVENT;
	struct buffer *b = is_event ? &w->events : &w->defs;
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
	if (bound > BRAID_BLOCK_RAW_MAX - b->len) {
		err = buffer_flush(w, &w->defs);
		if (!err && is_event)
			err = buffer_flush(w, b);
		if (err)
			return err;
	}
	b->len = (size_t)(trace_rec_encode(&b->delta, rec, b->raw + b->len) - b->raw);
	if (!is_event)
		return 0;
	/* Every event has its time, and it is the last time coded. */
	time_ns = b->delta.time_ns;
	if (b->time_min_ns == 0 || time_ns < b->time_min_ns)
		b->time_min_ns = time_ns;
	if (time_ns > b->time_max_ns)
		b->time_max_ns = time_ns;
	return 0;
}

int trace_writer_flush(struct trace_writer *w)
{
	int err = buffer_flush(w, &w->defs);

	return err ? err : buffer_flush(w, &w->events);
}

uint64_t trace_writer_bytes(const struct trace_writer *w)
{
	return w->bytes;
}

/* ---- the index ---- */

/* The places of the blocks from *next on, as many as fit; the events buffer, which is empty by now, lends its room. */
static int index_write(struct trace_writer *w, size_t *next, size_t count)
{
	struct braid_block head = {.kind = BRAID_BLOCK_INDEX};
	uint8_t *p = w->events.raw, *end = p + BRAID_BLOCK_RAW_MAX;
	uint64_t offset = 0;

	for (; *next < count && end - p >= 4 * VARINT_MAX_BYTES; (*next)++) {
		const struct place *at = &w->places[*next];

		p = varint_put(p, at->offset - offset);
		p = varint_put(p, at->kind);
		p = varint_put(p, at->time_min_ns);
		p = varint_put(p, at->time_max_ns - at->time_min_ns);
		offset = at->offset;
	}
	return block_write(w, &head, w->events.raw, (size_t)(p - w->events.raw));
}

int trace_writer_close(struct trace_writer *w)
{
	size_t next = 0, count;
	int err;

	if (!w)
		return 0;
	(void)trace_writer_flush(w); /* a failure stays in w->err */
	count = w->place_count;
	while (!w->err && next < count)
		w->err = index_write(w, &next, count);
	err = w->err;
	if (close(w->fd) && !err)
		err = -errno;
	writer_free(w);
	return err;
}
