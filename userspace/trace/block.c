// SPDX-License-Identifier: Apache-2.0
#include "block.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <xxhash.h>
#include <zstd_errors.h>

#include "chain.h"
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

size_t trace_parts_pack(ZSTD_CCtx *zstd, const struct trace_payload *payload, ZSTD_outBuffer *to, ZSTD_EndDirective end)
{
	const uint32_t whole[] = {(uint32_t)payload->bytes}, *ends = payload->ends ? payload->ends : whole;
	unsigned count = payload->ends ? TRACE_PARTS : 1;
	ZSTD_inBuffer from = {payload->raw, 0, 0};
	size_t left = 0;

	for (unsigned i = 0; i < count && !left; i++) {
		from.size = ends[i];
		left = ZSTD_compressStream2(zstd, to, &from, i + 1 < count ? ZSTD_e_flush : end);
	}
	if (ZSTD_isError(left))
		return left;
	return left ? (size_t)-ZSTD_error_dstSize_tooSmall : to->pos;
}

static int level_of(const struct braid_block *head, size_t bytes)
{
	if (head->kind != BRAID_BLOCK_EVENTS && head->kind != BRAID_BLOCK_SAMPLES)
		return TRACE_DEFS_ZSTD_LEVEL;
	return bytes <= TRACE_EVENTS_FEW_BYTES ? TRACE_EVENTS_FEW_ZSTD_LEVEL : TRACE_EVENTS_ZSTD_LEVEL;
}

/* Packs a frame of its own, with padding. Returns the bytes stored, or an error of zstd. */
static size_t pack_alone(ZSTD_CCtx *zstd, struct braid_block *head, const struct trace_payload *payload, uint8_t *to)
{
	ZSTD_outBuffer out = {to, ZSTD_COMPRESSBOUND(payload->bytes), 0};
	size_t stored;

	if (head->kind == BRAID_BLOCK_DEFS)
		head->continues = 0;
	ZSTD_CCtx_reset(zstd, ZSTD_reset_session_and_parameters);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, level_of(head, payload->bytes));
	ZSTD_CCtx_setPledgedSrcSize(zstd, payload->bytes);
	stored = trace_parts_pack(zstd, payload, &out, ZSTD_e_end);
	return ZSTD_isError(stored) ? stored : pad(to, stored, stored_least(payload->bytes));
}

/* In a frame that goes on, there is no room for padding. */
static bool pack_chained(struct trace_chain *chain, struct braid_block *head, const struct trace_payload *payload,
			 uint8_t *to, size_t *stored)
{
	*stored = chain_pack(chain, head, payload, to, ZSTD_COMPRESSBOUND(payload->bytes));
	return !ZSTD_isError(*stored) && *stored >= stored_least(payload->bytes);
}

long trace_block_pack(ZSTD_CCtx *zstd, struct trace_chain *chain, struct braid_block *head,
		      const struct trace_payload *payload, uint8_t *out)
{
	bool chained = chain && head->kind == BRAID_BLOCK_DEFS;
	size_t stored;

	if (payload->bytes > BRAID_BLOCK_RAW_MAX)
		return -EINVAL;
	chained = chained && pack_chained(chain, head, payload, out + sizeof(*head), &stored);
	if (!chained)
		stored = pack_alone(zstd, head, payload, out + sizeof(*head));
	if (ZSTD_isError(stored))
		return ZSTD_getErrorCode(stored) == ZSTD_error_memory_allocation ? -ENOMEM : -EIO;
	memcpy(head->magic, BRAID_BLOCK_MAGIC, sizeof(head->magic));
	head->version = BRAID_TRACE_VERSION;
	head->stored_bytes = (uint32_t)stored;
	head->raw_bytes = (uint32_t)payload->bytes;
	head->checksum = 0;
	memcpy(out, head, sizeof(*head));
	head->checksum = block_sum(out, sizeof(*head) + stored);
	memcpy(out + offsetof(struct braid_block, checksum), &head->checksum, sizeof(head->checksum));
	if (chained)
		chain_add(chain, head);
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

/* Version 2: a dictionary, or none. Returns zstd's result. */
static size_t unpack_based(ZSTD_DCtx *zstd, const struct trace_dictionary *dictionary, const struct braid_block *head,
			   const uint8_t *stored, uint8_t *raw)
{
	if (!dictionary || dictionary->block != head->dictionary)
		return (size_t)-ZSTD_error_dictionary_wrong;
	return ZSTD_decompress_usingDict(zstd, raw, head->raw_bytes, stored, head->stored_bytes, dictionary->raw.at,
					 dictionary->raw.count);
}

int trace_block_unpack(ZSTD_DCtx *zstd, struct trace_dictionary *dictionary, struct trace_chain *chain,
		       const uint8_t *block, uint8_t *raw)
{
	const uint8_t *stored = block + sizeof(struct braid_block);
	struct braid_block head;
	size_t got;

	memcpy(&head, block, sizeof(head));
	if (head.kind == BRAID_BLOCK_DEFS && head.version > BRAID_TRACE_DICTIONARIES && chain)
		return chain_unpack(chain, &head, stored, raw);
	if (head.kind == BRAID_BLOCK_DEFS && head.dictionary)
		got = unpack_based(zstd, dictionary, &head, stored, raw);
	else
		got = ZSTD_decompressDCtx(zstd, raw, head.raw_bytes, stored, head.stored_bytes);
	if (ZSTD_isError(got) || got != head.raw_bytes)
		return -EBADMSG;
	return dictionary && dictionary_fits(&head) ? dictionary_keep(dictionary, &head, raw) : 0;
}
