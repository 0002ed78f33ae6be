/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attributes in an analyzer: what a process says of itself and of a span, and the settings of JVMs. definitions.c feeds
 * them; filters and exports read them.
 */
#ifndef BRAID_ANALYZE_ATTRIBUTES_H
#define BRAID_ANALYZE_ATTRIBUTES_H

#include "state.h"

/* 0 or -ENOMEM. */
int attributes_feed_process(struct analyzer *a, const struct trace_resource *r);
int attributes_feed_span(struct analyzer *a, const struct trace_attribute *r);
int attributes_feed_setting(struct analyzer *a, const struct trace_setting *r);

/* The same for a span that a command makes; `value` is in a->strings. */
int attributes_add(struct analyzer *a, uint32_t *first, const char *key, uint32_t value);

/* The first one of a process_row or span_row, and the one after it; NULL: there is none. */
const struct attribute_row *attributes_first(const struct analyzer *a, uint32_t place);
const struct attribute_row *attributes_next(const struct analyzer *a, const struct attribute_row *row);

#endif
