// SPDX-License-Identifier: Apache-2.0
#include "span_calls.h"

#include <analyze/attributes.h>
#include <analyze/events.h>
#include "span_make.h"
#include <analyze/spans.h>
#include <util/compare.h>

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* Rows of a->events; from two that begin at once, the longer one is outside. */
static int compare_calls(const void *x, const void *y)
{
	const struct jvm_event_row *p = *(const struct jvm_event_row *const *)x;
	const struct jvm_event_row *q = *(const struct jvm_event_row *const *)y;

	int c = compare_u64(span_owner(p->thread, p->vthread), span_owner(q->thread, q->vthread));

	if (!c)
		c = compare_u64(p->time_ns, q->time_ns);
	return c ? c : compare_u64(q->duration_ns, p->duration_ns);
}

struct calls { /* with the members of a VEC */
	const struct jvm_event_row **at;
	size_t count, room;
};

static int find_calls(const struct analyzer *a, const char *pattern, struct calls *to)
{
	for (size_t i = 0; i < a->events.count; i++) {
		const struct jvm_event_row *r = &a->events.at[i];

		if (r->kind != BRAID_JVM_METHOD || fnmatch(pattern, strpool_get(&a->strings, r->name), 0) != 0)
			continue;
		if ((r->thread || r->vthread) && VEC_PUSH(to, r))
			return -ENOMEM;
	}
	VEC_SORT(to, compare_calls);
	return 0;
}

/* Leaves those of `calls` that are inside no other one, and makes a stretch of each. */
static int outermost(struct calls *calls, struct span_stretches *to)
{
	size_t used = 0;

	for (size_t i = 0; i < calls->count; i++) {
		const struct jvm_event_row *r = calls->at[i];
		const struct span_stretch *last = used ? &to->at[used - 1] : NULL;
		uint64_t owner = span_owner(r->thread, r->vthread);

		if (last && last->owner == owner && r->time_ns < last->to_ns)
			continue;
		if (VEC_PUSH(to, ((struct span_stretch){r->time_ns, event_end_ns(r), owner, 0})))
			return -ENOMEM;
		calls->at[used++] = r;
	}
	calls->count = used;
	return 0;
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
	struct calls calls = {0};
	int err;

	err = find_calls(a, pattern, &calls) ?: outermost(&calls, &stretches) ?: span_make(a, &stretches);
	for (size_t i = 0; i < stretches.count && !err; i++)
		err = describe(a, stretches.at[i].span, calls.at[i]);
	*spans = stretches.count;
	free(calls.at);
	free(stretches.at);
	return err;
}
