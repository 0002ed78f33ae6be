// SPDX-License-Identifier: Apache-2.0
/* Names that events mention, each sent to the trace once. */
#ifndef BRAID_SINK_NAMES_H
#define BRAID_SINK_NAMES_H

#include "budgets.h"
#include "sink.h"

struct names;

int names_new(struct names **out, struct sink *sink);
void names_free(struct names *n);

/*
 * The trace's id of a name: valid UTF-8, see trace_str_of(). 0 for the empty one, and, counted as lost, without memory
 * or beyond the budget of who brings it; NULL: the recorder.
 */
uint32_t names_id(struct names *n, struct account *by, struct trace_str text);

#endif
