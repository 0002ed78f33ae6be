// SPDX-License-Identifier: Apache-2.0
#include "span_calls.h"

#include <analyze/attributes.h>
#include <analyze/events.h>
#include "span_make.h"
#include <analyze/spans.h>

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* Each stretch's `span` is its row of a->events. */
static int find_calls(const struct analyzer *a, const char *pattern, struct span_stretches *to)
{
	int err = 0;

	for (size_t i = 0; i < a->events.count && !err; i++) {
		const struct jvm_event_row *r = &a->events.at[i];

		if (r->kind != BRAID_JVM_METHOD || fnmatch(pattern, strpool_get(&a->strings, r->name), 0) != 0)
			continue;
		if (r->thread || r->vthread)
			err = VEC_PUSH(to, ((struct span_stretch){r->time_ns, event_end_ns(r),
								  span_owner(r->thread, r->vthread), (uint32_t)i}));
	}
	span_make_outermost(to);
	return err;
}

/* What their calls were, before they have ids. NULL without memory. */
static const struct jvm_event_row **rows_of(const struct analyzer *a, const struct span_stretches *s)
{
	const struct jvm_event_row **rows = calloc(s->count + 1, sizeof(*rows));

	for (size_t i = 0; rows && i < s->count; i++)
		rows[i] = &a->events.at[s->at[i].span];
	return rows;
}

static int describe(struct analyzer *a, uint32_t span, const struct jvm_event_row *call)
{
	static const char *const keys[] = {"method", "values", "exception"};
	const uint32_t values[] = {call->name, call->text, call->detail};
	struct span_row *row = table_get(&a->spans, span);
	int err = 0;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && !err; i++)
		if (values[i])
			err = attributes_add(a, &row->attributes, keys[i], values[i]);
	return err;
}

int span_calls_define(struct analyzer *a, const char *pattern, uint64_t *spans)
{
	struct span_stretches stretches = {0};
	int err = find_calls(a, pattern, &stretches);
	const struct jvm_event_row **calls = err ? NULL : rows_of(a, &stretches);

	err = err ?: calls ? span_make(a, &stretches) : -ENOMEM;
	for (size_t i = 0; i < stretches.count && !err; i++)
		err = describe(a, stretches.at[i].span, calls[i]);
	*spans = stretches.count;
	free(calls);
	free(stretches.at);
	return err;
}
