// SPDX-License-Identifier: Apache-2.0
#include "lane.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

uint8_t *lane_room(struct lane *l, size_t bytes)
{
	return VEC_RESERVE(&l->raw, bytes ? bytes : 1) ? NULL : l->raw.at;
}

void lane_free(struct lane *l)
{
	free(l->raw.at);
	free(l->pairs.pairs);
}

void lane_begin(struct lane *l, size_t bytes)
{
	trace_delta_reset(&l->delta);
	l->rec = l->raw.at;
	l->rec_end = l->raw.at + bytes;
}

void lane_clear(struct lane *l)
{
	l->rec = l->rec_end = NULL;
	l->waits = false;
}

bool lane_has_more(const struct lane *l)
{
	return l->waits || l->rec < l->rec_end;
}

/* The next record: 1, 0 at the end, or -ENOMEM. */
static int lane_next(struct lane *l, const struct trace_schema *schema, struct trace_damage *damage,
		     struct trace_rec *rec)
{
	if (l->waits) {
		*rec = l->ahead;
		l->waits = false;
		return 1;
	}
	while (l->rec < l->rec_end) {
		uint32_t kind;
		size_t len;
		const uint8_t *body = trace_rec_head(l->rec, l->rec_end, &kind, &len);
		bool newer = false;
		int got;

		if (!body) {
			damage->bad_records++;
			break;
		}
		l->rec = body + len;
		got = trace_rec_decode(schema, &l->delta, kind, body, l->rec, rec, &l->pairs, &newer);
		if (got == -EBADMSG) {
			damage->bad_records++;
			continue;
		}
		if (got < 0)
			return got;
		if (got == 0 || newer)
			damage->unknown_records++;
		if (got == 1)
			return 1;
	}
	lane_clear(l);
	return 0;
}

/* When the event ended that the lane has decoded last, which is *rec. */
static uint64_t lane_time(const struct lane *l, const struct trace_rec *rec)
{
	return l->delta.time_ns + (rec->kind == TRACE_JVM_EVENT ? rec->jvm_event.duration_ns : 0);
}

int lanes_next(struct lane *l, struct lane *samples, const struct trace_schema *schema, struct trace_damage *damage,
	       struct trace_rec *rec)
{
	int got;

	if (!lane_has_more(samples))
		return lane_next(l, schema, damage, rec);
	if (!l->waits) {
		got = lane_next(l, schema, damage, &l->ahead);
		if (got <= 0)
			return got ? got : lane_next(samples, schema, damage, rec);
		l->waits = true;
	}
	got = lane_next(samples, schema, damage, rec);
	if (got <= 0)
		return got ? got : lane_next(l, schema, damage, rec);
	if (lane_time(samples, rec) <= lane_time(l, &l->ahead))
		return 1;
	samples->ahead = *rec;
	samples->waits = true;
	return lane_next(l, schema, damage, rec);
}
