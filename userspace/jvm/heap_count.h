// SPDX-License-Identifier: Apache-2.0
/*
 * A histogram of the heap that is read from a copy of the JVM, on a thread of its own, and becomes the events that the
 * JVM's own histogram would be. jvm_events.c begins it, jvm.c ends it.
 */
#ifndef BRAID_JVM_HEAP_COUNT_H
#define BRAID_JVM_HEAP_COUNT_H

#include "jvm_state.h"

/* The JVM was copied, or could not be. Only one copy of a JVM is read. */
void heap_count_begin(struct jvm *j, const struct trace_jvm_event *copy);

/* Emits the histogram once it is there. */
void heap_count_tick(struct jvm *j);

/* Ends what has not ended. */
void heap_count_free(struct jvm *j);

#endif
