// SPDX-License-Identifier: Apache-2.0
/* Hit events in the trace: their names, what was hit, and what was lost. Only record/ calls this. */
#ifndef BRAID_RECORD_HIT_EVENTS_H
#define BRAID_RECORD_HIT_EVENTS_H

#include "session.h"

/* Emits what takes samples and how often: the clock, and hit events. */
void hit_events_facts(struct session *s);

/*
 * The id of an event's name, for its samples: 0 for the clock, and for an event that is the recording's only one.
 * `event` is as in struct braid_event_sample.
 */
uint32_t hit_events_id(struct session *s, uint32_t event);

/* Emits how often each event was hit, and losses since the last call. */
void hit_events_stats(struct session *s);

/* The values that a sample of the event has, as text. It is valid until the next call. */
struct trace_str hit_events_values(struct session *s, const struct braid_event_sample *e);

#endif
