// SPDX-License-Identifier: Apache-2.0
/*
 * Spans in an analyzer: the requests that samples and events belong to. A recorder may define a span more than once,
 * and all its definitions count as the first. analyzer.c feeds them; analyses, views and exports read them.
 */
#ifndef BRAID_ANALYZE_SPANS_H
#define BRAID_ANALYZE_SPANS_H

#include "filter.h"
#include "state.h"

/* 0 or -ENOMEM. */
int spans_feed(struct analyzer *a, const struct trace_span *r);

/* The id of the first definition of the same span; 0 for an unknown one. */
uint32_t spans_same(const struct analyzer *a, uint32_t span);
/*
 * Finds out how long each span lasts, in the whole trace, of which samples must have been kept. To be called before a
 * filter by duration is asked. 0 or -ENOMEM.
 */
int spans_measure(struct analyzer *a);
/* The value, an id of a->strings, of the attribute; 0: it has none. */
uint32_t spans_attribute(const struct analyzer *a, const struct span_row *s, const char *key);

/*
 * The attributes that say which kind of request a span is: OpenTelemetry's for names of low cardinality, and braid's
 * own.
 */
#define SPANS_NAMES 8
extern const char *const spans_names[SPANS_NAMES];
/* Whether a filter selects the span. */
bool spans_selected(const struct analyzer *a, const struct filter *f, const struct span_row *s);
/* Ids as OpenTelemetry writes them: 32 and 16 hexadecimal digits. */
#define SPANS_ID_TEXT 33
const char *spans_trace_text(char to[SPANS_ID_TEXT], uint64_t hi, uint64_t lo);
const char *spans_id_text(char to[SPANS_ID_TEXT], uint64_t id);

/* NULL for an unknown span. */
const struct span_row *spans_get(const struct analyzer *a, uint32_t span);

/* Whose time a made span is: that of a virtual thread, or if `vthread` is 0, of a thread. Both are ids. */
static inline uint64_t span_owner(uint32_t thread, uint32_t vthread)
{
	return vthread ? 1ULL << 32 | vthread : thread;
}

/* The made span of the virtual thread, else of the thread, that has all of that time; 0: none. */
uint32_t spans_made_at(const struct span_stretches *s, uint32_t thread, uint32_t vthread, uint64_t from_ns,
		       uint64_t to_ns);
/* The span of a sample that is read from the file again: the one made for it, else the recorded one. */
uint32_t spans_of_sample(const struct analyzer *a, const struct trace_sample *r);

#endif
