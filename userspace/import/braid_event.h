// SPDX-License-Identifier: Apache-2.0
/*
 * The events of a JVM, and losses, in the text of `braid script`: what analyze/event_fields.h has printed, read back.
 */
#ifndef BRAID_IMPORT_BRAID_EVENT_H
#define BRAID_IMPORT_BRAID_EVENT_H

#include "perf_header.h"
#include "reader.h"

#define BRAID_EVENT_PREFIX "braid:"

/* The kind of an event's line, or 0: it is another event, or one of which the line has too little. */
uint32_t braid_event_kind(struct trace_str name);

/* A loss of the recording, which is not the import's. Its process and time are the caller's. */
#define BRAID_EVENT_LOSS BRAID_EVENT_PREFIX "loss"
void braid_loss_take(struct reader *r, struct trace_loss *loss, struct trace_str fields);

/* Fills *e from a line with fields. Its thread, process and time are the caller's. */
void braid_event_take(struct reader *r, struct trace_jvm_event *e, struct trace_str fields);

/* Whether the event is one of the whole process, which the text shows as one of the process's first thread. */
bool braid_event_is_of_process(uint32_t kind, const struct perf_header *h);

#endif
