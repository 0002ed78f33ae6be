// SPDX-License-Identifier: Apache-2.0
/* The records of an unpacked block, and of two that were written together. reader.c uses it. */
#ifndef BRAID_TRACE_LANE_H
#define BRAID_TRACE_LANE_H

#include "codec.h"
#include "trace.h"

struct lane {
	uint8_t *raw;	    /* of the block, BRAID_BLOCK_RAW_MAX bytes */
	const uint8_t *rec; /* the next record, in raw */
	const uint8_t *rec_end;
	struct trace_delta delta;
	struct trace_pairs pairs;
	bool waits; /* `ahead` is the next record */
	struct trace_rec ahead;
};

/* 0 or -ENOMEM. */
int lane_init(struct lane *l);
void lane_free(struct lane *l);

/* Begins with a block whose `bytes` are in l->raw. */
void lane_begin(struct lane *l, size_t bytes);
void lane_clear(struct lane *l);
bool lane_has_more(const struct lane *l);

/*
 * The next record of both, in the order in which events end, as recorders write them: 1, 0 at the end, or -ENOMEM. What
 * cannot be decoded is counted in *damage.
 */
int lanes_next(struct lane *l, struct lane *samples, const struct trace_schema *schema, struct trace_damage *damage,
	       struct trace_rec *rec);

#endif
