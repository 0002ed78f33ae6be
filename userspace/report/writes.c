// SPDX-License-Identifier: Apache-2.0
/* Writes to fields in the text report and the JSON report. */
#include <inttypes.h>

#include "events.h"

void text_writes(FILE *out, const struct views *v, unsigned top)
{
	const struct event_views *e = v->events;

	if (!e->writes.count)
		return;
	fputs("\nField writes\n        writes      events  field, and the methods that write it\n", out);
	for (size_t i = 0; i < e->writes.count && i < top; i++) {
		const struct write_view *w = &e->writes.at[i];

		if (!i || w->field_id != w[-1].field_id)
			fprintf(out, "    %10" PRIu64 "              %s\n", w->field_writes, w->field);
		fprintf(out, "    %10" PRIu64 "  %10" PRIu64 "    %s\n", w->writes, w->events, w->writer);
	}
	text_more(out, 4, e->writes.count, top);
}

void json_writes(struct json *j, const struct views *v, unsigned top)
{
	const struct event_views *e = v->events;

	json_open(j, "field_writes", '[');
	for (size_t i = 0; i < e->writes.count && i < top; i++) {
		const struct write_view *w = &e->writes.at[i];

		json_open(j, NULL, '{');
		json_string(j, "field", w->field);
		json_string(j, "writer", w->writer);
		json_number(j, "writes", w->writes);
		json_number(j, "events", w->events);
		json_close(j, '}');
	}
	json_close(j, ']');
}
