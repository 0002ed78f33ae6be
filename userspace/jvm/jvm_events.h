// SPDX-License-Identifier: Apache-2.0
/* Events of JVMs as the kernel side has sent them: from agents, from probes, from the kernel. */
#ifndef BRAID_JVM_JVM_EVENTS_H
#define BRAID_JVM_JVM_EVENTS_H

#include "jvms.h"
#include "process/processes.h"

/*
 * Is all known that the event refers to? What defines it is in the ring of its JVM's agent before the event is sent:
 * if this is false that is to be read first.
 */
bool jvm_events_ready(struct jvms *jvms, struct process *process, const struct braid_event_jvm_event *e);

/* Its stacks, as the trace has them; 0: none. */
struct event_nodes {
	uint32_t own;
	uint32_t other; /* of jvm_events_other() */
};

/* The process of the thread that let go, woke, or is waited for; NULL: there is none, or it is not recorded. */
struct process *jvm_events_other(struct jvms *jvms, struct process *process, const struct braid_event_jvm_event *e);

/* `process` is the one that it is of. What is not known is left out. */
void jvm_events_receive(struct jvms *jvms, struct process *process, const struct braid_event_jvm_event *e,
			const struct event_nodes *nodes);

#endif
