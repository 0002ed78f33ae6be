// SPDX-License-Identifier: Apache-2.0
/*
 * Heat map data as FlameScope has them: a column for each second since the recording's start, with a row for each 20 ms
 * of it, the last one first. An interval counts in each bin with the part of it that is there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <util/json.h>
#include <util/moment.h>
#include <util/vec.h>

#include "stack_table.h"
#include "timed.h"

#define SECOND_NS 1000000000ULL
#define ROWS 50U
#define BIN_NS (SECOND_NS / ROWS)
#define SECONDS_MAX 200000U /* more than two days, 160 MB */

struct bin {
	uint64_t weight;
	int64_t full; /* intervals that fill the bins from here on, without those that end before */
};

struct heat {
	const struct analysis *an;
	uint64_t from_ns; /* of the first column, since the start */
	VEC(struct bin) bins;
	uint64_t total;
};

/* The bin at a time since the start; what is before the first one counts there. NULL: fills *err. */
static struct bin *bin_at(struct heat *h, uint64_t since_ns, int *err)
{
	size_t i = since_ns < h->from_ns ? 0 : (size_t)((since_ns - h->from_ns) / BIN_NS), count;

	*err = 0;
	if (i < h->bins.count)
		return &h->bins.at[i];
	if (i >= (size_t)SECONDS_MAX * ROWS) {
		*err = -EFBIG;
		return NULL;
	}
	count = (i / ROWS + 1) * ROWS;
	*err = VEC_RESERVE(&h->bins, count - h->bins.count);
	if (*err)
		return NULL;
	memset(&h->bins.at[h->bins.count], 0, (count - h->bins.count) * sizeof(*h->bins.at));
	h->bins.count = count;
	return &h->bins.at[i];
}

static int add_point(struct heat *h, uint64_t since_ns, uint64_t weight)
{
	int err;
	struct bin *b = bin_at(h, since_ns, &err);

	if (b)
		b->weight = add_saturating(b->weight, weight);
	return err;
}

/* An interval that begins at `from` and ends before `to`. */
static int add_interval(struct heat *h, uint64_t from, uint64_t to)
{
	uint64_t first = from / BIN_NS, last = to / BIN_NS;
	struct bin *b;
	int err;

	if (first == last)
		return add_point(h, from, to - from);
	err = add_point(h, from, (first + 1) * BIN_NS - from) ?: add_point(h, to, to - last * BIN_NS);
	if (err || first + 1 == last)
		return err;
	b = bin_at(h, (first + 1) * BIN_NS, &err);
	if (b)
		b->full++;
	b = b ? bin_at(h, last * BIN_NS, &err) : NULL;
	if (b)
		b->full--;
	return err;
}

static int add(struct heat *h, const struct timed *t)
{
	uint64_t since = analysis_since(h->an, t->time_ns);
	uint64_t until = analysis_since(h->an, add_saturating(t->time_ns, t->weight));

	if (since < h->from_ns)
		since = h->from_ns;
	if (until < since)
		until = since;
	if (!timed_is_interval(t)) {
		h->total = add_saturating(h->total, t->weight);
		return add_point(h, since, t->weight);
	}
	/* without what was before the recording */
	h->total = add_saturating(h->total, until - since);
	return add_interval(h, since, until);
}

static int fill(struct heat *h, struct timed_source *s)
{
	uint64_t end = analysis_end_ns(h->an), bins = 0;
	int more, err = 0;
	struct timed t;

	h->from_ns = s->an->from_ns > s->an->start_ns ? analysis_since(s->an, s->an->from_ns) : 0;
	h->from_ns -= h->from_ns % SECOND_NS;
	bin_at(h, end ? end - 1 : 0, &err);
	while (!err && (more = timed_next(s, &t)) != 0)
		err = more < 0 ? more : add(h, &t);
	for (size_t i = 0; i < h->bins.count; i++) {
		bins += (uint64_t)h->bins.at[i].full;
		h->bins.at[i].weight = add_saturating(h->bins.at[i].weight, bins * BIN_NS);
	}
	return err;
}

/* ---- output ---- */

static void put_values(struct json *j, const struct heat *h)
{
	uint64_t max = 0;

	json_open(j, "values", '[');
	for (size_t second = 0; second < h->bins.count / ROWS; second++) {
		json_open(j, NULL, '[');
		for (size_t row = ROWS; row-- > 0;) {
			uint64_t weight = h->bins.at[second * ROWS + row].weight;

			json_number(j, NULL, weight);
			max = weight > max ? weight : max;
		}
		json_close(j, ']');
	}
	json_close(j, ']');
	json_number(j, "maxvalue", max);
}

static void put_axes(struct json *j, const struct heat *h)
{
	json_open(j, "rows", '[');
	for (unsigned row = ROWS; row-- > 0;)
		json_number(j, NULL, row * 1000U / ROWS);
	json_close(j, ']');
	json_open(j, "columns", '[');
	for (size_t second = 0; second < h->bins.count / ROWS; second++)
		json_number(j, NULL, h->from_ns / SECOND_NS + second);
	json_close(j, ']');
}

int heatmap_write(FILE *out, struct timed_source *s)
{
	const struct timed_options *o = s->options;
	struct heat h = {.an = s->an};
	struct json j = {.out = out};
	char start[MOMENT_TEXT];
	int err = fill(&h, s);

	if (!err) {
		json_open(&j, NULL, '{');
		if (s->an->start_realtime_ns)
			json_string(&j, "start", moment_iso(start, s->an->start_realtime_ns, 9));
		json_string(&j, "event", o->kind ? jvm_event_name(o->kind) : o->hit ?: "samples");
		json_string(&j, "unit", o->kind ? profile_unit_word(kind_of(o->kind)->unit) : "samples");
		json_number(&j, "total", h.total);
		put_axes(&j, &h);
		put_values(&j, &h);
		json_close(&j, '}');
		putc('\n', out);
	}
	free(h.bins.at);
	return err;
}
