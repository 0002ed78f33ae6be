// SPDX-License-Identifier: Apache-2.0
/* Raw stacks to nodes of the trace's stack tree: every distinct frame is named once, every distinct path stored once.
 */
#ifndef BRAID_RECORD_STACKS_H
#define BRAID_RECORD_STACKS_H

#include "session.h"
#include "process/processes.h"

int stacks_new(struct stacks **out, struct session *s);
void stacks_free(struct stacks *st);

/* The node of a sample: by its frames when it brings them, else by its hash. 0 when the stack is not known. */
uint32_t stacks_node(struct stacks *st, struct process *process, const struct braid_event_sample *e, bool *complete);

/*
 * Says of the native frames so far what takes time to find, names that debuginfod servers have and source lines, as
 * long as that takes no longer than `limit_ns`.
 */
void stacks_name_deferred(struct stacks *st, uint64_t limit_ns);

/* The same, of another event than a sample, which brings no frames. 0: not known. */
uint32_t stacks_known(struct stacks *st, const struct process *process, uint64_t hash);
/* A stack of which nothing is known but why (enum braid_end). */
uint32_t stacks_end(struct stacks *st, struct process *process, uint32_t cause, uint64_t time_ns);

/* Distinct stacks seen; those that were met again after a renewal count again. */
uint64_t stacks_count(const struct stacks *st);
/* How often a table was full, so that all of them began anew. */
uint64_t stacks_renewals(const struct stacks *st);

#endif
