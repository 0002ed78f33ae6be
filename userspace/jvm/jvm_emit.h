// SPDX-License-Identifier: Apache-2.0
/*
 * The only way of JVM events into the trace, whatever their source. It drops events that are not enabled. All files of
 * jvm/ use it.
 */
#ifndef BRAID_JVM_JVM_EMIT_H
#define BRAID_JVM_JVM_EMIT_H

#include "jvms.h"
#include "process/processes.h"

/* The event types enabled for a process now. Without a process, or without an agent in it, those for new JVMs. */
uint32_t jvm_events_enabled(const struct jvms *jvms, const struct process *process);

/* Emits the event if its type is enabled. Sets its process, which may be NULL. */
void jvm_events_emit(struct jvms *jvms, const struct process *process, struct trace_jvm_event *e);

#endif
