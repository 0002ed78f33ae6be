// SPDX-License-Identifier: Apache-2.0
/* The one way of a JVM's events into the trace, whoever has seen them. */
#ifndef BRAID_JVM_JVM_EMIT_H
#define BRAID_JVM_JVM_EMIT_H

#include "jvms.h"
#include "process/processes.h"

/* The kinds (BRAID_EVENT_TYPE) that are wanted of a process now; NULL: of what is no JVM with an agent. */
uint32_t jvm_events_enabled(const struct jvms *jvms, const struct process *process);

/* Nothing happens when its kind is not enabled. Fills in the process, which may be NULL. */
void jvm_events_emit(struct jvms *jvms, const struct process *process, struct trace_jvm_event *e);

#endif
