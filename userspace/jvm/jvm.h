// SPDX-License-Identifier: Apache-2.0
/*
 * One JVM: its layout, and the state that its agent's records have built up, if it has an agent. agents/ passes records
 * in; record/ asks what frames mean; layouts.c sets the layout. The implementation is in the jvm_*.c files.
 */
#ifndef BRAID_JVM_JVM_H
#define BRAID_JVM_JVM_H

#include "code_map.h"
#include "jvms.h"
#include "process/processes.h"

struct jvm;

/* A JVM with a slot of the kernel side that the caller has reserved. NULL without memory. */
struct jvm *jvm_new(struct jvms *jvms, struct process *process, uint32_t slot, uint32_t generation);
/* A JVM that reserves its own slot. */
int jvm_open(struct jvm **out, struct jvms *jvms, struct process *process);
void jvm_free(struct jvm *j);
/* Releases the slot, if the process has ended and no final records of its agent are expected. */
void jvm_rest(struct jvm *j);
/* Its agent has connected, or disconnected. */
void jvm_joined(struct jvm *j, uint64_t since_ns);
void jvm_left(struct jvm *j);
bool jvm_had_agent(const struct jvm *j);

/*
 * Sets the layout that was read from its library's memory, for a JVM whose agent has not connected, or never will.
 * `old`: what changes while a JVM starts no longer changes.
 */
void jvm_set_layout(struct jvm *j, const struct braid_layout *l, const struct braid_statics *v);
void jvm_layout_grow(struct jvm *j, bool old);
/* The present layout; NULL: not known. */
const struct braid_layout *jvm_layout(struct jvm *j);
/* Sets what is recorded of it from now on: bits of braid_event_config.enabled. */
void jvm_configure(struct jvm *j, uint32_t enabled);
uint32_t jvm_slot(const struct jvm *j);
uint32_t jvm_generation(const struct jvm *j);

/* Applies a record of `size` bytes from the ring. Its content is untrusted. */
void jvm_record(struct jvm *j, const struct braid_rec *rec, size_t size);

/* The kernel side met a Method on a stack and read its names. To be called in the order of the samples. */
void jvm_method_seen(struct jvm *j, const struct braid_event_method *e);

/*
 * Resolves a code-cache frame, or an interpreted one; fills code and scopes of *f. False: not known yet, call again.
 * `code_id` is the part of the compile id that the frame contains; 0: none.
 */
bool jvm_resolve_code(struct jvm *j, uint64_t pc, bool exact, uint32_t code_id, uint64_t time_ns,
		      struct trace_frame *f);
void jvm_resolve_interpreted(struct jvm *j, uint64_t method, uint32_t bci, struct trace_frame *f);

/* The name of the method whose code a return address is in, and its compile id. False: not known (yet). */
bool jvm_code_name(const struct jvm *j, uint64_t pc, uint32_t code_id, uint64_t time_ns, char *to, size_t size,
		   uint32_t *compile_id);

/*
 * Adds a frame that jvm_resolve_code() could not resolve. It is resolved when the record of its code arrives, or else
 * from the JVM's memory.
 */
void jvm_add_pending(struct jvm *j, const struct trace_frame *f, uint32_t code_id, uint64_t time_ns);
/* `final`: no more records will come. */
void jvm_tick(struct jvm *j, uint64_t time_ns, bool final);

/* The same for what has outlived its JVM. `final`: nothing of what waits will be known later. */
void jvms_tick(struct jvms *jvms, bool final);

bool jvm_replayed(const struct jvm *j);	     /* the collector has read everything older than the agent */
bool jvm_code_is_known(const struct jvm *j); /* none that is older than its agent is missing; true for NULL */
bool jvm_layout_known(const struct jvm *j);  /* the kernel side can walk its stacks, or never will */
void jvm_emit_stats(struct jvm *j);
/* Emits losses of events beyond its share of the event ring since the last call. */
void jvm_emit_lost(struct jvm *j);
/* The same for processes without a slot for a JVM. */
void jvms_emit_lost(struct jvms *jvms);

#endif
