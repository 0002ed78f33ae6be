// SPDX-License-Identifier: Apache-2.0
/*
 * The one reducer: every record of a trace, live (trace_writer_tap) or from a file (trace_reader_next), goes through
 * analyzer_feed; what a report shows is derived at the end by analysis_new.
 *
 * Records are not trusted. What they say is copied, memory grows with what was sent and never with an id's value, and
 * references that lead nowhere make samples `damaged`, not the program. Nothing depends on the order between
 * definitions and events: feeding only stores and counts.
 */
#ifndef BRAID_ANALYZE_ANALYZER_H
#define BRAID_ANALYZE_ANALYZER_H

#include <stdbool.h>
#include <stdint.h>

#include <trace/record.h>

struct analyzer;

int analyzer_new(struct analyzer **out);

/* Keeps every sample instead of sums per stack and thread: needed for a time window. To be called before the first
 * feed. */
void analyzer_keep_samples(struct analyzer *a);

/* 0 or -ENOMEM. Records without meaning (unknown kinds, id 0, a node that is not above its parent) are counted, not
 * kept. */
int analyzer_feed(struct analyzer *a, const struct trace_rec *rec);

/* Whether a JVM event is kept: the rows of those that are have the order of their records. */
bool analyzer_keeps(const struct trace_jvm_event *r);

/* When an event happened, or ended if it took time; 0 for definitions. */
uint64_t event_time_ns(const struct trace_rec *rec);

/* What a progress line shows. */
uint64_t analyzer_samples(const struct analyzer *a);
uint64_t analyzer_lost(const struct analyzer *a);

/* How long the recording took. window.c */
uint64_t analyzer_duration_ns(const struct analyzer *a);

/* The recording's value of an INFO key, "" when it has none. */
const char *analyzer_info(const struct analyzer *a, const char *key);

void analyzer_free(struct analyzer *a);

#endif
