// SPDX-License-Identifier: Apache-2.0
/* JVMs without an agent, and why: said at once, and again in the summary unless the agent has come after all. */
#ifndef BRAID_AGENTS_REFUSALS_H
#define BRAID_AGENTS_REFUSALS_H

#include "sink/sink.h"

#include <sys/types.h>

struct processes;

struct refusals {
	struct sink *sink;
	struct processes *processes;
	struct refusal *list;
	uint32_t count;
};

/* The latest reason counts. */
void refusals_add(struct refusals *r, pid_t pid, const char *why);
/* The same of a JVM that may still take the agent. */
void refusals_add_delay(struct refusals *r, pid_t pid, const char *why);
/* The agent has come. */
void refusals_forget(struct refusals *r, pid_t pid);

/* A sentence; NULL: nothing is known against it. */
const char *refusals_of(const struct refusals *r, pid_t pid);
void refusals_each(const struct refusals *r, void (*fn)(const char *text));
void refusals_free(struct refusals *r);

#endif
