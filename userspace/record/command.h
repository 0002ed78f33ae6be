// SPDX-License-Identifier: Apache-2.0
/*
 * The command that a recording launches. A forked child holds it back until sampling has begun. session.c and targets.c
 * call this.
 */
#ifndef BRAID_RECORD_COMMAND_H
#define BRAID_RECORD_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

struct command {
	pid_t pid;   /* 0: none */
	int gate_fd; /* closing it without a write cancels the command */
	bool ended;
	bool in_environment; /* the agent is in the environment, for all JVMs that the command starts */
	int status;	     /* as a shell counts it: 128 + n for signal n */
};

/* Whether `program` can be executed, by its path or through PATH: 0, or -1 with errno set. */
int command_find(const char *program);

/*
 * Forks a child that waits. `agent_option`, if given, goes into the command line of `java`, and otherwise into
 * JAVA_TOOL_OPTIONS, which JVMs further down inherit. With `stdout_taken` the child's standard output is this process's
 * standard error. It reports failures itself.
 */
int command_prepare(struct command *c, char **argv, const char *agent_option, bool stdout_taken);
int command_go(struct command *c);	/* starts it; a failed exec is reported, and its -errno returned */
void command_cancel(struct command *c); /* has no effect once it runs */
void command_reap(struct command *c);	/* to be called after SIGCHLD; does not block */
bool command_runs(struct command *c);
void command_interrupt(struct command *c); /* sends SIGTERM and waits a little */

#endif
