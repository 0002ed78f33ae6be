// SPDX-License-Identifier: Apache-2.0
/* Threads that were parked for a lock of java.util.concurrent: what the kernel side saw of their sleeps becomes LOCK.
 */
#ifndef BRAID_JVM_PARKED_H
#define BRAID_JVM_PARKED_H

#include "jvms.h"

#include <stdbool.h>

/*
 * Of a sleep as the kernel side has it, `to` filled in for BLOCKED. When it was for a lock that somebody owned, and
 * such are wanted, `to` is a LOCK with the lock's class. False when it is to be left out: too short for anything else.
 */
bool parked_explain(struct jvms *jvms, struct process *process, const struct braid_event_jvm_event *e,
		    struct trace_jvm_event *to);

/* Is contention for this class of blocker contention for a lock? `owned`: it had an owner when the sleep ended. */
bool parked_is_lock(const char *class, bool owned);

#endif
