// SPDX-License-Identifier: Apache-2.0
/*
 * Spans that are calls of a function, from the call to its return. The commands define them between reading and
 * analysis; from then on they are spans as any others, whose attributes are the function, and the values of its return.
 */
#ifndef BRAID_VIEWS_SPAN_FUNCTIONS_H
#define BRAID_VIEWS_SPAN_FUNCTIONS_H

#include <analyze/analyzer.h>

/*
 * Replaces the spans of a trace, of which samples must have been kept. `function` is "uprobe:PATH:SYMBOL" or
 * "uprobe:SYMBOL". Returns with the value `elapsed` say when their calls began; else the function's calls must be
 * recorded, too. A call inside another one is a part of that one's span. *spans gets their number: their ids are 1 to
 * this, in the order of their starts. 0; -ENOENT: the trace has no returns of it; -ENODATA: it does not say when the
 * calls began; -ENOTUNIQ: two such functions have returns, or calls; or -ENOMEM.
 */
int span_functions_define(struct analyzer *a, const char *function, uint64_t *spans);

#endif
