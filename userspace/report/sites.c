// SPDX-License-Identifier: Apache-2.0
/*
 * Sites of allocation with what is live of them, in the order and with the columns of HPROF's SITES, and how old got
 * what is gone.
 */
#include <inttypes.h>

#include "events.h"

/* The innermost Java frame, which HPROF's stacks begin with. */
static const char *place(const struct views *v, const struct site_view *s)
{
	return events_site_name(v->an, events_site(v->an, s->stack));
}

static void text_died(FILE *out, const struct views *v, unsigned top)
{
	const struct event_views *e = v->events;
	char size[QUANTITY_TEXT], age[QUANTITY_TEXT];

	if (!e->died.count)
		return;
	fputs("\nHow long objects lived that collections have freed, by sites, estimated\n"
	      "      share         died    objects survived        50%        90%        max  class, and where\n",
	      out);
	for (size_t i = 0; i < e->died.count && i < top; i++) {
		const struct site_view *s = e->died.at[i];

		fprintf(out, "    %6.2f%%  %11s  %9.0f  %6.2f%%", percent(s->died_bytes, e->died_bytes),
			size_text(size, s->died_bytes), s->died_objects, 100 * s->died_survived / s->died_objects);
		fprintf(out, " %10s", duration_cell(age, 10, s->age_p50_ns));
		fprintf(out, " %10s", duration_cell(age, 10, s->age_p90_ns));
		fprintf(out, " %10s  %s, %s\n", duration_cell(age, 10, s->age_max_ns), s->class, place(v, s));
	}
	text_more(out, 4, e->died.count, top);
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
	text_died(out, v, top);
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
		json_number(j, "died_bytes", s->died_bytes);
		json_decimal(j, "died_objects", s->died_objects);
		json_decimal(j, "died_survived", s->died_survived);
		json_seconds_if(j, s->died_objects > 0, "age_p50_s", s->age_p50_ns);
		json_seconds_if(j, s->died_objects > 0, "age_p90_s", s->age_p90_ns);
		json_seconds_if(j, s->died_objects > 0, "age_max_s", s->age_max_ns);
		json_stack(j, v, s->stack);
		json_close(j, '}');
	}
	json_close(j, ']');
}
