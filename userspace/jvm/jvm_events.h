// SPDX-License-Identifier: Apache-2.0
/*
 * JVM events that the kernel side has sent, from agents, probes and the kernel: resolves their threads and names, and
 * emits them. record/ calls this.
 */
#ifndef BRAID_JVM_JVM_EVENTS_H
#define BRAID_JVM_JVM_EVENTS_H

#include "jvms.h"
#include "process/processes.h"

/*
 * True when everything that the event refers to is known. Its definitions enter the ring of its JVM's agent before the
 * event is sent, so if this is false, that ring is to be drained first.
 */
bool jvm_events_ready(struct jvms *jvms, struct process *process, const struct braid_event_jvm_event *e);

/* Its stacks, as nodes in the trace; 0: none. */
struct event_nodes {
	uint32_t own;
	uint32_t span;	 /* if the collector has found it; 0: that of the event's key */
	uint32_t other;	 /* of jvm_events_other() */
	uint32_t object; /* id of the name of what was waited for, if the collector has found it */
};

/* The process of the thread that released the lock, woke the thread, or is waited for. NULL: none, or not recorded. */
struct process *jvm_events_other(struct jvms *jvms, struct process *process, const struct braid_event_jvm_event *e);

/* Emits an event of `process`. Unknown parts are left out. */
void jvm_events_receive(struct jvms *jvms, struct process *process, const struct braid_event_jvm_event *e,
			const struct event_nodes *nodes);

#endif
