// SPDX-License-Identifier: Apache-2.0
/*
 * Definitions in groups, of which each refers only to itself and to those before. Bytes of one group resemble each
 * other, so each has zstd's codes for itself. writer.c uses it.
 */
#ifndef BRAID_TRACE_DEF_GROUPS_H
#define BRAID_TRACE_DEF_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "block.h"
#include "util/vec.h"

struct def_groups {
	VEC(uint8_t) raw;
	uint32_t ends[TRACE_PARTS];
};

/* Puts the records of a block, which remain in order within each group. 0 or -ENOMEM. */
int def_groups_make(struct def_groups *g, const uint8_t *raw, size_t bytes);
void def_groups_free(struct def_groups *g);

#endif
