// SPDX-License-Identifier: Apache-2.0
/* Walks stacks that the kernel side could not walk in time, from the memory that it sent instead. */
#ifndef BRAID_RECORD_DEFERRED_H
#define BRAID_RECORD_DEFERRED_H

#include "session.h"

/* A sample with its frames, as the kernel side would have sent it. */
struct deferred_sample {
	struct braid_event_sample event;
	uint64_t frames[BRAID_MAX_FRAMES];
};

/*
 * Fills *out with the stack of `e`, with what is known of `process` now of how its addresses were at the event's time:
 * true when it is whole. An incomplete one ends with its cause.
 */
bool deferred_unwind(const struct session *s, const struct process *process, const struct braid_event_deferred *e,
		     struct deferred_sample *out);

#endif
