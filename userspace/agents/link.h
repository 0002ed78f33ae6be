// SPDX-License-Identifier: Apache-2.0
/* One agent at the other end of a socket, with its ring. */
#ifndef BRAID_AGENTS_LINK_H
#define BRAID_AGENTS_LINK_H

#include "jvm/jvms.h"
#include "process/processes.h"
#include "sink/sources.h"

/* What agents need of a recording. */
struct agents_env {
	struct jvms *jvms;
	struct sources *sources;
	struct sideband *sideband;
	void (*read_events)(void *ctx); /* all that wait: what is done next changes what they refer to */
	void *ctx;
};

struct link {
	const struct agents_env *env;
	struct source connection; /* fd -1: closed */
	struct source wake;
	int ring_fd;
	struct process *process;
	struct jvm *jvm; /* owned by the process */
	uint64_t since_ns;
	bool stopped; /* nothing more will come */
	bool damage_reported;
	uint64_t asleep_ns; /* its wake-ups were too many; 0: they are listened to */
	bool put_off;	    /* its process has spent its budget */
	bool behind;	    /* its ring may hold more than was read last */
	const struct ring_positions *positions;
	struct braid_event_config config; /* as the agent was told last */
	uint32_t held;			  /* of them: what the JVM can have, as the agent has said */
	uint32_t unanswered;		  /* choices that it has said nothing about so far */
	int stack_request_fd;		  /* the program that it was given last; negative: none */
	struct link *next;
};

/*
 * A ring for the agent in `process`, at the other end of `fd`, which is the link's from here on. The link's JVM is the
 * process's, if that has had no agent so far, or a new one for the process, whose earlier link the caller forgets
 * first; link_watch() makes the new one known.
 */
int link_open(struct link **out, const struct agents_env *env, struct process *process, int fd);
int link_watch(struct link *l);

/* Both are NULL-safe; a closed link keeps what was read of it. */
void link_close(struct link *l);
void link_free(struct link *l);

/*
 * Reads everything that the ring holds, and no more than it can hold: what comes meanwhile is for the next time. When
 * its process has spent its budget, nothing.
 */
void link_drain(struct link *l);
/* The same, whatever was spent: nothing is read of it any more after this. */
void link_drain_last(struct link *l);
/* Wake-ups that were too many are listened to again. */
void link_tick(struct link *l);

/* From now on these choices hold. The agent says later what of them it can do. */
int link_configure(struct link *l, const struct braid_event_config *config);

/* Tells the agent. A negative errno when that is not possible. */
int link_send(struct link *l, const void *message, size_t size);

#endif
