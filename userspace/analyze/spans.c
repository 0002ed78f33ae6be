// SPDX-License-Identifier: Apache-2.0
#include "spans.h"

#include "attributes.h"
#include "definitions.h"
#include "vthreads.h"

#include <errno.h>
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

static bool has_attribute(const struct analyzer *a, const struct span_row *s, const struct attribute_is *is)
{
	const struct span_row *first = table_get(&a->spans, s->same);
	const struct attribute_row *row = first ? attributes_first(a, first->attributes) : NULL;

	for (; row; row = attributes_next(a, row)) {
		const char *key = strpool_get(&a->strings, row->key);

		if (strlen(key) == is->key_length && memcmp(key, is->text, is->key_length) == 0)
			return strcmp(strpool_get(&a->strings, row->value), is->text + is->key_length + 1) == 0;
	}
	return false;
}

bool spans_selected(const struct analyzer *a, const struct filter *f, const struct span_row *s)
{
	bool wanted = !f->spans.count && !f->attributes.count;

	for (size_t i = 0; i < f->spans.count && !wanted; i++)
		wanted = f->spans.at[i] == s->span_id;
	for (size_t i = 0; i < f->attributes.count && !wanted; i++)
		wanted = has_attribute(a, s, &f->attributes.at[i]);
	if (!wanted || !f->traces.count)
		return wanted;
	for (size_t i = 0; i < f->traces.count; i++)
		if (f->traces.at[i].hi == s->trace_hi && f->traces.at[i].lo == s->trace_lo)
			return true;
	return false;
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
