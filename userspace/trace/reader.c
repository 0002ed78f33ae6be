// SPDX-License-Identifier: Apache-2.0
/*
 * Reads a trace block by block; trace.h is its interface. Nothing in the file is trusted: what cannot be decoded is
 * counted and skipped.
 */
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "block.h"
#include "chain.h"
#include "codec.h"
#include "dictionary.h"
#include "lane.h"
#include "source.h"
#include "spool.h"
#include "util/vec.h"

#define MAGIC_BYTES (sizeof(BRAID_BLOCK_MAGIC) - 1)

/* A file whose first block is damaged still counts as a trace when a whole block follows within this many bytes. */
#define FIRST_BLOCK_WITHIN (4UL << 20)

/* The next block is mostly near: a search begins with little, and takes twice as much each time. */
#define SEARCH_LEAST 512UL
#define SEARCH_MOST (256UL << 10)

/*
 * A block that is not used is searched for others, which may lie in it one beside the other. So many times the file's
 * size is read of such blocks; what follows goes behind them.
 */
#define IN_VAIN_MAX 16

/* What is left out by its time. */
enum bounds { BOUNDS_NONE, BOUNDS_EVENTS, BOUNDS_SAMPLES };

struct trace_reader {
	struct trace_source source;
	bool follows; /* what is not there yet may come */
	uint64_t pos; /* of the next block */
	uint64_t sequence;
	uint64_t in_vain; /* bytes of blocks that were checked, but not used */
	enum bounds bounds;
	uint64_t from_ns, to_ns;
	uint64_t left_from_ns, left_to_ns; /* of blocks that were left out */
	struct trace_damage damage;
	ZSTD_DCtx *zstd;
	struct trace_dictionary dictionary;
	struct trace_chain chain;
	VEC(uint8_t) block; /* its bytes; or those that are searched */
	struct lane lane;
	struct lane samples;		   /* that were written together with the events in `lane` */
	const struct trace_schema *schema; /* this program's own, or `other` */
	struct trace_schema *other;
};

enum block_state {
	BLOCK_GOOD,
	BLOCK_NEWER, /* of another version */
	BLOCK_BAD,
	BLOCK_CUT,     /* the file ends inside */
	BLOCK_NOWHERE, /* no block here */
	BLOCK_OUT,     /* left out */
};

/* ---- bytes ---- */

/* Sets *found to the next position of the magic, at or after `pos`; to `limit` when there is none before that. */
static int magic_search(struct trace_reader *r, uint64_t pos, uint64_t limit, uint64_t *found)
{
	for (uint64_t most = SEARCH_LEAST; pos < limit; most = most < SEARCH_MOST ? 2 * most : most) {
		uint64_t left = r->source.size - pos;
		size_t piece = (size_t)(left < most ? left : most);
		const uint8_t *hit;
		ssize_t n;

		if (VEC_RESERVE(&r->block, piece))
			return -ENOMEM;
		n = trace_source_read(&r->source, pos, r->block.at, piece);
		if (n < 0)
			return (int)n;
		hit = memmem(r->block.at, (size_t)n, BRAID_BLOCK_MAGIC, MAGIC_BYTES);
		if (hit && pos + (uint64_t)(hit - r->block.at) < limit) {
			*found = pos + (uint64_t)(hit - r->block.at);
			return 0;
		}
		if (hit || (size_t)n < most)
			break;
		pos += most - (MAGIC_BYTES - 1);
	}
	*found = limit;
	return 0;
}

static bool is_known(const struct braid_block *head)
{
	return head->version >= 1 && head->version <= BRAID_TRACE_VERSION;
}

/* Whether nothing in the block is wanted. */
static bool is_left_out(const struct trace_reader *r, const struct braid_block *head)
{
	bool outside = head->time_max_ns < r->from_ns || head->time_min_ns > r->to_ns;

	if (r->bounds == BOUNDS_NONE || !is_known(head))
		return false;
	if (head->kind == BRAID_BLOCK_SAMPLES)
		return outside;
	return r->bounds == BOUNDS_EVENTS &&
	       (head->kind == BRAID_BLOCK_DEFS || (head->kind == BRAID_BLOCK_EVENTS && outside));
}

/*
 * Reads the block at r->pos into r->block and checks it. Returns an enum block_state or a negative errno. Of a block
 * that is left out, only the header is read.
 */
