// SPDX-License-Identifier: Apache-2.0
#include "def_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "codec.h"

/* Names and what has them; where they are; frames; nodes. */
static unsigned group_of(uint32_t kind)
{
	switch (kind) {
	case TRACE_LINES:
	case TRACE_CODE:
		return 1;
	case TRACE_FRAME:
		return 2;
	case TRACE_NODE:
		return 3;
	default:
		return 0;
	}
}

/* The group of the record at `p`, and what is behind it. */
static const uint8_t *record_at(const uint8_t *p, const uint8_t *end, unsigned *group)
{
	uint32_t kind = 0;
	size_t len;
	const uint8_t *body = trace_rec_head(p, end, &kind, &len);

	*group = group_of(kind);
	return body ? body + len : end;
}

int def_groups_make(struct def_groups *g, const uint8_t *raw, size_t bytes)
{
	const uint8_t *end = raw + bytes, *next;
	uint32_t at[TRACE_PARTS] = {0}, sum = 0;
	unsigned group;

	g->raw.count = 0;
	if (VEC_RESERVE(&g->raw, bytes))
		return -ENOMEM;
	memset(g->ends, 0, sizeof(g->ends));
	for (const uint8_t *p = raw; p < end; p = next) {
		next = record_at(p, end, &group);
		g->ends[group] += (uint32_t)(next - p);
	}
	for (group = 0; group < TRACE_PARTS; group++) {
		at[group] = sum;
		sum = g->ends[group] += sum;
	}
	for (const uint8_t *p = raw; p < end; p = next) {
		next = record_at(p, end, &group);
		memcpy(g->raw.at + at[group], p, (size_t)(next - p));
		at[group] += (uint32_t)(next - p);
	}
	g->raw.count = bytes;
	return 0;
}

void def_groups_free(struct def_groups *g)
{
	free(g->raw.at);
	g->raw.at = NULL;
}
