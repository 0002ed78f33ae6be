// SPDX-License-Identifier: Apache-2.0
/*
 * Definitions resemble earlier ones, and a block of them is small, as one is written every second. So each block goes
 * on with the zstd frame of the block of definitions before it. reader.c and writer.c use it, by block.c.
 */
#ifndef BRAID_TRACE_CHAIN_H
#define BRAID_TRACE_CHAIN_H

#include <stdint.h>
#include <zstd.h>

#include <braid/trace.h>

struct trace_payload;

/* One end of a chain; zeroed, it has no block. */
struct trace_chain {
	uint64_t last; /* checksum of the block that the next one continues; 0: the next one begins a frame */
	unsigned blocks;
	ZSTD_CCtx *packer;   /* of a writer */
	ZSTD_DCtx *unpacker; /* of a reader */
};

/*
 * Packs the next block and says in `head` what it continues. chain_add() follows when the block has its checksum.
 * Returns the bytes stored, or an error of zstd, after which there is no block.
 */
size_t chain_pack(struct trace_chain *c, struct braid_block *head, const struct trace_payload *payload, void *to,
		  size_t room);

/*
 * Unpacks it if it continues the last one, or begins a frame: exactly the header's raw_bytes, or -EBADMSG; or -ENOMEM.
 */
int chain_unpack(struct trace_chain *c, const struct braid_block *head, const void *stored, uint8_t *raw);

void chain_add(struct trace_chain *c, const struct braid_block *head);

/* The next block begins a frame. */
void chain_break(struct trace_chain *c);
void chain_free(struct trace_chain *c);

#endif
