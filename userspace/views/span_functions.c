// SPDX-License-Identifier: Apache-2.0
#include "span_functions.h"

#include <analyze/attributes.h>
#include <analyze/definitions.h>
#include <analyze/hits.h>
#include <analyze/spans.h>
#include "span_bounds.h"
#include "span_make.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CALLS "uprobe:"
#define RETURNS "uretprobe:"

/* The event of that type. 0, -ENOENT or -ENOTUNIQ. */
static int find(const struct analyzer *a, const char *type, const char *typed, struct span_source *out)
{
	struct span_source s;
	size_t found = 0;

	for (size_t i = 0; span_source(a, i, &s); i++) {
		if (strncmp(s.name, type, strlen(type)) != 0 || !hits_named(s.name, typed))
			continue;
		*out = s;
		found++;
	}
	return found == 1 ? 0 : found ? -ENOTUNIQ : -ENOENT;
}

struct calls {
	struct span_stretches stretches; /* `span`: the place of its values, plus one; 0: it has none */
	struct span_source returns;
};

static int by_elapsed(const struct analyzer *a, struct calls *c)
{
	uint64_t ns;
	int err = 0;

	for (size_t i = 0; i < c->returns.value_count && !err; i++) {
		const struct hit_values *v = &c->returns.values[i];
		const struct sample *s = &v->sample;

		if (hits_elapsed(strpool_get(&a->strings, v->text), &ns) && ns <= s->time_ns)
			err = VEC_PUSH(&c->stretches,
				       ((struct span_stretch){s->time_ns - ns, s->time_ns,
							      span_owner(s->thread, s->vthread), (uint32_t)i + 1}));
	}
	return err;
}

/* A return is that of the last call before it that has none yet. */
static int by_calls(struct calls *c, const struct span_source *calls)
{
	struct span_bounds bounds = {0}, open = {0};
	int err = span_bounds_add_hits(calls, false, &bounds) ?: span_bounds_add_hits(&c->returns, true, &bounds);

	span_bounds_sort(&bounds);
	for (size_t i = 0; i < bounds.count && !err; i++) {
		const struct span_bound *b = &bounds.at[i];

		if (open.count && open.at[open.count - 1].owner != b->owner)
			open.count = 0;
		if (!b->ends)
			err = VEC_PUSH(&open, *b);
		else if (open.count)
			err = VEC_PUSH(&c->stretches,
				       ((struct span_stretch){open.at[--open.count].time_ns, b->time_ns, b->owner, 0}));
	}
	free(bounds.at);
	free(open.at);
	return err;
}

/* "look_up" of "uprobe:/srv/app:look_up" */
static int describe(struct analyzer *a, const struct calls *c, const uint32_t *values, const char *function)
{
	const char *symbol = strrchr(function, ':') + 1;
	uint32_t name;
	int err = analyzer_keep(a, (struct trace_str){symbol, strlen(symbol)}, &name);

	for (size_t i = 0; i < c->stretches.count && !err; i++) {
		struct span_row *row = table_get(&a->spans, c->stretches.at[i].span);

		err = attributes_add(a, &row->attributes, "function", name);
		if (!err && values[i])
			err = attributes_add(a, &row->attributes, "values", values[i]);
	}
	return err;
}

static int make(struct analyzer *a, struct calls *c, const char *function)
{
	uint32_t *values = calloc(c->stretches.count + 1, sizeof(*values));
	int err;

	if (!values)
		return -ENOMEM;
	span_make_outermost(&c->stretches);
	for (size_t i = 0; i < c->stretches.count; i++)
		if (c->stretches.at[i].span)
			values[i] = c->returns.values[c->stretches.at[i].span - 1].text;
	err = span_make(a, &c->stretches) ?: describe(a, c, values, function);
	free(values);
	return err;
}

int span_functions_define(struct analyzer *a, const char *function, uint64_t *spans)
{
	const char *typed = function + strlen(CALLS);
	struct span_source calls;
	struct calls c = {0};
	int err = find(a, RETURNS, typed, &c.returns), none;

	*spans = 0;
	if (err)
		return err;
	none = find(a, CALLS, typed, &calls);
	err = by_elapsed(a, &c);
	if (!err && !c.stretches.count)
		err = none == -ENOENT ? -ENODATA : none ?: by_calls(&c, &calls);
	err = err ?: make(a, &c, function);
	*spans = c.stretches.count;
	free(c.stretches.at);
	return err;
}
