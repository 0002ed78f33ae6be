// SPDX-License-Identifier: Apache-2.0
/*
 * Deferred unwinds: walks the copied stacks of samples whose code the kernel side did not know yet. samples.c calls
 * this.
 */
#ifndef BRAID_RECORD_DEFERRED_H
#define BRAID_RECORD_DEFERRED_H

#include "session.h"

/* A sample with its frames, as the kernel side sends it. */
struct deferred_sample {
	struct braid_event_sample event;
	uint64_t frames[BRAID_MAX_FRAMES];
	bool virtual; /* they are a virtual thread's, or may be */
	bool early;   /* the unwind table of some of its code is being read */
};

/*
 * Fills *out with the stack of `e`. It uses what is known now about the process's addresses at the event's time.
 * `still`: the thread has not run since, so the walk may read what was not copied, too. Returns true for a whole stack;
 * an incomplete one ends with its cause.
 */
bool deferred_unwind(const struct session *s, const struct process *process, const struct braid_event_deferred *e,
		     bool still, struct deferred_sample *out);

/* A hash that distinguishes stacks that were walked here. */
uint64_t deferred_hash(const struct deferred_sample *out, const struct process *process);

#endif
