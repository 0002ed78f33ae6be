// SPDX-License-Identifier: Apache-2.0
/*
 * Fuzzes the trace reader, and the JFR format, which reads a trace a second time. The first byte's bits say what the rest
 * is, and what is done with it: a file, whose blocks get right checksums if FUZZ_SUMMED is set; or, with FUZZ_FORGED, a
 * schema's text, a zero byte and records, of which the target makes a file with valid blocks. An empty text selects this
 * program's own schema.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "jfr/jfr.h"
#include "trace/block.h"
#include "trace/codec.h"
#include "trace/trace.h"

#include "input.h"

enum { FUZZ_FORGED = 1, FUZZ_SUMMED = 2, FUZZ_PRINTED = 4, FUZZ_EXPORTED = 8 };

#define SIZE_MAX_BYTES (64U << 10) /* fits a block of zstd, see put_block() */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every record that the reader accepts can be coded again and, if asked for, printed. */
static void read_all(const char *path, bool print)
{
	struct trace_reader *r;
	struct trace_rec rec;
	const char *why = NULL;
	size_t bound;
	int err = trace_reader_open(&r, path, &why);

	must(why != NULL, "no reason given");
	if (err) {
		must(r == NULL, "a reader in spite of an error");
		return;
	}
	while ((err = trace_reader_next(r, &rec)) == 1) {
		must(!print || trace_rec_print(nowhere(), &rec) == 0, "record cannot be printed");
		/* Except those with arrays: a record that is small in the file may take more than a block. */
		if (rec.kind != TRACE_LINES && rec.kind != TRACE_FRAME)
			must(trace_rec_bound(&rec, &bound) == 0, "record cannot be coded");
	}
	must(err == 0, "reading ended with an error");
	must(trace_reader_damage(r)->skipped_bytes <= trace_reader_bytes(r), "more skipped than there is");
	trace_reader_close(r);
}

static void feed_all(struct trace_reader *r, struct analyzer *a)
{
	struct trace_rec rec;

	while (trace_reader_next(r, &rec) == 1)
		must(analyzer_feed(a, &rec) == 0, "record not taken");
}

/* Definitions and events need not fit together: an export takes what it can. */
static void export_all(const char *path)
{
	static const struct timed_options all = {.own_stacks = true};
	static const struct filter everything;
	struct analysis *an = NULL;
	struct analyzer *a = NULL;
	struct timed_source s;
	struct trace_reader *r;

	if (trace_reader_open(&r, path, NULL))
		return;
	must(analyzer_new(&a) == 0, "no analyzer");
	feed_all(r, a);
	must(analysis_new(&an, a, &everything) == 0, "no analysis");
	must(timed_open(&s, r, an, &all) == 0, "no stream");
	must(jfr_write_chunks(nowhere(), &s, 1024) == 0, "not exported");
	timed_close(&s);
	analysis_free(an);
	analyzer_free(a);
	trace_reader_close(r);
}

/* ---- making files ---- */

struct file {
	uint8_t bytes[8 * SIZE_MAX_BYTES];
	size_t size;
	uint64_t sequence;
};

static void put(struct file *f, const void *data, size_t size)
{
	must(size <= sizeof(f->bytes) - f->size, "no room for the file");
	if (size)
		memcpy(f->bytes + f->size, data, size);
	f->size += size;
}

static void set_sum(uint8_t *block, size_t size)
{
	uint8_t *at = block + offsetof(struct braid_block, checksum);
	uint64_t sum;

	memset(at, 0, sizeof(sum));
	sum = XXH3_64bits(block, size);
	memcpy(at, &sum, sizeof(sum));
}

/* The payload is a zstd frame with one block that is stored as it is (RFC 8878, 3.1.1): packing would take longer than reading. */
static void put_block(struct file *f, uint16_t kind, uint16_t schema, const void *raw, size_t raw_bytes)
{
	const uint32_t magic = ZSTD_MAGICNUMBER, content = (uint32_t)raw_bytes, block = content << 3 | 1;
	const uint8_t single_segment = 0xa0; /* and a size of four bytes */
	struct braid_block head = {.version = BRAID_TRACE_VERSION,
				   .kind = kind,
				   .schema = schema,
				   .stored_bytes = 12 + content,
				   .raw_bytes = content,
				   .sequence = f->sequence++};
	size_t from = f->size;

	memcpy(head.magic, BRAID_BLOCK_MAGIC, sizeof(head.magic));
	put(f, &head, sizeof(head));
	put(f, &magic, sizeof(magic));
	put(f, &single_segment, 1);
	put(f, &content, sizeof(content));
	put(f, &block, 3);
	put(f, raw, raw_bytes);
	set_sum(f->bytes + from, f->size - from);
}

static void put_forged(struct file *f, const uint8_t *data, size_t size)
{
	static const uint16_t kinds[] = {BRAID_BLOCK_DEFS, BRAID_BLOCK_EVENTS, BRAID_BLOCK_SAMPLES};
	const char *text = (const char *)data;
	size_t text_len = strnlen(text, size), records = text_len < size ? text_len + 1 : size;
	uint16_t schema;

	if (text_len == 0) {
		text = trace_schema_own()->text;
		text_len = trace_schema_own()->len;
	}
	schema = trace_schema_id(text, text_len);
	put_block(f, BRAID_BLOCK_SCHEMA, schema, text, text_len);
	/* Any record may be in any block, and the last two are read together. */
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		put_block(f, kinds[i], schema, data + records, size - records);
}

/* A block without the number of a schema gets that of this program's own. */
static void sum_blocks(struct file *f)
{
	uint8_t *at = f->bytes, *end = f->bytes + f->size;

	while ((at = memmem(at, (size_t)(end - at), BRAID_BLOCK_MAGIC, sizeof(BRAID_BLOCK_MAGIC) - 1))) {
		struct braid_block head;

		if ((size_t)(end - at) < sizeof(head))
			return;
		memcpy(&head, at, sizeof(head));
		if (trace_block_check_head(&head) || head.stored_bytes > (size_t)(end - at) - sizeof(head)) {
			at++;
			continue;
		}
		if (!head.schema)
			memcpy(at + offsetof(struct braid_block, schema), &trace_schema_own()->schema.id,
			       sizeof(head.schema));
		set_sum(at, sizeof(head) + head.stored_bytes);
		at += sizeof(head) + head.stored_bytes;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct memory_file file;
	static struct file f;

	if (size < 2 || size > SIZE_MAX_BYTES)
		return 0;
	f.size = f.sequence = 0;
	if (data[0] & FUZZ_FORGED)
		put_forged(&f, data + 1, size - 1);
	else
		put(&f, data + 1, size - 1);
	if (data[0] & FUZZ_SUMMED)
		sum_blocks(&f);
	memory_file_set(&file, f.bytes, f.size);
	read_all(file.path, data[0] & FUZZ_PRINTED);
	if (data[0] & FUZZ_EXPORTED)
		export_all(file.path);
	return 0;
}
