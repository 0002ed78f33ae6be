// SPDX-License-Identifier: Apache-2.0
/*
 * The analyzer: the only reducer of traces. Every record, live (trace_writer_tap) or from a file (trace_reader_next),
 * goes through analyzer_feed; analysis_new derives the contents of reports at the end.
 *
 * Records are not trusted. Their contents are copied, memory grows with the bytes fed and never with an id's value, and
 * invalid references make samples `damaged` instead of the program fail. Nothing depends on the order of definitions
 * and events: feeding only stores and counts.
 */
#ifndef BRAID_ANALYZE_ANALYZER_H
#define BRAID_ANALYZE_ANALYZER_H

#include <stdbool.h>
#include <stdint.h>

#include <trace/record.h>

struct analyzer;

int analyzer_new(struct analyzer **out);

/* Keeps every sample instead of sums per stack and thread, which a time window needs. Call it before the first feed. */
void analyzer_keep_samples(struct analyzer *a);

/* Adds up samples by stack only: threads have no samples then. The same. */
void analyzer_sum_stacks(struct analyzer *a);

/* From now on only those of this range of time; to_ns is exclusive. The others are counted only. */
void analyzer_keep_between(struct analyzer *a, uint64_t from_ns, uint64_t to_ns);

/*
 * 0 or -ENOMEM. Meaningless records (unknown kinds, id 0, a node whose id is not above its parent's) are counted, not
 * kept.
 */
int analyzer_feed(struct analyzer *a, const struct trace_rec *rec);

/* Whether a JVM event is kept. The rows of kept events have the order of their records. */
bool analyzer_keeps(const struct trace_jvm_event *r);

/* The time of an event, or its end if it has a duration; 0 for definitions. */
uint64_t event_time_ns(const struct trace_rec *rec);

/* Forgets the stacks that no kept sample or event has. For an analyzer that keeps samples. 0 or -ENOMEM. */
int analyzer_forget_stacks(struct analyzer *a);

/* There were events at this time, whether they are fed or not. */
void analyzer_see_time(struct analyzer *a, uint64_t time_ns);

/* The number that a progress line shows. */
uint64_t analyzer_samples(const struct analyzer *a);
uint64_t analyzer_lost(const struct analyzer *a);

/* The recording's duration. window.c */
uint64_t analyzer_duration_ns(const struct analyzer *a);

/* The recording's value of an INFO key, "" when it has none. */
const char *analyzer_info(const struct analyzer *a, const char *key);
/* Samples a second on each CPU; 0: not known, or there are none. */
unsigned long analyzer_frequency(const struct analyzer *a);
/* The time between two of them; 0: not known. */
uint64_t analyzer_period_ns(const struct analyzer *a);

/* Facts of a trace that was imported from another tool's file. */
#define IMPORT_FACT_FORMAT "import.format"
#define IMPORT_FACT_FILE "import.file"
#define IMPORT_FACT_BY "import.by"	 /* the program that recorded */
#define IMPORT_FACT_CLOCK "import.clock" /* what its times are */
#define IMPORT_FACT_BRAID "import.braid"
#define IMPORT_NO_CLOCK "none"

/* Whether its samples have times: those that were imported may have none. */
bool analyzer_has_times(const struct analyzer *a);

void analyzer_free(struct analyzer *a);

#endif
