// SPDX-License-Identifier: Apache-2.0
/* Checks and adds the targets of a recording. session.c calls this. */
#ifndef BRAID_RECORD_TARGETS_H
#define BRAID_RECORD_TARGETS_H

#include "command.h"
#include "session.h"

/* Whether these targets can be recorded from here. It reports failures itself, and changes nothing. */
int targets_check(const struct record_options *o);

/* Adds the processes that are named by their pids. It reports failures itself. */
int targets_add(struct processes *p, const struct record_options *o);

/* Whether nothing is left to be recorded: every target has ended, or all is done. */
bool targets_gone(const struct session *s, const struct command *command);

/* Says what outlives the recording, the command or what it has started, and lets it find the agent's library. */
void targets_leave(const struct session *s, struct command *command);

#endif
