// SPDX-License-Identifier: Apache-2.0
/* The report's figures of garbage collectors: pauses, cycles and concurrent phases. views.c fills them. */
#ifndef BRAID_VIEWS_GC_H
#define BRAID_VIEWS_GC_H

#include <stdint.h>

#include "util/vec.h"

struct analysis;

/* The collection that the last thread to leave a critical section asks for, if one is due (GCCause::_gc_locker). */
#define GC_CAUSE_LOCKER "GCLocker Initiated GC"

struct gc_pause {
	uint32_t process; /* id */
	uint32_t flags;	  /* BRAID_GC_* */
	uint64_t number;
	uint64_t start_ns; /* with BRAID_GC_BEGAN_BEFORE: the end, the only known time */
	uint64_t duration_ns;
	uint64_t used_before, used_after;     /* bytes; 0: not known */
	const char *collector, *cause, *what; /* may be empty */
};

/* Events of one kind with the same names; the longest total first. */
struct gc_sum {
	const char *name, *what, *cause;
	uint64_t count, total_ns, max_ns;
};

struct gc_view {
	uint64_t count; /* pauses */
	uint64_t timed; /* those with a duration; the figures below cover only these */
	uint64_t total_ns, mean_ns, max_ns, p99_ns;
	VEC(struct gc_sum) pauses, cycles, phases;
	VEC(struct gc_pause) longest; /* all pauses, the longest first, those without a duration last */
};

/* Fills the view with events that pass the analysis's filter. 0 or -ENOMEM; free the view in either case. */
int gc_view_fill(struct gc_view *g, const struct analysis *an);
void gc_view_free(struct gc_view *g);

#endif
