// SPDX-License-Identifier: Apache-2.0
#include "put.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <trace/codec.h>
#include <trace/str.h>

int put_kept(struct trace_writer *w, const struct trace_rec *rec, bool kept, struct edit_counts *c)
{
	bool is_event = rec->kind == TRACE_SAMPLE || rec->kind == TRACE_JVM_EVENT;
	uint64_t time_ns = event_time_ns(rec);
	size_t bound;
	int err = kept ? trace_writer_put(w, rec) : 0;

	if (time_ns > c->last_ns)
		c->last_ns = time_ns;
	c->events += is_event;
	/* The writer does not count on a record's being as short as it can be. */
	if (err == -EINVAL && trace_rec_bound(rec, &bound)) {
		c->lost++;
		return 0;
	}
	c->events_kept += is_event && kept;
	return err;
}

int put_loss(struct trace_writer *w, const char *kind, uint64_t count, const struct edit_counts *c)
{
	struct trace_rec rec = {
		.kind = TRACE_LOSS,
		.loss = {.time_ns = c->last_ns, .hop = str_of("file"), .kind = str_of(kind), .count = count}};

	return count ? trace_writer_put(w, &rec) : 0;
}

int put_lost(struct trace_writer *w, const struct edit_counts *c)
{
	return put_loss(w, "bad_record", c->lost, c);
}

int put_info(struct trace_writer *w, const char *key, const char *value)
{
	return trace_writer_put(w, &(struct trace_rec){.kind = TRACE_INFO, .info = {str_of(key), str_of(value)}});
}

int put_info_number(struct trace_writer *w, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return put_info(w, key, text);
}
