// SPDX-License-Identifier: Apache-2.0
#include "spans.h"

#include "attributes.h"
#include "definitions.h"
#include "vthreads.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <util/search.h>

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 29;
}

static bool is_same(const struct span_row *a, const struct span_row *b)
{
	return a && a->process == b->process && a->trace_hi == b->trace_hi && a->trace_lo == b->trace_lo &&
	       a->span_id == b->span_id;
}

int spans_feed(struct analyzer *a, const struct trace_span *r)
{
	struct span_row row = {.process = r->process,
			       .trace_hi = r->trace_hi,
			       .trace_lo = r->trace_lo,
			       .span_id = r->span_id,
			       .same = r->span};
	uint32_t *at = u64map_put(&a->span_of, mix(mix(mix(mix(1, r->process), r->trace_hi), r->trace_lo), r->span_id));
	struct span_row *to;
	int err;

	if (!at)
		return -ENOMEM;
	if (*at && is_same(table_get(&a->spans, *at), &row))
		row.same = *at;
	else
		*at = r->span;
	to = analyzer_define(a, &a->spans, r->span, &err);
	if (!to)
		return err;
	*to = row;
	return 0;
}

/* ---- names ---- */

static const struct attribute_row *find_attribute(const struct analyzer *a, const struct span_row *s, const char *key,
						  size_t length)
{
	const struct span_row *first = table_get(&a->spans, s->same);
	const struct attribute_row *row = first ? attributes_first(a, first->attributes) : NULL;

	for (; row; row = attributes_next(a, row)) {
		const char *its = strpool_get(&a->strings, row->key);

		if (strlen(its) == length && memcmp(its, key, length) == 0)
			break;
	}
	return row;
}

uint32_t spans_attribute(const struct analyzer *a, const struct span_row *s, const char *key)
{
	const struct attribute_row *row = find_attribute(a, s, key, strlen(key));

	return row ? row->value : 0;
}

#define HTTP_METHOD "http.request.method"

const char *const spans_names[SPANS_NAMES] = {
	"name",	     "method",	   "function",		"http.route",
	HTTP_METHOD, "rpc.method", "db.operation.name", "messaging.destination.name"};

/* What a span is called by them, as OpenTelemetry names spans: "GET /cart"; cut if `to` is too short. "": nothing. */
static void name_of(const struct analyzer *a, const struct span_row *s, char *to, size_t size)
{
	uint32_t value = 0, http = spans_attribute(a, s, HTTP_METHOD);
	size_t i;

	for (i = 0; i < SPANS_NAMES && !value; i++)
		value = spans_attribute(a, s, spans_names[i]);
	if (http && value && strcmp(spans_names[i - 1], "http.route") == 0)
		snprintf(to, size, "%s %s", strpool_get(&a->strings, http), strpool_get(&a->strings, value));
	else
		snprintf(to, size, "%s", strpool_get(&a->strings, value));
}

/* ---- durations ---- */

static void see(struct analyzer *a, uint32_t span, uint64_t from_ns, uint64_t to_ns)
{
	uint32_t row = span ? table_row_of(&a->spans, spans_same(a, span)) : ROW_NONE;
	struct span_time *t = row == ROW_NONE ? NULL : &a->span_times.at[row];

	if (!t)
		return;
	t->first_ns = from_ns < t->first_ns ? from_ns : t->first_ns;
	t->last_ns = to_ns > t->last_ns ? to_ns : t->last_ns;
}

/* When a span that was made began and ended is known, whatever was seen in it. */
static void place_made(struct analyzer *a, const struct span_stretch *s)
{
	uint32_t row = table_row_of(&a->spans, s->span);

	if (row != ROW_NONE)
		a->span_times.at[row] = (struct span_time){s->from_ns, s->to_ns};
}

int spans_measure(struct analyzer *a)
{
	a->span_times.count = 0;
	for (size_t i = 0; i < a->spans.count; i++)
		if (VEC_PUSH(&a->span_times, ((struct span_time){UINT64_MAX, 0})))
			return -ENOMEM;
	for (size_t i = 0; i < a->samples.count; i++)
		see(a, a->samples.at[i].span, a->samples.at[i].time_ns, a->samples.at[i].time_ns);
	for (size_t i = 0; i < a->hits.count; i++)
		for (size_t k = 0; k < a->hits.at[i].samples.count; k++) {
			const struct sample *s = &a->hits.at[i].samples.at[k];

			see(a, s->span, s->time_ns, s->time_ns);
		}
	for (size_t i = 0; i < a->events.count; i++)
		see(a, a->events.at[i].span, a->events.at[i].time_ns,
		    add_saturating(a->events.at[i].time_ns, a->events.at[i].duration_ns));
	for (size_t i = 0; i < a->made.count; i++)
		place_made(a, &a->made.at[i]);
	return 0;
}

