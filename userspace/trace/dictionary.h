// SPDX-License-Identifier: Apache-2.0
/*
 * In traces of version 2, a block of definitions that stands alone serves those after it as dictionary of zstd. block.c
 * and reader.c use it.
 */
#ifndef BRAID_TRACE_DICTIONARY_H
#define BRAID_TRACE_DICTIONARY_H

#include <stdbool.h>
#include <stdint.h>

#include <braid/trace.h>

#include "util/vec.h"

struct trace_dictionary {
	uint64_t block; /* the checksum of the block that it is from; 0: there is none */
	VEC(uint8_t) raw;
};

/* Whether it is a block of definitions that stands alone, is not empty and small enough. */
bool dictionary_fits(const struct braid_block *head);

/* Keeps what a block has when unpacked, in place of the former one. 0 or -ENOMEM. */
int dictionary_keep(struct trace_dictionary *d, const struct braid_block *head, const uint8_t *raw);

void dictionary_free(struct trace_dictionary *d);

#endif
