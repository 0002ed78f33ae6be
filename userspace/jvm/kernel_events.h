// SPDX-License-Identifier: Apache-2.0
/* The names in kernel events: what they were about, and what they did. Only jvm_events.c calls this. */
#ifndef BRAID_JVM_KERNEL_EVENTS_H
#define BRAID_JVM_KERNEL_EVENTS_H

#include "jvms.h"
#include "trace/record.h"

#include <braid/event.h>

#define KERNEL_EVENT_TEXT 192

/* Whether the kind of event is a kernel event's. */
bool kernel_events_are(uint32_t kind);

/* Completes the event; `text` has its text. False when it is not whole. */
bool kernel_events_explain(struct jvms *jvms, struct process *process, const struct braid_event_jvm_event *e,
			   struct trace_jvm_event *to, char text[KERNEL_EVENT_TEXT]);

#endif
