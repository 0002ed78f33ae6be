// SPDX-License-Identifier: Apache-2.0
/*
 * Which times off the CPU other events say more about: LOCK and WAIT know the object, and replace the OFFCPU of the
 * same time of the same thread. A time that none of them covers stays OFFCPU: it was before they were enabled, had not
 * ended, or was too short for them. events.c asks.
 */
#ifndef BRAID_ANALYZE_COVERS_H
#define BRAID_ANALYZE_COVERS_H

#include <stdbool.h>

#include "blocked.h"
#include "state.h"

/* From a contended monitor, or Object.wait, to its end. */
struct cover {
	uint64_t of; /* the OS thread, or the virtual thread */
	uint32_t how;
	uint64_t start_ns;
	uint64_t reach_ns; /* the latest end of those of the same thread up to this one */
};

struct covers {
	VEC(struct cover) list; /* by thread and time */
	struct u64map parks;	/* LOCKs of parked threads, which are one OFFCPU each: thread and start */
};

/* 0 or -ENOMEM. */
int covers_find(struct covers *c, const struct analyzer *a);
void covers_free(struct covers *c);

/* Whether one covers this OFFCPU, which was off the CPU for that reason; of a sum of them, the longest. */
bool covers_have(const struct covers *c, const struct analyzer *a, const struct jvm_event_row *r, enum blocked_why why);

#endif
