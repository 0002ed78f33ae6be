/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets at which agents connect: one for each JVM that is attached to, one for all that a command starts. A listener
 * stages the agent's library, starts the child that attaches, and hands each agent that connects to its owner. agents.c
 * is the only user.
 */
#ifndef BRAID_AGENTS_LISTENER_H
#define BRAID_AGENTS_LISTENER_H

#include "agents.h"
#include "refusals.h"

#include "attach/attach.h"

#define LISTENER_SILENCE_NS 3000000000ULL /* more than a child needs to say why it takes long */

struct listener;

/* All listeners of a recording, and whom they serve. */
struct listeners {
	const struct agents_env *env;
	struct refusals *refusals;
	/* Takes in the agent of `process` at the other end of `fd`, which is its own from here on. 0 or a negative errno. */
	int (*accept)(void *ctx, struct process *process, int fd);
	void *ctx;
	struct listener *list;
};

struct listener {
	struct listeners *owner;
	struct staging staging;
	struct source listening;
	struct source result; /* pipe from the attaching child; fd -1: none */
	pid_t child;
	uint64_t started_ns;  /* when the child was started */
	uint64_t attached_ns; /* when the JVM loaded the agent; 0: not yet */
	/* the JVM does not answer, or the child reports nothing: the recording does not wait for it */
	bool waits;
	uint32_t copies; /* copies of the agent in the JVM that were tried */
	pid_t pid;	 /* 0: any process of the launched command */
	struct listener *next;
};

/* Listens for the agent of one JVM, or with pid 0 of all. On failure `why` may say more than the negative errno. */
int listener_open(struct listeners *a, pid_t pid, struct listener **out, char *why);

/* Asks the next copy of the agent that is in the JVM already; when there is none left, the JVM loads another one. */
int listener_try(struct listener *d, char *why);

/* It accepts nobody any more, its child ends, its files are removed. */
void listener_close(struct listener *d);

/* Gives up an agent that was loaded but has not connected within `limit_ns`. It may have connected while this process did not run. */
void listener_give_up(struct listener *d, uint64_t limit_ns);

/* Reports a child that has not answered within `limit_ns`: it runs as its JVM's user, whose processes can stop it. */
void listener_mention_silence(struct listener *d, uint64_t limit_ns);

/* A JVM that is this young may have been started with the agent, and may not accept attach requests yet. */
bool listener_may_be_starting(const struct process *p);

#endif
