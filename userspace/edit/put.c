// SPDX-License-Identifier: Apache-2.0
#include "put.h"

#include <inttypes.h>
#include <stdio.h>

#include <trace/str.h>

int put_kept(struct trace_writer *w, const struct trace_rec *rec, bool kept, struct edit_counts *c)
{
	bool is_event = rec->kind >= TRACE_FIRST_EVENT;

	c->events += is_event;
	c->events_kept += is_event && kept;
	return kept ? trace_writer_put(w, rec) : 0;
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
