// SPDX-License-Identifier: Apache-2.0
/* Pauses, cycles and concurrent phases of garbage collectors. */
#ifndef BRAID_ANALYZE_GC_H
#define BRAID_ANALYZE_GC_H

#include <stdint.h>

#include "util/vec.h"

struct analysis;

struct gc_pause {
	uint32_t process; /* id */
	uint32_t flags;	  /* BRAID_GC_* */
	uint64_t number;
	uint64_t start_ns; /* with BRAID_GC_BEGAN_BEFORE when it ended: that is all that is known */
	uint64_t duration_ns;
	uint64_t used_before, used_after;     /* bytes; 0: not known */
	const char *collector, *cause, *what; /* may be empty */
};

/* Events of one kind with the same names, those first that took longest. */
struct gc_sum {
	const char *name, *what, *cause;
	uint64_t count, total_ns, max_ns;
};

struct gc_view {
	uint64_t count; /* pauses */
	uint64_t timed; /* those with a duration; the figures below are theirs */
	uint64_t total_ns, mean_ns, max_ns, p99_ns;
	VEC(struct gc_sum) pauses, cycles, phases;
	VEC(struct gc_pause) longest; /* all pauses, the longest first, those without a duration last */
};

/* Of what passes the analysis's filter. 0 or -ENOMEM; the view is to be freed in any case. */
int gc_view_fill(struct gc_view *g, const struct analysis *an);
void gc_view_free(struct gc_view *g);

#endif
