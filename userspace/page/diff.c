// SPDX-License-Identifier: Apache-2.0
/*
 * The page of two recordings: a graph of each, which the browser joins, and which methods differ by more than chance.
 */
#include <analyze/events.h>

#include "page.h"

struct diff_page {
	const struct diff_report *report;
	const struct views *const *views;
	const struct page_request *request;
};

static uint64_t count_events(const struct analysis *an, uint32_t kind)
{
	uint64_t count = 0;
	struct event e;

	for (size_t i = 0; i < events_count(an); i++)
		count += events_get_summed(an, i, &e) && e.kind == kind ? e.count : 0;
	return count;
}

/* Total, and how much of it one sample or event represents: by it the page judges which changes may be chance. */
static void write_side(struct json *j, const struct diff_page *d, int side, const struct profile *profile)
{
	uint32_t kind = d->report->options->kind;
	uint64_t total = profile->quality.total;
	uint64_t count = kind && kind_of(kind)->unit != UNIT_COUNT ? count_events(d->views[side]->an, kind) : total;

	json_open(j, side == DIFF_BEFORE ? "before" : "after", '{');
	page_about(j, d->views[side], d->request->titles[side]);
	json_number(j, "total", total);
	json_decimal(j, "each", count ? (double)total / (double)count : 1);
	json_close(j, '}');
}

static void write_rows(struct json *j, const struct diff *diff)
{
	json_open(j, "rows", '[');
	for (size_t i = 0; i < diff->rows.count; i++) {
		json_open(j, NULL, '{');
		json_string(j, "method", diff->rows.at[i].name);
		json_decimal(j, "chance", diff->rows.at[i].chance);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void write_compared(struct json *j, const struct diff_page *d, const struct profile profiles[DIFF_SIDES])
{
	json_open(j, "compared", '{');
	json_string(j, "what", d->report->what);
	json_bool(j, "with_callees", d->report->options->total);
	json_decimal(j, "level", DIFF_LEVEL);
	json_decimal(j, "factor", d->report->diff->factor);
	json_number(j, "differ", d->report->diff->significant);
	for (int side = 0; side < DIFF_SIDES; side++)
		write_side(j, d, side, &profiles[side]);
	write_rows(j, d->report->diff);
	json_close(j, '}');
}

static int write_graph(struct json *j, const struct diff_page *d, int side, const struct profile *profile)
{
	uint32_t kind = d->report->options->kind;
	struct page p;
	int err = page_init(&p, d->views[side]->an, d->request);

	p.j = *j;
	err = err ?: page_graph(&p, profile, NULL, d->report->what, kind ? page_unit(kind_of(kind)->unit) : "samples");
	*j = p.j;
	page_free(&p);
	return err;
}

static int write_graphs(struct json *j, const struct diff_page *d)
{
	struct profile profiles[DIFF_SIDES] = {0};
	uint32_t kind = d->report->options->kind;
	int err = 0;

	for (int side = 0; side < DIFF_SIDES && !err; side++) {
		if (kind)
			err = events_profile(d->views[side]->an, kind, &profiles[side]);
		else
			profiles[side] = d->views[side]->an->samples;
	}
	if (!err)
		write_compared(j, d, profiles);
	json_open(j, "graphs", '[');
	for (int side = 0; side < DIFF_SIDES && !err; side++)
		err = write_graph(j, d, side, &profiles[side]);
	json_close(j, ']');
	for (int side = 0; side < DIFF_SIDES && kind; side++)
		profile_free(&profiles[side]);
	return err;
}

static int diff_data(FILE *out, const void *of)
{
	const struct diff_page *d = of;
	struct json j = {.out = out};
	int err;

	json_open(&j, NULL, '{');
	page_about(&j, d->views[DIFF_AFTER], d->request->titles[DIFF_AFTER]);
	page_kinds(&j);
	if (d->request->source_link)
		json_string(&j, "source_link", d->request->source_link);
	err = write_graphs(&j, d);
	json_close(&j, '}');
	return err;
}

int diff_html(FILE *out, const struct diff_report *r, const struct views *const v[DIFF_SIDES],
	      const struct page_request *request)
{
	return page_write(out, diff_data, &(struct diff_page){r, v, request});
}
