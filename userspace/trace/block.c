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

/* Takes everything up to each part's end, and closes it. Returns zstd's result. */
static size_t pack_parts(ZSTD_CCtx *zstd, const struct trace_payload *payload, ZSTD_outBuffer *to)
{
	ZSTD_inBuffer from = {payload->raw, 0, 0};
	size_t left = 0;

	for (unsigned i = 0; i < TRACE_PARTS && payload->ends && !left; i++) {
		from.size = payload->ends[i];
		left = ZSTD_compressStream2(zstd, to, &from, ZSTD_e_flush);
	}
	from.size = payload->bytes;
	return left ? left : ZSTD_compressStream2(zstd, to, &from, ZSTD_e_end);
}

static int level_of(const struct braid_block *head, size_t bytes)
{
	if (head->kind != BRAID_BLOCK_EVENTS && head->kind != BRAID_BLOCK_SAMPLES)
		return TRACE_DEFS_ZSTD_LEVEL;
	return bytes <= TRACE_EVENTS_FEW_BYTES ? TRACE_EVENTS_FEW_ZSTD_LEVEL : TRACE_EVENTS_ZSTD_LEVEL;
}

/* Returns the bytes stored, or an error of zstd. */
static size_t pack(ZSTD_CCtx *zstd, struct trace_dictionary *dictionary, struct braid_block *head,
		   const struct trace_payload *payload, uint8_t *to)
{
	const ZSTD_CDict *by = head->kind == BRAID_BLOCK_DEFS && dictionary ? dictionary_serve(dictionary) : NULL;
	ZSTD_outBuffer out = {to, ZSTD_COMPRESSBOUND(payload->bytes), 0};
	size_t left;

	ZSTD_CCtx_reset(zstd, ZSTD_reset_session_and_parameters);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, level_of(head, payload->bytes));
	ZSTD_CCtx_setPledgedSrcSize(zstd, payload->bytes);
	if (by) {
		ZSTD_CCtx_refCDict(zstd, by);
		head->dictionary = dictionary->block;
	}
	left = pack_parts(zstd, payload, &out);
	if (ZSTD_isError(left))
		return left;
	return left ? (size_t)-ZSTD_error_dstSize_tooSmall : out.pos;
}

long trace_block_pack(ZSTD_CCtx *zstd, struct trace_dictionary *dictionary, struct braid_block *head,
		      const struct trace_payload *payload, uint8_t *out)
{
	size_t stored;

	if (payload->bytes > BRAID_BLOCK_RAW_MAX)
		return -EINVAL;
	stored = pack(zstd, dictionary, head, payload, out + sizeof(*head));
	if (ZSTD_isError(stored))
		return ZSTD_getErrorCode(stored) == ZSTD_error_memory_allocation ? -ENOMEM : -EIO;
	stored = pad(out + sizeof(*head), stored, stored_least(payload->bytes));
	memcpy(head->magic, BRAID_BLOCK_MAGIC, sizeof(head->magic));
	head->version = BRAID_TRACE_VERSION;
	head->stored_bytes = (uint32_t)stored;
	head->raw_bytes = (uint32_t)payload->bytes;
	head->checksum = 0;
	memcpy(out, head, sizeof(*head));
	head->checksum = block_sum(out, sizeof(*head) + stored);
	memcpy(out + offsetof(struct braid_block, checksum), &head->checksum, sizeof(head->checksum));
	if (dictionary && dictionary_fits(head))
		dictionary_prepare(dictionary, head, payload->raw);
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
