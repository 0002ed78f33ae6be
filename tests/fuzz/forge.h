// SPDX-License-Identifier: Apache-2.0
/*
 * Makes trace files with right checksums: from a schema's text, a zero byte and records. An empty text selects this
 * program's own schema.
 */
#ifndef BRAID_TESTS_FUZZ_FORGE_H
#define BRAID_TESTS_FUZZ_FORGE_H

#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include <braid/trace.h>

#include "trace/codec.h"

#include "input.h"

#define FORGE_MAX (64U << 10) /* bytes of an input: a block of zstd can have twice as many, see forge_block() */

struct forged {
	uint8_t bytes[8 * FORGE_MAX];
	size_t size;
	uint64_t sequence;
};

static inline void forge_put(struct forged *f, const void *data, size_t size)
{
	must(size <= sizeof(f->bytes) - f->size, "no room for the file");
	if (size)
		memcpy(f->bytes + f->size, data, size);
	f->size += size;
}

static inline void forge_sum(uint8_t *block, size_t size)
{
	uint8_t *at = block + offsetof(struct braid_block, checksum);
	uint64_t sum;

	memset(at, 0, sizeof(sum));
	sum = XXH3_64bits(block, size);
	memcpy(at, &sum, sizeof(sum));
}

/*
 * The payload is a zstd frame with one block that is stored as it is (RFC 8878, 3.1.1): packing would take longer than
 * reading.
 */
static inline void forge_block(struct forged *f, uint16_t kind, uint16_t schema, const void *raw, size_t raw_bytes)
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
	forge_put(f, &head, sizeof(head));
	forge_put(f, &magic, sizeof(magic));
	forge_put(f, &single_segment, 1);
	forge_put(f, &content, sizeof(content));
	forge_put(f, &block, 3);
	forge_put(f, raw, raw_bytes);
	forge_sum(f->bytes + from, f->size - from);
}

static inline void forge(struct forged *f, const uint8_t *data, size_t size)
{
	static const uint16_t kinds[] = {BRAID_BLOCK_DEFS, BRAID_BLOCK_EVENTS, BRAID_BLOCK_SAMPLES};
	const char *text = (const char *)data;
	size_t text_len = strnlen(text, size), records = text_len < size ? text_len + 1 : size;
	uint16_t schema;

	if (text_len == 0) {
		text = trace_schema_own()->text;
		text_len = trace_schema_own()->len;
	}
	f->size = f->sequence = 0;
	schema = trace_schema_id(text, text_len);
	forge_block(f, BRAID_BLOCK_SCHEMA, schema, text, text_len);
	/* Any record may be in any block, and the last two are read together. */
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		forge_block(f, kinds[i], schema, data + records, size - records);
}

#endif
