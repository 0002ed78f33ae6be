// SPDX-License-Identifier: Apache-2.0
/* Walks stacks that the kernel side could not walk in time, from the memory that it sent instead. */
#ifndef BRAID_RECORD_LATE_H
#define BRAID_RECORD_LATE_H

#include "session.h"

/* A sample with its frames, as the kernel side would have sent it. */
struct late_sample {
	struct braid_event_sample event;
	uint64_t frames[BRAID_MAX_FRAMES];
};

/*
 * Fills *out with the stack of `e`, with what is known of `process` now of how its addresses were at the event's time:
 * true when it is whole. An incomplete one ends with its cause.
 */
bool late_walk(const struct session *s, const struct process *process, const struct braid_event_late *e,
	       struct late_sample *out);

#endif
