// SPDX-License-Identifier: Apache-2.0
/*
 * Turns raw stacks into nodes of the trace's stack tree. Every distinct frame is resolved once and every distinct path
 * is stored once. Only record/ calls this.
 */
#ifndef BRAID_RECORD_STACKS_H
#define BRAID_RECORD_STACKS_H

#include "session.h"
#include "process/processes.h"

int stacks_new(struct stacks **out, struct session *s);
void stacks_free(struct stacks *st);

/* The node of a sample: from its frames if it has them, otherwise by its hash. 0 when the stack is not known. */
uint32_t stacks_node(struct stacks *st, struct process *process, const struct braid_event_sample *e, bool *complete);

/* Sends frames again whose files had to be read first. To be called at each tick. */
void stacks_name_read(struct stacks *st);
/* To be called when a process is forgotten. */
void stacks_forget(struct stacks *st, const struct process *process);
/*
 * Looks up what takes long for the native frames so far, for at most `limit_ns`: names from debuginfod servers, and
 * source lines.
 */
void stacks_name_deferred(struct stacks *st, uint64_t limit_ns);

/* The node of a stack by its hash, for events that carry no frames. 0: not known. */
uint32_t stacks_known(struct stacks *st, const struct process *process, uint64_t hash);
/* A stack with only its cause (enum braid_end). */
uint32_t stacks_end(struct stacks *st, struct process *process, uint32_t cause, uint64_t time_ns);

/* Distinct stacks seen. Those met again after a renewal count again. */
uint64_t stacks_count(const struct stacks *st);
/* How often a table was full, so that all were cleared. */
uint64_t stacks_renewals(const struct stacks *st);

#endif
