// SPDX-License-Identifier: Apache-2.0
/* Sites of allocation with what is live of them, in the order and with the columns of HPROF's SITES. */
#include <inttypes.h>

#include "events.h"

/* The innermost Java frame, which HPROF's stacks begin with. */
static const char *place(const struct views *v, const struct site_view *s)
{
	return events_site_name(v->an, events_site(v->an, s->stack));
}

void text_sites(FILE *out, const struct views *v, unsigned top)
{
	const struct event_views *e = v->events;
	char live[QUANTITY_TEXT], allocated[QUANTITY_TEXT];
	uint64_t sum = 0;

	if (!e->sites.count)
		return;
	fputs("\nSites: what is live of what each stack has allocated, estimated\n"
	      "       self    accum         live    objects       +-    allocated    objects  class, and where\n",
	      out);
	for (size_t i = 0; i < e->sites.count && i < top; i++) {
		const struct site_view *s = &e->sites.at[i];

		sum += s->live_bytes;
		fprintf(out, "    %6.2f%%  %6.2f%%  %11s  %9.0f", percent(s->live_bytes, e->live_bytes),
			percent(sum, e->live_bytes), size_text(live, s->live_bytes), s->live_objects);
		fprintf(out, "  %5.1f %%  %11s  %9.0f  %s, %s\n", 100 * event_error(s->live_variance, s->live_bytes),
			size_text(allocated, s->allocated_bytes), s->allocated_objects, s->class, place(v, s));
	}
	text_more(out, 4, e->sites.count, top);
}

void json_sites(struct json *j, const struct views *v, unsigned top)
{
	const struct event_views *e = v->events;

	if (!e->sites.count)
		return;
	json_open(j, "sites", '[');
	for (size_t i = 0; i < e->sites.count && i < top; i++) {
		const struct site_view *s = &e->sites.at[i];

		json_open(j, NULL, '{');
		json_string(j, "class", s->class);
		json_string(j, "site", place(v, s));
		json_number(j, "live_bytes", s->live_bytes);
		json_decimal(j, "live_objects", s->live_objects);
		json_decimal(j, "live_error", event_error(s->live_variance, s->live_bytes));
		json_number(j, "allocated_bytes", s->allocated_bytes);
		json_decimal(j, "allocated_objects", s->allocated_objects);
		json_stack(j, v, s->stack);
		json_close(j, '}');
	}
	json_close(j, ']');
}
