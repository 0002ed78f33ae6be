// SPDX-License-Identifier: Apache-2.0
#include "block.h"

#include <errno.h>
#include <string.h>
#include <xxhash.h>
#include <zstd_errors.h>

#include "dictionary.h"

/* The checksum covers header and payload together, with zeros in its own place. */
static uint64_t block_sum(uint8_t *block, size_t bytes)
{
	uint8_t *at = block + offsetof(struct braid_block, checksum);
	uint64_t saved, sum;

	memcpy(&saved, at, sizeof(saved));
	memset(at, 0, sizeof(saved));
	sum = XXH3_64bits(block, bytes);
	memcpy(at, &saved, sizeof(saved));
	return sum;
}

/*
 * A few bytes can unpack to a mebibyte of records, which then take gigabytes in memory. Recordings shrink to a fifth: a
 * reader refuses a block below a sixty-fourth, and a writer pads it.
 */
static size_t stored_least(size_t raw_bytes)
{
	return raw_bytes > BRAID_BLOCK_RAW_FREE ? (raw_bytes - BRAID_BLOCK_RAW_FREE) / BRAID_BLOCK_RATIO_MAX + 1 : 1;
}

/* Pads with a frame that decoders skip (RFC 8878, 3.1.2). */
static size_t pad(uint8_t *payload, size_t stored, size_t least)
{
	const uint32_t magic = ZSTD_MAGIC_SKIPPABLE_START;
	uint32_t size;

	if (stored >= least)
		return stored;
	size = least - stored > 8 ? (uint32_t)(least - stored - 8) : 0;
	memcpy(payload + stored, &magic, sizeof(magic));
	memcpy(payload + stored + sizeof(magic), &size, sizeof(size));
	memset(payload + stored + 8, 0, size);
	return stored + 8 + size;
}

static size_t pack(ZSTD_CCtx *zstd, struct trace_dictionary *dictionary, struct braid_block *head, const void *raw,
		   size_t raw_bytes, uint8_t *to)
{
	bool events = head->kind == BRAID_BLOCK_EVENTS || head->kind == BRAID_BLOCK_SAMPLES;
	int level = events ? TRACE_EVENTS_ZSTD_LEVEL : TRACE_DEFS_ZSTD_LEVEL;
	size_t room = ZSTD_COMPRESSBOUND(raw_bytes);
	const ZSTD_CDict *by = head->kind == BRAID_BLOCK_DEFS && dictionary ? dictionary_serve(dictionary) : NULL;

	if (!by)
		return ZSTD_compressCCtx(zstd, to, room, raw, raw_bytes, level);
	head->dictionary = dictionary->block;
	return ZSTD_compress_usingCDict(zstd, to, room, raw, raw_bytes, by);
}

long trace_block_pack(ZSTD_CCtx *zstd, struct trace_dictionary *dictionary, struct braid_block *head, const void *raw,
		      size_t raw_bytes, uint8_t *out)
{
	size_t stored;

	if (raw_bytes > BRAID_BLOCK_RAW_MAX)
		return -EINVAL;
	stored = pack(zstd, dictionary, head, raw, raw_bytes, out + sizeof(*head));
	if (ZSTD_isError(stored))
		return ZSTD_getErrorCode(stored) == ZSTD_error_memory_allocation ? -ENOMEM : -EIO;
	stored = pad(out + sizeof(*head), stored, stored_least(raw_bytes));
	memcpy(head->magic, BRAID_BLOCK_MAGIC, sizeof(head->magic));
	head->version = BRAID_TRACE_VERSION;
	head->stored_bytes = (uint32_t)stored;
	head->raw_bytes = (uint32_t)raw_bytes;
	head->checksum = 0;
	memcpy(out, head, sizeof(*head));
	head->checksum = block_sum(out, sizeof(*head) + stored);
	memcpy(out + offsetof(struct braid_block, checksum), &head->checksum, sizeof(head->checksum));
	if (dictionary && dictionary_fits(head))
		dictionary_prepare(dictionary, head, raw);
	return (long)(sizeof(*head) + stored);
}

int trace_block_check_head(const struct braid_block *head)
{
	if (memcmp(head->magic, BRAID_BLOCK_MAGIC, sizeof(head->magic)) != 0 || head->stored_bytes == 0 ||
	    head->stored_bytes > TRACE_STORED_MAX || head->raw_bytes > BRAID_BLOCK_RAW_MAX ||
	    head->stored_bytes < stored_least(head->raw_bytes))
		return -EBADMSG;
	return 0;
}

int trace_block_check(uint8_t *block)
{
	struct braid_block head;

	memcpy(&head, block, sizeof(head));
	if (trace_block_check_head(&head) || block_sum(block, sizeof(head) + head.stored_bytes) != head.checksum)
		return -EBADMSG;
	return 0;
}

int trace_block_unpack(ZSTD_DCtx *zstd, const struct trace_dictionary *dictionary, const uint8_t *block, uint8_t *raw)
{
	const uint8_t *stored = block + sizeof(struct braid_block);
	struct braid_block head;
	bool is_based;
	size_t got;

	memcpy(&head, block, sizeof(head));
	is_based = head.kind == BRAID_BLOCK_DEFS && head.dictionary;
	if (is_based && (!dictionary || dictionary->block != head.dictionary))
		return -EBADMSG;
	got = is_based ? ZSTD_decompress_usingDict(zstd, raw, head.raw_bytes, stored, head.stored_bytes,
						   dictionary->raw.at, dictionary->raw.count)
		       : ZSTD_decompressDCtx(zstd, raw, head.raw_bytes, stored, head.stored_bytes);
	return ZSTD_isError(got) || got != head.raw_bytes ? -EBADMSG : 0;
}
