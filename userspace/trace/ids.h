// SPDX-License-Identifier: Apache-2.0
/*
 * Which fields of records are ids, and which are times, for what makes traces from traces. A record defines at most one
 * object, or describes one, and refers to others. 0 is no id and is never visited.
 */
#ifndef BRAID_TRACE_IDS_H
#define BRAID_TRACE_IDS_H

#include "record.h"
#include "util/vec.h"

enum trace_id_space {
	TRACE_ID_PROCESS,
	TRACE_ID_THREAD,
	TRACE_ID_MODULE,
	TRACE_ID_SYMBOL,
	TRACE_ID_METHOD,
	TRACE_ID_CODE,
	TRACE_ID_FRAME,
	TRACE_ID_NODE,
	TRACE_ID_PLACE,
	TRACE_ID_VTHREAD,
	TRACE_ID_NAME,
	TRACE_ID_SPAN,
	TRACE_ID_SPACES,
};

enum trace_id_role {
	TRACE_ID_DEFINED,   /* the record's own id */
	TRACE_ID_DESCRIBED, /* the record adds to what this id means, as a mapping does to its process */
	TRACE_ID_USED,
};

/* What identifies the object, as in the schema: "process", "thread", ... */
const char *trace_id_space_name(enum trace_id_space space);

/* Returns the id that takes the place of `id`. */
typedef uint32_t (*trace_id_fn)(void *ctx, enum trace_id_space space, enum trace_id_role role, uint32_t id);

/* Calls fn for each id of a record. */
void trace_ids_visit(const struct trace_rec *rec, trace_id_fn fn, void *ctx);

typedef VEC(struct trace_scope) trace_scopes;

/* The same, and replaces the ids. A frame's scopes are then in `scopes`, which the caller frees. 0 or -ENOMEM. */
int trace_ids_replace(struct trace_rec *rec, trace_scopes *scopes, trace_id_fn fn, void *ctx);

/* Moves a time on the clock of a trace; 0 is no time. */
void trace_time_shift(uint64_t *time_ns, int64_t by_ns);
/* Moves all of a record's. */
void trace_times_shift(struct trace_rec *rec, int64_t by_ns);

#endif
