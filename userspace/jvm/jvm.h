// SPDX-License-Identifier: Apache-2.0
/* One JVM with an agent: what its records have told so far. */
#ifndef BRAID_COLLECT_JVM_H
#define BRAID_COLLECT_JVM_H

#include "jvm/code_map.h"
#include "process/processes.h"
#include "record/session.h"

struct jvm;

/* A JVM whose ring is `slot`. NULL: out of memory. */
struct jvm *jvm_new(struct session *s, struct process *process, uint32_t slot, uint32_t generation);
void jvm_free(struct jvm *j);
/* Its agent is connected. */
void jvm_joined(struct jvm *j);
/* What is recorded of it from now on: bits of braid_choices.wanted. */
void jvm_choose(struct jvm *j, uint32_t wanted);
uint32_t jvm_slot(const struct jvm *j);
uint32_t jvm_generation(const struct jvm *j);

/* Applies a record that came through the ring; `size` bytes are there. Anything in it may be wrong. */
void jvm_record(struct jvm *j, const struct braid_rec *rec, size_t size);

/* The kernel side met a Method on a stack and read what it is called. To be told in the order of the samples. */
void jvm_method_seen(struct jvm *j, const struct braid_event_method *e);

/*
 * What a code-cache or interpreted frame means; fills code, scopes of *f. False: not known yet, ask again. `code_id` is
 * what the frame says about the code's compile id, 0: nothing.
 */
bool jvm_resolve_code(struct jvm *j, uint64_t pc, bool exact, uint32_t code_id, uint64_t time_ns,
		      struct trace_frame *f);
void jvm_resolve_interpreted(struct jvm *j, uint64_t method, uint32_t bci, struct trace_frame *f);

/* Of the code that a return address is in: its method's name, and its compile id. False: not known (yet). */
bool jvm_code_name(const struct jvm *j, uint64_t pc, uint32_t code_id, uint64_t time_ns, char *to, size_t size,
		   uint32_t *compile_id);

/* Frames that jvm_resolve_code() could not name: resolved when their record comes, or from the JVM's memory if it does
 * not. */
void jvm_defer(struct jvm *j, const struct trace_frame *f, uint32_t code_id, uint64_t time_ns);
/* `final`: no more records will come. */
void jvm_tick(struct jvm *j, uint64_t time_ns, bool final);

bool jvm_replayed(const struct jvm *j);	   /* everything older than the agent has been told */
bool jvm_layout_told(const struct jvm *j); /* the kernel side can walk its stacks, or never will */
void jvm_emit_stats(struct jvm *j);

#endif