static int block_read(struct trace_reader *r, struct braid_block *head)
{
	ssize_t n = trace_source_read(&r->source, r->pos, head, sizeof(*head));
	size_t magic_bytes = n < (ssize_t)MAGIC_BYTES ? (size_t)n : MAGIC_BYTES;

	if (n < 0)
		return (int)n;
	if (n == 0 || memcmp(head, BRAID_BLOCK_MAGIC, magic_bytes) != 0)
		return BLOCK_NOWHERE;
	if ((size_t)n < sizeof(*head))
		return BLOCK_CUT;
	if (trace_block_check_head(head))
		return BLOCK_BAD;
	if (r->pos + sizeof(*head) + head->stored_bytes > r->source.size)
		return BLOCK_CUT;
	if (is_left_out(r, head))
		return BLOCK_OUT;
	if (VEC_RESERVE(&r->block, sizeof(*head) + head->stored_bytes))
		return -ENOMEM;
	memcpy(r->block.at, head, sizeof(*head));
	n = trace_source_read(&r->source, r->pos + sizeof(*head), r->block.at + sizeof(*head), head->stored_bytes);
	if (n < 0)
		return (int)n;
	if ((size_t)n < head->stored_bytes)
		return BLOCK_CUT;
	if (trace_block_check(r->block.at))
		return BLOCK_BAD;
	return is_known(head) ? BLOCK_GOOD : BLOCK_NEWER;
}

/* ---- blocks ---- */

/* Whether the rest of a block at the end may still come. */
static bool may_come(const struct trace_reader *r)
{
	return r->follows && !r->source.ended;
}

/* Where the next block can begin if there is none that is used at r->pos. */
static uint64_t behind(struct trace_reader *r, enum block_state state, const struct braid_block *head)
{
	if ((state != BLOCK_BAD && state != BLOCK_NEWER) || trace_block_check_head(head))
		return r->pos + 1;
	r->in_vain += head->stored_bytes;
	return r->pos + (r->in_vain / IN_VAIN_MAX > r->source.size ? sizeof(*head) + head->stored_bytes : 1);
}

/* Goes to the next possible start of a block and counts the bytes skipped. */
static int resync(struct trace_reader *r, enum block_state state, const struct braid_block *head)
{
	uint64_t found = r->source.size;
	int err = magic_search(r, behind(r, state, head), r->source.size, &found);

	if (err)
		return err;
	/* A part of the magic may be there. */
	if (found == r->source.size && may_come(r))
		found = found - r->pos > MAGIC_BYTES ? found - (MAGIC_BYTES - 1) : r->pos + 1;
	if (state == BLOCK_CUT && found == r->source.size)
		r->damage.truncated = true;
	else if (state != BLOCK_NOWHERE)
		r->damage.bad_blocks++;
	r->damage.skipped_bytes += found - r->pos;
	r->pos = found;
	return 0;
}

/* Skips a whole block whose content is useless. */
static void block_leave_out(struct trace_reader *r, const struct braid_block *head)
{
	r->damage.bad_blocks++;
	r->damage.skipped_bytes += sizeof(*head) + head->stored_bytes;
}

static int schema_load(struct trace_reader *r, const struct braid_block *head)
{
	const struct trace_schema_own *own = trace_schema_own();
	struct trace_schema *schema;

	if (head->raw_bytes == own->len && memcmp(r->lane.raw.at, own->text, own->len) == 0 &&
	    head->schema == own->schema.id) {
		r->schema = &own->schema;
		return 0;
	}
	schema = malloc(sizeof(*schema));
	if (!schema)
		return -ENOMEM;
	if (trace_schema_parse(schema, (const char *)r->lane.raw.at, head->raw_bytes) || schema->id != head->schema) {
		block_leave_out(r, head);
		free(schema);
		return 0;
	}
	free(r->other);
	r->schema = r->other = schema;
	return 0;
}

/* Goes behind a whole block. */
static void block_pass(struct trace_reader *r, const struct braid_block *head)
{
	if (head->sequence > r->sequence)
		r->damage.missing_blocks += head->sequence - r->sequence;
	else if (head->sequence < r->sequence)
		r->damage.missing_blocks++;
	r->sequence = head->sequence + 1;
	r->pos += sizeof(*head) + head->stored_bytes;
}

static void block_note_times(struct trace_reader *r, const struct braid_block *head)
{
	if (head->kind == BRAID_BLOCK_DEFS)
		return;
	if (!r->left_from_ns || head->time_min_ns < r->left_from_ns)
		r->left_from_ns = head->time_min_ns;
	if (head->time_max_ns > r->left_to_ns)
		r->left_to_ns = head->time_max_ns;
}

/* Uses a valid block. 0 or -ENOMEM; damage inside is counted. */
static int block_use(struct trace_reader *r, const struct braid_block *head, struct lane *lane)
{
	bool is_records =
		head->kind == BRAID_BLOCK_DEFS || head->kind == BRAID_BLOCK_EVENTS || head->kind == BRAID_BLOCK_SAMPLES;
	uint8_t *raw = lane_room(lane, head->raw_bytes);
	int err;

	if (!raw)
		return -ENOMEM;
	err = trace_block_unpack(r->zstd, &r->dictionary, &r->chain, r->block.at, raw);
	if (err == -ENOMEM)
		return err;
	if (err || (is_records && head->schema != r->schema->id)) {
		block_leave_out(r, head);
		return 0;
	}
	if (head->kind == BRAID_BLOCK_SCHEMA)
		return schema_load(r, head);
	if (head->kind == BRAID_BLOCK_INDEX)
		r->damage.no_index = false;
	if (is_records)
		lane_begin(lane, head->raw_bytes);
	return 0;
}

