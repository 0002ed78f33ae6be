// SPDX-License-Identifier: Apache-2.0
/*
 * Spans that are recorded calls of timed methods. The commands define them between reading and analysis; from then on
 * they are spans as any others, whose attributes say which method it was, with which values, and which exception ended
 * it.
 */
#ifndef BRAID_VIEWS_SPAN_CALLS_H
#define BRAID_VIEWS_SPAN_CALLS_H

#include <analyze/analyzer.h>

/*
 * Replaces the spans of a trace, of which samples must have been kept. `pattern` is that of a method, with `*` and `?`.
 * A call inside another one that matches is a part of that one's span. *spans gets their number: their ids are 1 to
 * this, in the order of their starts. 0 or -ENOMEM.
 */
int span_calls_define(struct analyzer *a, const char *pattern, uint64_t *spans);

#endif
