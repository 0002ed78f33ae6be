// SPDX-License-Identifier: Apache-2.0
/*
 * Deferred samples in code whose unwind table is being read. They wait for it outside of the ring, which has no room
 * for many copies of stacks, and for a second at most. samples.c calls this.
 */
#ifndef BRAID_RECORD_DEFERRED_WAIT_H
#define BRAID_RECORD_DEFERRED_WAIT_H

#include <braid/event.h>

#include <stdbool.h>
#include <stdint.h>

struct deferred_wait;

void deferred_wait_free(struct deferred_wait *w);

/* Keeps a copy of `e`; *w is made at the first one. False: there is no room. */
bool deferred_wait_put(struct deferred_wait **w, const struct braid_event_deferred *e, uint64_t now);

/*
 * Calls back with each sample that waits, the oldest first; `last`: it must not wait any more. Those for which `take`
 * returns false stay. As long as `results` is the same number, only the last ones are tried.
 */
void deferred_wait_each(struct deferred_wait *w, uint64_t now, uint64_t results,
			bool (*take)(void *ctx, const struct braid_event_deferred *e, bool last), void *ctx);

#endif
