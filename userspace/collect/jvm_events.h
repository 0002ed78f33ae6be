// SPDX-License-Identifier: Apache-2.0
/* Events of JVMs: from agents, from probes, from the kernel, all become one kind of record. */
#ifndef BRAID_COLLECT_JVM_EVENTS_H
#define BRAID_COLLECT_JVM_EVENTS_H

#include "process/processes.h"
#include "record/session.h"

/* One that the kernel side has sent. `process` is the one that it is of. */
void jvm_events_take(struct session *s, struct process *process, const struct braid_event_jvm *e);

/* One that the collector itself has made; it is told if its kind is wanted. Fills in the process, which may be NULL. */
void jvm_events_emit(struct session *s, const struct process *process, struct trace_jvm_event *e);

#endif
