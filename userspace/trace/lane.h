// SPDX-License-Identifier: Apache-2.0
/* The records of an unpacked block, and of two that were written together. reader.c uses it. */
#ifndef BRAID_TRACE_LANE_H
#define BRAID_TRACE_LANE_H

#include "codec.h"
#include "trace.h"

#include "util/vec.h"

struct lane {
	VEC(uint8_t) raw;   /* of the block */
	const uint8_t *rec; /* the next record, in raw */
	const uint8_t *rec_end;
	struct trace_delta delta;
	struct trace_pairs pairs;
	bool waits; /* `ahead` is the next record */
	struct trace_rec ahead;
};

/* Returns where the `bytes` of a block are to be put, or NULL without memory. */
uint8_t *lane_room(struct lane *l, size_t bytes);
void lane_free(struct lane *l);

/* Begins with the block whose `bytes` are there. */
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