/* Samples right behind a block of events were written together with it, and are read together with it. */
static int block_use_samples(struct trace_reader *r)
{
	struct braid_block head;
	ssize_t n = trace_source_read(&r->source, r->pos, &head, sizeof(head));

	if (n < (ssize_t)sizeof(head) || head.kind != BRAID_BLOCK_SAMPLES || block_read(r, &head) != BLOCK_GOOD)
		return n < 0 ? (int)n : 0;
	block_pass(r, &head);
	return block_use(r, &head, &r->samples);
}

/* Goes behind a block that block_read() has found in this state, and uses it if it is good. 0 or a negative errno. */
static int block_take(struct trace_reader *r, enum block_state state, const struct braid_block *head)
{
	int err;

	if (state != BLOCK_GOOD && state != BLOCK_OUT)
		return resync(r, state, head);
	block_pass(r, head);
	if (state == BLOCK_OUT) {
		block_note_times(r, head);
		return 0;
	}
	err = block_use(r, head, &r->lane);
	if (!err && head->kind == BRAID_BLOCK_EVENTS)
		err = block_use_samples(r);
	return err;
}

/* Whether there is more behind `size` now, which was known to be there: 1, 0 or a negative errno. */
static int has_grown(struct trace_reader *r, uint64_t size)
{
	int err = r->follows ? trace_source_more(&r->source, r->pos) : 0;

	return err ? err : r->source.size > size;
}

/* Loads the next block of records: 1, 0 at the end of what is there, or a negative errno. */
static int block_next(struct trace_reader *r)
{
	struct braid_block head;
	int more = 1;

	while (r->pos < r->source.size || (more = has_grown(r, r->pos)) == 1) {
		int err, state = block_read(r, &head);

		if (state < 0)
			return state;
		if (state == BLOCK_CUT && may_come(r)) {
			more = has_grown(r, r->source.size);
			if (more < 0 || (!more && may_come(r)))
				break;
			continue;
		}
		err = block_take(r, (enum block_state)state, &head);
		if (err)
			return err;
		if (lane_has_more(&r->lane) || lane_has_more(&r->samples))
			return 1;
	}
	return more < 0 ? more : 0;
}

/* ---- opening ---- */

static void reader_explain(const char **why, const char *text)
{
	if (why)
		*why = text;
}

static int reader_new(struct trace_reader **out)
{
	struct trace_reader *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->source.fd = -1;
	r->damage.no_index = true;
	r->zstd = ZSTD_createDCtx();
	r->schema = &trace_schema_own()->schema; /* reads blocks of exactly this schema if the file's is damaged */
	err = r->zstd ? trace_schema_own()->err : -ENOMEM;
	if (err)
		trace_reader_close(r);
	else
		*out = r;
	return err;
}

static int file_open(struct trace_reader *r, const char *path, const char **why)
{
	struct stat st;

	r->source.fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
					      : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (r->source.fd < 0 || fstat(r->source.fd, &st)) {
		int err = -errno;

		reader_explain(why, "the file cannot be opened");
		return err;
	}
	if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) {
		int file = trace_spool(r->source.fd);

		close(r->source.fd);
		r->source.fd = file;
		if (file < 0 || fstat(file, &st)) {
			reader_explain(why, "the stream cannot be kept in a temporary file");
			return file < 0 ? file : -errno;
		}
	}
	if (!S_ISREG(st.st_mode)) {
		reader_explain(why, "not a regular file");
		return -EMEDIUMTYPE;
	}
	if (st.st_size == 0) {
		reader_explain(why, "the file is empty");
		return -EMEDIUMTYPE;
	}
	r->source.size = (uint64_t)st.st_size;
	return 0;
}

/* Whether a file that does not begin with a whole block has one near its start. */
static int first_block_find(struct trace_reader *r, const char **why)
{
	uint64_t limit = r->source.size < FIRST_BLOCK_WITHIN ? r->source.size : FIRST_BLOCK_WITHIN;
	struct braid_block head;
	int state = BLOCK_NOWHERE;

	while (r->pos < limit && state != BLOCK_GOOD) {
		int err = magic_search(r, r->pos, limit, &r->pos);

		if (!err && r->pos < limit) {
			state = block_read(r, &head);
			err = state < 0 ? state : 0;
			r->pos = err ? limit : behind(r, (enum block_state)state, &head);
		}
		if (err) {
			reader_explain(why, "the file cannot be read");
			return err;
		}
	}
	r->pos = r->in_vain = 0;
	if (state == BLOCK_GOOD)
		return 0;
	reader_explain(why, "no trace header");
	return -EMEDIUMTYPE;
}

