// SPDX-License-Identifier: Apache-2.0
/*
 * Spans between two hit events, or system calls: each lasts from a hit of one to the next hit of the other in the same
 * thread. The commands define them between reading and analysis; from then on they are spans as any others.
 */
#ifndef BRAID_VIEWS_SPAN_PAIRS_H
#define BRAID_VIEWS_SPAN_PAIRS_H

#include <analyze/analyzer.h>

struct span_pairs {
	uint64_t spans;	     /* their ids are 1 to this, in the order of their starts */
	uint64_t unfinished; /* hits of the first event that another one or the recording's end followed */
	char missing[256];   /* with -ENOENT and -ENOTUNIQ: the event's name, as it was typed */
};

/*
 * Replaces the spans of a trace, of which samples must have been kept. `pair` is FROM..TO, two names as
 * span_bounds_add() accepts them. 0; -EINVAL for another form; -ENOENT when the trace has none of this; -ENOTUNIQ
 * when it has two such events; or -ENOMEM.
 */
int span_pairs_define(struct analyzer *a, const char *pair, struct span_pairs *out);

#endif
