// SPDX-License-Identifier: Apache-2.0
/*
 * Definitions resemble earlier ones, and a block of them is small, as one is written every second. So one that stands
 * alone serves those after it as dictionary of zstd. reader.c and writer.c use it.
 */
#ifndef BRAID_TRACE_DICTIONARY_H
#define BRAID_TRACE_DICTIONARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include <braid/trace.h>

#include "util/vec.h"

struct trace_dictionary {
	uint64_t block; /* the checksum of the block that it is from; 0: there is none */
	VEC(uint8_t) raw;
	ZSTD_CDict *packer; /* of a writer */
	unsigned served;
};

/* Whether it is a block of definitions that stands alone, is not empty and small enough. */
bool dictionary_fits(const struct braid_block *head);

/* Keeps what a block has when unpacked, in place of the former one. 0 or -ENOMEM. */
int dictionary_keep(struct trace_dictionary *d, const struct braid_block *head, const uint8_t *raw);

/* The same, for packing. There is none if it is not worth while, or without memory. */
void dictionary_prepare(struct trace_dictionary *d, const struct braid_block *head, const void *raw);

/* What the next block of definitions is packed with; NULL: nothing, it stands alone. */
const ZSTD_CDict *dictionary_serve(struct trace_dictionary *d);

/* From now on there is none. */
void dictionary_forget(struct trace_dictionary *d);
void dictionary_free(struct trace_dictionary *d);

#endif
