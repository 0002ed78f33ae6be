// SPDX-License-Identifier: Apache-2.0
/* One agent at the other end of a socket, with its ring. */
#ifndef BRAID_COLLECT_LINK_H
#define BRAID_COLLECT_LINK_H

#include "process/processes.h"
#include "record/session.h"

struct link {
	struct session *session;
	struct source connection; /* fd -1: closed */
	struct source wake;
	int ring_fd;
	struct process *process;
	struct jvm *jvm; /* owned by the process */
	uint64_t since_ns;
	bool stopped; /* nothing more will come */
	bool damage_told;
	struct braid_choices choices; /* as the agent was told last */
	uint32_t held;		      /* of them: what the JVM can have, as the agent has said */
	uint32_t unanswered;	      /* choices that it has said nothing about so far */
	int demand_fd;		      /* the program that it was given last; negative: none */
	struct link *next;
};

/*
 * A ring for the agent in `process`, at the other end of `fd`, which is the link's from here on. The process has the
 * link's JVM then, but the caller forgets an earlier link of it first: link_watch() makes the new one known.
 */
int link_open(struct link **out, struct session *s, struct process *process, int fd);
int link_watch(struct link *l);

/* Both are NULL-safe; a closed link keeps what was read of it. */
void link_close(struct link *l);
void link_free(struct link *l);

/* Reads everything that the ring holds. */
void link_drain(struct link *l);

/* From now on these choices hold. The agent says later what of them it can do. */
int link_choose(struct link *l, const struct braid_choices *choices);

/* Tells the agent. A negative errno when that is not possible. */
int link_say(struct link *l, const void *message, size_t size);

#endif
