// SPDX-License-Identifier: Apache-2.0
/*
 * Makes spans of stretches of threads, in place of those that the trace has. span_pairs.c and span_calls.c find the
 * stretches.
 */
#ifndef BRAID_VIEWS_SPAN_MAKE_H
#define BRAID_VIEWS_SPAN_MAKE_H

#include <analyze/state.h>

/* Sorts them and leaves those that are inside no other one of their threads. */
void span_make_outermost(struct span_stretches *s);

/*
 * Defines them, with ids from 1 on in the order of their starts, and marks all samples and events of their threads in
 * them. Samples must have been kept. 0 or -ENOMEM.
 */
int span_make(struct analyzer *a, struct span_stretches *s);

#endif
