// SPDX-License-Identifier: Apache-2.0
/*
 * The last part of a recording, in memory that does not grow with its age: the events of late, and the definitions that
 * they, or later ones, refer to. An analyzer of a window is made from what the window's events need, so its cost
 * depends on the window alone.
 *
 * Limits: RECENT_EVENTS_BYTES of events, the oldest of which are dropped, and RECENT_DEFINITIONS_BYTES of definitions.
 * Above that, those that no event has needed for the longest time are dropped, with the events that are older. A later
 * event that refers to one has an incomplete stack, or no name.
 */
#ifndef BRAID_TOP_RECENT_H
#define BRAID_TOP_RECENT_H

#include <stdint.h>

#include <analyze/analyzer.h>
#include <trace/trace.h>

#define RECENT_EVENTS_BYTES (16UL << 20)
#define RECENT_DEFINITIONS_BYTES (64UL << 20)

struct recent;

int recent_new(struct recent **out);
void recent_free(struct recent *r);

/* For tests: smaller limits. */
void recent_limit(struct recent *r, size_t events_bytes, size_t definitions_bytes);

/* Takes a record. 0 or -ENOMEM. Records that no trace can have are left out. */
int recent_take(struct recent *r, const struct trace_rec *rec);

/* The times of the trace's clock between which events are kept: the first one, and the last. 0: there are none. */
uint64_t recent_first_ns(const struct recent *r);
uint64_t recent_last_ns(const struct recent *r);
/* Whether something was dropped. */
bool recent_is_cut(const struct recent *r);

/* An analyzer of the events of that time, inclusive, as of a recording that has nothing else. 0 or -ENOMEM. */
int recent_window(struct recent *r, uint64_t from_ns, uint64_t to_ns, struct analyzer **out);

/* Writes all that is kept. 0, -ENOMEM or an error of trace_writer_put(). */
int recent_save(struct recent *r, struct trace_writer *w);

/* Bytes in use. */
size_t recent_bytes(const struct recent *r);

#endif
