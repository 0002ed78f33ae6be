// SPDX-License-Identifier: Apache-2.0
/* One block of a trace file: header and compressed payload in one piece of memory. reader.c and writer.c use it. */
#ifndef BRAID_TRACE_BLOCK_H
#define BRAID_TRACE_BLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include <braid/trace.h>

#define TRACE_STORED_MAX ZSTD_COMPRESSBOUND(BRAID_BLOCK_RAW_MAX)
#define TRACE_BLOCK_BOUND(raw_bytes) (sizeof(struct braid_block) + ZSTD_COMPRESSBOUND(raw_bytes))
#define TRACE_BLOCK_MAX TRACE_BLOCK_BOUND(BRAID_BLOCK_RAW_MAX)

/*
 * Consecutive definitions resemble each other and repay the search for matches (stacks of a real program are 7 %
 * smaller than at level 3, for half a microsecond more per sample); events do not, and there are many.
 */
#define TRACE_DEFS_ZSTD_LEVEL 6
#define TRACE_EVENTS_ZSTD_LEVEL 1

/* A recording that writes so little a second has the time for more. */
#define TRACE_EVENTS_FEW_BYTES (64U << 10)
#define TRACE_EVENTS_FEW_ZSTD_LEVEL 6

/* What is packed. Zstd's codes are made for each part by itself. */
#define TRACE_PARTS 4
struct trace_payload {
	const uint8_t *raw;
	size_t bytes;
	const uint32_t *ends; /* of TRACE_PARTS parts, which may be empty; NULL: one part */
};

/* Packs the parts, and ends the last one as `end` says. Returns to->pos, or an error of zstd. */
size_t trace_parts_pack(ZSTD_CCtx *zstd, const struct trace_payload *payload, ZSTD_outBuffer *to,
			ZSTD_EndDirective end);

struct trace_chain;
struct trace_dictionary;

/*
 * Packs into a block in `out` (TRACE_BLOCK_BOUND(bytes) bytes). Kind, schema, sequence and times come from `head`,
 * whose other fields are set. Blocks of definitions go on in a chain, unless it is NULL. Returns the block's size or a
 * negative errno.
 */
long trace_block_pack(ZSTD_CCtx *zstd, struct trace_chain *chain, struct braid_block *head,
		      const struct trace_payload *payload, uint8_t *out);

/* Checks the header without its payload: 0 or -EBADMSG. Does not check the version. */
int trace_block_check_head(const struct braid_block *head);

/* Checks a whole block's checksum; the block is unchanged afterwards. 0 or -EBADMSG. */
int trace_block_check(uint8_t *block);

/*
 * Unpacks a checked block into `raw`: exactly the header's raw_bytes, or -EBADMSG; or -ENOMEM. What later definitions
 * are packed by is kept in the dictionary and the chain, which may be NULL.
 */
int trace_block_unpack(ZSTD_DCtx *zstd, struct trace_dictionary *dictionary, struct trace_chain *chain,
		       const uint8_t *block, uint8_t *raw);

#endif
