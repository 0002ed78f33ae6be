// SPDX-License-Identifier: Apache-2.0
#include "attributes.h"

#include "definitions.h"
#include "spans.h"

#include <errno.h>
#include <string.h>

#define EACH_MAX 512 /* of a process or a span; a file must not make lists as long as it likes */

const struct attribute_row *attributes_first(const struct analyzer *a, uint32_t place)
{
	return place ? &a->attributes.at[place - 1] : NULL;
}

const struct attribute_row *attributes_next(const struct analyzer *a, const struct attribute_row *row)
{
	return attributes_first(a, row->next);
}

/* A property and a flag with the same name are two settings. */
static bool same(const struct attribute_row *a, const struct attribute_row *b)
{
	return a->key == b->key && !a->origin == !b->origin;
}

/* `first` is the place in the row of the process or the span; NULL: nothing has defined it. */
static int add(struct analyzer *a, uint32_t *first, struct attribute_row row, unsigned max)
{
	uint32_t *at = first;
	unsigned count = 0;

	for (; at && *at && count < max; count++) {
		struct attribute_row *r = &a->attributes.at[*at - 1];

		if (same(r, &row)) {
			r->was = r->value != row.value && !r->was ? r->value : r->was;
			r->value = row.value;
			r->origin = row.origin;
			return 0;
		}
		at = &r->next;
	}
	if (!at || !row.key || count == max || a->attributes.count >= UINT32_MAX - 1) {
		a->ignored++;
		return 0;
	}
	*at = (uint32_t)a->attributes.count + 1; /* before the next line moves what it is in */
	if (!VEC_PUSH(&a->attributes, row))
		return 0;
	*at = 0;
	return -ENOMEM;
}

static int feed(struct analyzer *a, uint32_t *first, uint32_t key, uint32_t value)
{
	return add(a, first,
		   (struct attribute_row){.key = analyzer_name_of(a, key), .value = analyzer_name_of(a, value)},
		   EACH_MAX);
}

int attributes_add(struct analyzer *a, uint32_t *first, const char *key, uint32_t value)
{
	uint32_t id = strpool_add(&a->strings, key, strlen(key));

	return id == STRPOOL_FAILED ? -ENOMEM
				    : add(a, first, (struct attribute_row){.key = id, .value = value}, EACH_MAX);
}

int attributes_feed_process(struct analyzer *a, const struct trace_resource *r)
{
	struct process_row *row = table_get(&a->processes, r->process);

	return feed(a, row ? &row->attributes : NULL, r->key, r->value);
}

int attributes_feed_span(struct analyzer *a, const struct trace_attribute *r)
{
	struct span_row *row = table_get(&a->spans, spans_same(a, r->span));

	return feed(a, row ? &row->attributes : NULL, r->key, r->value);
}

int attributes_feed_setting(struct analyzer *a, const struct trace_setting *r)
{
	struct process_row *row = table_get(&a->processes, r->process);

	return add(a, row ? &row->settings : NULL,
		   (struct attribute_row){.key = analyzer_name_of(a, r->key),
					  .value = analyzer_name_of(a, r->value),
					  .origin = r->origin},
		   TRACE_SETTINGS_MAX);
}
