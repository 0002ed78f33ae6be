// SPDX-License-Identifier: Apache-2.0
/* One JVM: where it keeps things, and what its agent's records have told so far, when it has one. */
#ifndef BRAID_JVM_JVM_H
#define BRAID_JVM_JVM_H

#include "code_map.h"
#include "jvms.h"
#include "process/processes.h"

struct jvm;

/* A JVM that has a slot of the kernel side. NULL: out of memory. */
struct jvm *jvm_new(struct jvms *jvms, struct process *process, uint32_t slot, uint32_t generation);
/* One with a slot of its own. */
int jvm_open(struct jvm **out, struct jvms *jvms, struct process *process);
void jvm_free(struct jvm *j);
/* Gives its slot back when its process has ended and no agent's last words are expected. */
void jvm_rest(struct jvm *j);
/* Its agent is connected, or not any more. */
void jvm_joined(struct jvm *j, uint64_t since_ns);
void jvm_left(struct jvm *j);
bool jvm_had_agent(const struct jvm *j);

/*
 * What its library says in its memory, for JVMs whose agent has not come, or never will. `old`: what changes while a
 * JVM starts does so no more.
 */
void jvm_set_layout(struct jvm *j, const struct braid_layout *l, const struct braid_statics *v);
void jvm_layout_grow(struct jvm *j, bool old);
/* As it is now; NULL: not known. */
const struct braid_layout *jvm_layout(struct jvm *j);
/* What is recorded of it from now on: bits of braid_event_config.wanted. */
void jvm_configure(struct jvm *j, uint32_t enabled);
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
void jvm_add_pending(struct jvm *j, const struct trace_frame *f, uint32_t code_id, uint64_t time_ns);
/* `final`: no more records will come. */
void jvm_tick(struct jvm *j, uint64_t time_ns, bool final);

bool jvm_layout_known(const struct jvm *j); /* the kernel side can walk its stacks, or never will */
void jvm_emit_stats(struct jvm *j);
/* Events that found no room in its share of the event ring, since the last time. */
void jvm_emit_lost(struct jvm *j);
/* The same of processes that have no slot for a JVM. */
void jvms_emit_lost(struct jvms *jvms);

#endif
