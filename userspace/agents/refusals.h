// SPDX-License-Identifier: Apache-2.0
/*
 * The JVMs without an agent, and why. A reason becomes a notice at once, and is repeated in the summary unless the
 * agent has connected since, or its user has too many there. agents.c and listener.c call this.
 */
#ifndef BRAID_AGENTS_REFUSALS_H
#define BRAID_AGENTS_REFUSALS_H

#include "sink/sink.h"

#include <braid/event_config.h>

#include <sys/types.h>

struct processes;

struct refusals {
	struct sink *sink;
	struct processes *processes;
	const struct braid_event_config *config; /* what is asked for */
	struct refusal *list;
};

/* Replaces an earlier reason. No warning if the JVM has ended. */
void refusals_add(struct refusals *r, pid_t pid, const char *why);
/* The same for a JVM that may still load the agent. */
void refusals_add_delay(struct refusals *r, pid_t pid, const char *why);
/* To be called when the agent has connected. */
void refusals_forget(struct refusals *r, pid_t pid);

/* A sentence; NULL: no reason is known. */
const char *refusals_of(const struct refusals *r, pid_t pid);
void refusals_each(const struct refusals *r, void (*fn)(const char *text));
void refusals_free(struct refusals *r);

#endif
