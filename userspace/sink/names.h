// SPDX-License-Identifier: Apache-2.0
/*
 * Gives ids to the names that events mention, and sends each name to the trace once. The rooms that emit events call
 * it.
 */
#ifndef BRAID_SINK_NAMES_H
#define BRAID_SINK_NAMES_H

#include "budgets.h"
#include "sink.h"

struct names;

int names_new(struct names **out, struct sink *sink);
void names_free(struct names *n);

/*
 * The trace's id of a name, which is valid UTF-8 (see trace_str_of()). Returns 0 for an empty name. Returns 0 and
 * counts a loss without memory, or beyond the budget of `by`, the account that the name is for; NULL is the recorder.
 */
uint32_t names_id(struct names *n, struct account *by, struct trace_str text);

#endif
