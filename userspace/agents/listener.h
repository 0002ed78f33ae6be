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
#include "util/vec.h"

#define LISTENER_SILENCE_NS 3000000000ULL /* longer than the child needs to report a delay */

struct listener;

/* A child whose listener needs it no longer. It has the user id of its JVM, whose processes can stop it. */
struct leaving {
	pid_t child;
	uint64_t until_ns;   /* then it is killed */
	struct share *share; /* as a listener's */
};

/* All listeners of a recording, and their owner's callback. */
struct listeners {
	const struct agents_env *env;
	struct refusals *refusals;
	/*
	 * Accepts the agent of `process` at the other end of `fd`, and owns `fd` afterwards. `attached`: the JVM was
	 * already running. 0 or a negative errno.
	 */
	int (*accept)(void *ctx, struct process *process, int fd, bool attached);
	void *ctx;
	struct listener *list;
	VEC(struct leaving) leaving;
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
	uint32_t copies;     /* copies of the agent in the JVM that were tried */
	pid_t pid;	     /* 0: any process of the launched command */
	struct share *share; /* of its process's user, while it takes part of the pool; or NULL */
	struct listener *next;
};

/* Whether one more JVM of the process's user may be attached to at the same time. */
bool listener_has_room(const struct process *p);

/* Listens for the agent of one JVM, or with pid 0 for those of all. On failure `why` may have a reason. */
int listener_open(struct listeners *a, pid_t pid, struct listener **out, char *why);

/* Tries the next copy of the agent that is already in the JVM. When none is left, the JVM loads a new one. */
int listener_try(struct listener *d, char *why);

/* Stops accepting, lets the child end and removes the staged files. */
void listener_close(struct listener *d);

/* Reaps the children that have ended, and kills those that have not ended in time. To be called at each tick. */
void listeners_reap(struct listeners *a);
/* Waits for those of all closed listeners, as long as for one. */
void listeners_end(struct listeners *a);

/* Gives up an agent that was loaded but has not connected within `limit_ns`. */
void listener_give_up(struct listener *d, uint64_t limit_ns);

/* Reports a child that has reported nothing within `limit_ns`: processes of its JVM's user can stop it. */
void listener_mention_silence(struct listener *d, uint64_t limit_ns);

/* Whether the JVM is so young that its options may still load the agent, and it may not accept attach requests yet. */
bool listener_may_be_starting(const struct process *p);

#endif