/* ---- what a filter selects ---- */

static bool has_attribute(const struct analyzer *a, const struct span_row *s, const struct attribute_is *is)
{
	const struct attribute_row *row = find_attribute(a, s, is->text, is->key_length);

	return row && strcmp(strpool_get(&a->strings, row->value), is->text + is->key_length + 1) == 0;
}

#define NAME_MAX_BYTES 512

/* `name` is what a span is called, unless it has an attribute of that name. */
static bool is_like(const struct analyzer *a, const struct span_row *s, const struct attribute_like *like)
{
	uint32_t value = spans_attribute(a, s, like->key);
	char name[NAME_MAX_BYTES];

	if (value)
		return fnmatch(like->pattern, strpool_get(&a->strings, value), 0) == 0;
	if (strcmp(like->key, "name") != 0)
		return false;
	name_of(a, s, name, sizeof(name));
	return *name && fnmatch(like->pattern, name, 0) == 0;
}

static bool lasts(const struct analyzer *a, const struct span_length *length, const struct span_row *s)
{
	uint32_t row = table_row_of(&a->spans, s->same);
	const struct span_time *t = row < a->span_times.count ? &a->span_times.at[row] : NULL;

	return t && t->first_ns <= t->last_ns && t->last_ns - t->first_ns >= length->least_ns &&
	       t->last_ns - t->first_ns <= length->most_ns;
}

static bool is_chosen(const struct analyzer *a, const struct filter *f, const struct span_row *s)
{
	for (size_t i = 0; i < f->spans.count; i++)
		if (f->spans.at[i] == s->span_id)
			return true;
	for (size_t i = 0; i < f->attributes.count; i++)
		if (has_attribute(a, s, &f->attributes.at[i]))
			return true;
	return !f->spans.count && !f->attributes.count;
}

static bool is_called(const struct analyzer *a, const struct filter *f, const struct span_row *s)
{
	for (size_t i = 0; i < f->likes.count; i++)
		if (is_like(a, s, &f->likes.at[i]))
			return true;
	return !f->likes.count;
}

static bool is_traced(const struct filter *f, const struct span_row *s)
{
	for (size_t i = 0; i < f->traces.count; i++)
		if (f->traces.at[i].hi == s->trace_hi && f->traces.at[i].lo == s->trace_lo)
			return true;
	return !f->traces.count;
}

bool spans_selected(const struct analyzer *a, const struct filter *f, const struct span_row *s)
{
	return is_traced(f, s) && (!f->has_length || lasts(a, &f->length, s)) && is_chosen(a, f, s) &&
	       is_called(a, f, s);
}

/* ---- spans of the trace, and made ones ---- */

const char *spans_trace_text(char to[SPANS_ID_TEXT], uint64_t hi, uint64_t lo)
{
	snprintf(to, SPANS_ID_TEXT, "%016" PRIx64 "%016" PRIx64, hi, lo);
	return to;
}

const char *spans_id_text(char to[SPANS_ID_TEXT], uint64_t id)
{
	snprintf(to, SPANS_ID_TEXT, "%016" PRIx64, id);
	return to;
}

const struct span_row *spans_get(const struct analyzer *a, uint32_t span)
{
	return span ? table_get(&a->spans, span) : NULL;
}

uint32_t spans_same(const struct analyzer *a, uint32_t span)
{
	const struct span_row *s = spans_get(a, span);

	return s ? s->same : 0;
}

static uint32_t made_of(const struct span_stretches *s, uint64_t owner, uint64_t from_ns, uint64_t to_ns)
{
	/* the first that ends later, or at that time */
	size_t low =
		SEARCH(i, 0, s->count, s->at[i].owner < owner || (s->at[i].owner == owner && s->at[i].to_ns < to_ns));

	if (low == s->count || s->at[low].owner != owner || s->at[low].from_ns > from_ns)
		return 0;
	return s->at[low].span;
}

uint32_t spans_made_at(const struct span_stretches *s, uint32_t thread, uint32_t vthread, uint64_t from_ns,
		       uint64_t to_ns)
{
	uint32_t span = vthread ? made_of(s, span_owner(thread, vthread), from_ns, to_ns) : 0;

	return span ?: made_of(s, span_owner(thread, 0), from_ns, to_ns);
}

uint32_t spans_of_sample(const struct analyzer *a, const struct trace_sample *r)
{
	if (!a->made.count)
		return r->span;
	return spans_made_at(&a->made, vthreads_thread(a, r), r->vthread, r->time_ns, r->time_ns);
}
