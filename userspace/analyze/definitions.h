// SPDX-License-Identifier: Apache-2.0
/*
 * The analyzer's side of definitions: records that other records refer to, such as processes, modules, frames and
 * names. analyzer.c calls it.
 */
#ifndef BRAID_ANALYZE_DEFINITIONS_H
#define BRAID_ANALYZE_DEFINITIONS_H

#include "state.h"

/* Takes a definition: 0, or -ENOMEM. 1: the record is none. */
int definition_feed(struct analyzer *a, const struct trace_rec *rec);

/* Stores the string and returns its id in a->strings. 0 or -ENOMEM. */
int analyzer_keep(struct analyzer *a, struct trace_str s, uint32_t *id);

/* The name with this id in the trace, or the empty name: ids in a->strings. */
uint32_t analyzer_name_of(const struct analyzer *a, uint32_t id);

/* The row of `id`, created when it is new. NULL sets *err: 0 for an invalid id, which is counted, or -ENOMEM. */
void *analyzer_define(struct analyzer *a, struct table *t, uint32_t id, int *err);

#endif
