// SPDX-License-Identifier: Apache-2.0
/* One block of a trace file: header and compressed payload, in memory in one piece. */
#ifndef BRAID_TRACE_BLOCK_H
#define BRAID_TRACE_BLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include <braid/trace.h>

#define TRACE_STORED_MAX ZSTD_COMPRESSBOUND(BRAID_BLOCK_RAW_MAX)
#define TRACE_BLOCK_MAX (sizeof(struct braid_block) + TRACE_STORED_MAX)

/*
 * Definitions are one record after another like the one before and repay the search for matches (on stacks of a real
 * program 7 % smaller than at level 3, for half a microsecond a sample more); events hardly do, and come in numbers.
 */
#define TRACE_DEFS_ZSTD_LEVEL 6
#define TRACE_EVENTS_ZSTD_LEVEL 1

/*
 * Makes a block of `raw` in `out` (TRACE_BLOCK_MAX bytes). kind, schema, sequence and times are taken from `head`,
 * whose other fields are set. Returns the block's bytes or a negative errno.
 */
long trace_block_pack(ZSTD_CCtx *zstd, struct braid_block *head, const void *raw, size_t raw_bytes, uint8_t *out);

/* Whether the header, without its payload, can be right: 0 or -EBADMSG. Says nothing about the version. */
int trace_block_check_head(const struct braid_block *head);

/* Checksum of a whole block, which is unchanged in the end: 0 or -EBADMSG. */
int trace_block_check(uint8_t *block);

/* Unpacks a checked block into `raw` (BRAID_BLOCK_RAW_MAX bytes); exactly header's raw_bytes, or -EBADMSG. */
int trace_block_unpack(ZSTD_DCtx *zstd, const uint8_t *block, uint8_t *raw);

#endif
