// SPDX-License-Identifier: Apache-2.0
/*
 * Says which event types are missing of JVMs that have no agent, and of processes that are no JVMs. session.c calls
 * this.
 */
#ifndef BRAID_RECORD_AGENTLESS_H
#define BRAID_RECORD_AGENTLESS_H

#include "session.h"

/* Notes what it means for what is asked for if a target is no JVM. */
void agentless_no_jvm(struct session *s, pid_t pid);

/* With --no-attach: notes new JVMs, and what is missing of them. */
void agentless_tick(struct session *s);

/* Emits which JVMs have or had an agent. */
void agentless_stats(struct session *s);

/* At the end: notes that there was no JVM at all, if what is asked for needs one. */
void agentless_end(struct session *s);

#endif
