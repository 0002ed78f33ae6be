// SPDX-License-Identifier: Apache-2.0
/* Turns sleeps of threads that parked for a lock of java.util.concurrent into LOCK events. jvm_events.c calls this. */
#ifndef BRAID_JVM_PARKED_H
#define BRAID_JVM_PARKED_H

#include "jvms.h"

#include <stdbool.h>

/*
 * `to` is filled in as OFFCPU from an interval of the kernel side. If the thread waited for a lock with an owner, and
 * type lock is enabled, `to` becomes a LOCK with the lock's class. False: it did not, and `to` is unchanged.
 */
bool parked_explain(struct jvms *jvms, struct process *process, const struct braid_event_jvm_event *e,
		    struct trace_jvm_event *to);

/* The name of the blocker's class; 0: there is none, or not known. */
uint32_t parked_class(struct jvms *jvms, struct process *process, const struct braid_event_jvm_event *e);

/* Whether waiting for this class of blocker is lock contention. `owned`: it had an owner when the sleep ended. */
bool parked_is_lock(const char *class, bool owned);

#endif
