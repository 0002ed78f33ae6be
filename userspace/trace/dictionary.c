// SPDX-License-Identifier: Apache-2.0
#include "dictionary.h"

#include <string.h>

#include "block.h"

/* Packing with a smaller one saves little. */
#define LEAST (16U << 10)

/* Then another block stands alone, as damage to one takes the names of all these, and programs change what they do. */
#define SERVED_MAX 256

bool dictionary_fits(const struct braid_block *head)
{
	return head->kind == BRAID_BLOCK_DEFS && !head->dictionary && head->raw_bytes &&
	       head->raw_bytes <= BRAID_BLOCK_DICTIONARY_MAX;
}

int dictionary_keep(struct trace_dictionary *d, const struct braid_block *head, const uint8_t *raw)
{
	dictionary_forget(d);
	if (VEC_RESERVE(&d->raw, head->raw_bytes))
		return -ENOMEM;
	memcpy(d->raw.at, raw, head->raw_bytes);
	d->raw.count = head->raw_bytes;
	d->block = head->checksum;
	return 0;
}

void dictionary_prepare(struct trace_dictionary *d, const struct braid_block *head, const void *raw)
{
	dictionary_forget(d);
	if (head->raw_bytes < LEAST)
		return;
	d->packer = ZSTD_createCDict(raw, head->raw_bytes, TRACE_DEFS_ZSTD_LEVEL);
	d->block = d->packer ? head->checksum : 0;
}

const ZSTD_CDict *dictionary_serve(struct trace_dictionary *d)
{
	if (d->block && d->served++ == SERVED_MAX)
		dictionary_forget(d);
	return d->packer;
}

void dictionary_forget(struct trace_dictionary *d)
{
	ZSTD_freeCDict(d->packer);
	d->packer = NULL;
	d->block = d->served = 0;
	d->raw.count = 0;
}

void dictionary_free(struct trace_dictionary *d)
{
	dictionary_forget(d);
	free(d->raw.at);
}
