// SPDX-License-Identifier: Apache-2.0
/* Names that events mention, each sent to the trace once. */
#ifndef BRAID_COLLECT_NAMES_H
#define BRAID_COLLECT_NAMES_H

#include "record/session.h"

int names_new(struct names **out, struct session *s);
void names_free(struct names *n);

/* The trace's id of a name: valid UTF-8, see trace_str_of(). 0 for the empty one, and, counted as lost, without memory.
 */
uint32_t names_id(struct names *n, struct trace_str text);

#endif
