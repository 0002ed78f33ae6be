// SPDX-License-Identifier: Apache-2.0
#include "chain.h"

#include <errno.h>
#include <stdbool.h>
#include <zstd_errors.h>

#include "block.h"

/* Then another frame begins, as damage to one block takes the names of all these that follow it. */
#define BLOCKS_MAX 64

/*
 * A packer stays as long as its recording. With the sizes of its level, it takes 5 MiB instead of 1.5, and 1.4 % less
 * for the file.
 */
static const struct {
	ZSTD_cParameter what;
	int log;
} sizes[] = {
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
	{ZSTD_c_windowLog, 18}, {ZSTD_c_hashLog, 17}, {ZSTD_c_searchLog, 5}
#else /* a packer for each small input, whose tables take longer to clear than the input takes */
	{ZSTD_c_windowLog, 10}, {ZSTD_c_hashLog, 6}, {ZSTD_c_chainLog, 6}
#endif
};

/* False without memory. */
static bool begin(struct trace_chain *c)
{
	if (!c->packer && !(c->packer = ZSTD_createCCtx()))
		return false;
	c->blocks = 0;
	ZSTD_CCtx_reset(c->packer, ZSTD_reset_session_and_parameters);
	ZSTD_CCtx_setParameter(c->packer, ZSTD_c_compressionLevel, TRACE_DEFS_ZSTD_LEVEL);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		ZSTD_CCtx_setParameter(c->packer, sizes[i].what, sizes[i].log);
	return true;
}

size_t chain_pack(struct trace_chain *c, struct braid_block *head, const struct trace_payload *payload, void *to,
		  size_t room)
{
	ZSTD_outBuffer out = {to, room, 0};

	if (c->blocks == BLOCKS_MAX)
		chain_break(c);
	if (!c->last && !begin(c))
		return (size_t)-ZSTD_error_memory_allocation;
	head->continues = c->last;
	chain_break(c);
	return trace_parts_pack(c->packer, payload, &out, ZSTD_e_flush);
}

/* Takes what there is, as far as there is room. */
static bool take(ZSTD_DCtx *unpacker, ZSTD_inBuffer *in, ZSTD_outBuffer *out)
{
	size_t before;

	do {
		before = in->pos + out->pos;
		if (ZSTD_isError(ZSTD_decompressStream(unpacker, out, in)))
			return false;
	} while (in->pos + out->pos > before && (in->pos < in->size || out->pos < out->size));
	return in->pos == in->size;
}

int chain_unpack(struct trace_chain *c, const struct braid_block *head, const void *stored, uint8_t *raw)
{
	ZSTD_inBuffer in = {stored, head->stored_bytes, 0};
	ZSTD_outBuffer out = {raw, head->raw_bytes, 0};
	uint8_t one;
	ZSTD_outBuffer more = {&one, sizeof(one), 0};

	if (head->continues && head->continues != c->last)
		return -EBADMSG;
	if (!c->unpacker && !(c->unpacker = ZSTD_createDCtx()))
		return -ENOMEM;
	if (!head->continues) {
		ZSTD_DCtx_reset(c->unpacker, ZSTD_reset_session_only);
		ZSTD_DCtx_setParameter(c->unpacker, ZSTD_d_windowLogMax, BRAID_BLOCK_WINDOW_LOG);
	}
	chain_break(c);
	if (!take(c->unpacker, &in, &out) || out.pos < out.size || !take(c->unpacker, &in, &more) || more.pos)
		return -EBADMSG;
	chain_add(c, head);
	return 0;
}

void chain_add(struct trace_chain *c, const struct braid_block *head)
{
	c->last = head->checksum;
	c->blocks++;
}

void chain_break(struct trace_chain *c)
{
	c->last = 0;
}

void chain_free(struct trace_chain *c)
{
	ZSTD_freeCCtx(c->packer);
	ZSTD_freeDCtx(c->unpacker);
	*c = (struct trace_chain){0};
}
