// SPDX-License-Identifier: Apache-2.0
/* The command that a recording starts: held back until everything is ready for it. */
#ifndef BRAID_RECORD_COMMAND_H
#define BRAID_RECORD_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

struct command {
	pid_t pid;   /* 0: none */
	int gate_fd; /* closing it without a word cancels the command */
	bool ended;
	bool in_environment; /* the agent is, for all that it starts */
	int status;	     /* exit status as a shell counts it: 128 + n for signal n */
};

/* Can `program` be executed, by its path or by PATH? 0, or -1 with errno set. */
int command_find(const char *program);

/*
 * Forks; the child waits. When `agent_option` is given it is put into the command line if that calls `java`, and else
 * into JAVA_TOOL_OPTIONS, which JVMs further down inherit. With `stdout_taken` its standard output is this process's
 * standard error. Explains failures itself.
 */
int command_prepare(struct command *c, char **argv, const char *agent_option, bool stdout_taken);
int command_go(struct command *c);	/* lets it run: -errno when it could not be executed, explained */
void command_cancel(struct command *c); /* unless it runs already */
void command_reap(struct command *c);	/* after SIGCHLD; without blocking */
bool command_runs(struct command *c);
void command_interrupt(struct command *c); /* asks it to end, waits a little */

#endif
