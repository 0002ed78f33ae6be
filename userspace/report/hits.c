// SPDX-License-Identifier: Apache-2.0
/* Hit events in the reports: how often each was sampled, and where. report.c and summary.c call it. */
#include <inttypes.h>

#include "events.h"

#define SITES 5U /* of each event in the text, at most */

static uint64_t whole_of(const struct hit_view *h)
{
	return h->profile->quality.by_cause[CAUSE_COMPLETE];
}

static void text_site(FILE *out, const struct hit_view *h, const struct hit_site *s)
{
	fprintf(out, "    %6.2f%% %10" PRIu64 "  %s", percent(s->samples, h->profile->quality.total), s->samples,
		s->name);
	if (s->line)
		fprintf(out, ":%u", s->line);
	putc('\n', out);
}

static void text_value(FILE *out, const struct hit_view *h, const struct hit_value *value)
{
	fprintf(out, "    %6.2f%% %10" PRIu64 "  %s\n", percent(value->samples, h->profile->quality.total),
		value->samples, value->text);
}

void text_hits(FILE *out, const struct views *v, unsigned top)
{
	const struct hit_views *hits = &v->hits;
	unsigned sites = top < SITES ? top : SITES;

	if (!hits->events.count)
		return;
	fprintf(out, "\nEvents\n  %10s  %10s  %7s  %s\n", "samples", "hits", "whole", "event, and where");
	for (size_t i = 0; i < hits->events.count; i++) {
		const struct hit_view *h = &hits->events.at[i];
		uint64_t samples = h->profile->quality.total;

		fprintf(out, "  %10" PRIu64 "  ", samples);
		if (h->hits || !samples)
			fprintf(out, "%10" PRIu64, h->hits);
		else
			fprintf(out, "%10s", "-");
		if (samples)
			fprintf(out, "  %6.2f%%  %s\n", percent(whole_of(h), samples), h->name);
		else
			fprintf(out, "  %7s  %s\n", "-", h->name);
		for (size_t s = 0; s < h->sites.count && s < sites; s++)
			text_site(out, h, &h->sites.at[s]);
		text_more(out, 4, h->sites.count, sites);
		if (h->values.count)
			fputs("    with the values\n", out);
		for (size_t n = 0; n < h->values.count && n < sites; n++)
			text_value(out, h, &h->values.at[n]);
		text_more(out, 4, h->values.count, sites);
	}
}

void json_hits(struct json *j, const struct views *v, unsigned top)
{
	json_open(j, "hit_events", '[');
	for (size_t i = 0; i < v->hits.events.count; i++) {
		const struct hit_view *h = &v->hits.events.at[i];

		json_open(j, NULL, '{');
		json_string(j, "event", h->name);
		json_number(j, "samples", h->profile->quality.total);
		json_number(j, "complete", whole_of(h));
		json_number(j, "hits", h->hits);
		json_open(j, "sites", '[');
		for (size_t s = 0; s < h->sites.count && s < top; s++) {
			json_open(j, NULL, '{');
			json_string(j, "name", h->sites.at[s].name);
			json_number(j, "line", h->sites.at[s].line);
			json_number(j, "samples", h->sites.at[s].samples);
			json_close(j, '}');
		}
		json_close(j, ']');
		json_open(j, "values", '[');
		for (size_t n = 0; n < h->values.count && n < top; n++) {
			json_open(j, NULL, '{');
			json_string(j, "text", h->values.at[n].text);
			json_number(j, "samples", h->values.at[n].samples);
			json_close(j, '}');
		}
		json_close(j, ']');
		json_close(j, '}');
	}
	json_close(j, ']');
}