static int file_identify(struct trace_reader *r, const char **why)
{
	struct braid_block head;
	int state = r->source.size < MAGIC_BYTES ? BLOCK_NOWHERE : block_read(r, &head);

	if (state < 0) {
		reader_explain(why, "the file cannot be read");
		return state;
	}
	if (state == BLOCK_NEWER) {
		reader_explain(why, "a newer version of braid wrote it");
		return -EPROTONOSUPPORT;
	}
	return state == BLOCK_NOWHERE ? first_block_find(r, why) : 0;
}

int trace_reader_open(struct trace_reader **out, const char *path, const char **why)
{
	struct trace_reader *r = NULL;
	int err;

	*out = NULL;
	err = reader_new(&r);
	if (err) {
		reader_explain(why, "out of memory");
		goto out;
	}
	err = file_open(r, path, why);
	if (!err)
		err = file_identify(r, why);
	if (err)
		goto out;
	reader_explain(why, "");
	*out = r;
	r = NULL;
out:
	trace_reader_close(r);
	return err;
}

int trace_reader_again(struct trace_reader **out, const struct trace_reader *from)
{
	struct trace_reader *r = NULL;
	int err;

	*out = NULL;
	err = reader_new(&r);
	if (err)
		return err;
	r->source.size = from->source.size;
	r->source.fd = fcntl(from->source.fd, F_DUPFD_CLOEXEC, 3);
	if (r->source.fd < 0) {
		err = -errno;
		trace_reader_close(r);
		return err;
	}
	*out = r;
	return 0;
}

/* ---- traces that are being written ---- */

void trace_reader_follow(struct trace_reader *r)
{
	r->follows = r->source.changes = true;
	r->source.ahead_bytes = 0;
}

int trace_reader_follow_stream(struct trace_reader **out, int fd)
{
	struct trace_reader *r = NULL;
	int flags = fcntl(fd, F_GETFL), err;

	*out = NULL;
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		err = -errno;
	else
		err = reader_new(&r);
	if (err) {
		close(fd);
		return err;
	}
	r->source = (struct trace_source){.fd = fd, .stream = true};
	r->follows = true;
	*out = r;
	return 0;
}

bool trace_reader_grows(const struct trace_reader *r)
{
	return trace_source_grows(&r->source);
}

/* ---- records ---- */

int trace_reader_next(struct trace_reader *r, struct trace_rec *rec)
{
	for (;;) {
		int got = lanes_next(&r->lane, &r->samples, r->schema, &r->damage, rec);

		if (got)
			return got;
		got = block_next(r);
		if (got <= 0)
			return got;
	}
}

static void set_bounds(struct trace_reader *r, enum bounds bounds, uint64_t from_ns, uint64_t to_ns)
{
	r->bounds = bounds;
	r->from_ns = from_ns;
	r->to_ns = to_ns;
}

void trace_reader_between(struct trace_reader *r, uint64_t from_ns, uint64_t to_ns)
{
	set_bounds(r, BOUNDS_EVENTS, from_ns, to_ns);
}

void trace_reader_samples_between(struct trace_reader *r, uint64_t from_ns, uint64_t to_ns)
{
	set_bounds(r, BOUNDS_SAMPLES, from_ns, to_ns);
}

void trace_reader_left_out(const struct trace_reader *r, uint64_t *from_ns, uint64_t *to_ns)
{
	*from_ns = r->left_from_ns;
	*to_ns = r->left_to_ns;
}

void trace_reader_rewind(struct trace_reader *r)
{
	r->pos = r->sequence = r->in_vain = 0;
	r->bounds = BOUNDS_NONE;
	r->left_from_ns = r->left_to_ns = 0;
	lane_clear(&r->lane);
	lane_clear(&r->samples);
	r->damage = (struct trace_damage){.no_index = true};
}

const struct trace_damage *trace_reader_damage(const struct trace_reader *r)
{
	return &r->damage;
}

bool trace_is_damaged(const struct trace_damage *d)
{
	return d->bad_blocks || d->skipped_bytes || d->bad_records || d->truncated || d->missing_blocks;
}

uint64_t trace_reader_bytes(const struct trace_reader *r)
{
	return r->source.size;
}

void trace_reader_close(struct trace_reader *r)
{
	if (!r)
		return;
	trace_source_close(&r->source);
	ZSTD_freeDCtx(r->zstd);
	dictionary_free(&r->dictionary);
	chain_free(&r->chain);
	free(r->block.at);
	free(r->other);
	lane_free(&r->lane);
	lane_free(&r->samples);
	free(r);
}
