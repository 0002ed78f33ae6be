// SPDX-License-Identifier: Apache-2.0
/*
 * The link to one agent: its connection, its ring and the budgets of reading it. Records go to jvm/; agents.c calls it.
 */
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
	void (*read_events)(void *ctx); /* reads all waiting events, before a change of what they refer to */
	bool (*hurried)(void *ctx);	/* while agents are being stopped: a signal has asked for the end again */
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
	bool attached; /* to a JVM that was already running */
	bool stopped;  /* no more records come */
	bool damage_reported;
	uint64_t asleep_ns; /* since when its wake-ups are ignored, as too many; 0: they are not */
	bool put_off;	    /* its process has spent its budget */
	bool behind;	    /* its ring may hold more than was read last */
	const struct ring_positions *positions;
	struct braid_event_config config; /* as last sent to the agent */
	uint32_t held;			  /* of config: what the JVM can have, as the agent has reported */
	uint32_t unanswered;		  /* configurations that it has not confirmed yet */
	int stack_request_fd;		  /* the program that was sent to it last; negative: none */
	struct link *next;
};

/*
 * Creates a ring for the agent in `process` at the other end of `fd`, which the link owns afterwards. The link uses the
 * process's JVM if that has had no agent yet, else a new one: the caller then sets that, and forgets the earlier link.
 * The agent begins to report with link_grant(). link_watch() puts the link into the event loop.
 */
int link_open(struct link **out, const struct agents_env *env, struct process *process, int fd);
int link_grant(struct link *l);
int link_watch(struct link *l);

/* Both accept NULL. A closed link keeps what was read from it. */
void link_close(struct link *l);
void link_free(struct link *l);

/*
 * Reads what the ring holds, and at most its size: later records wait for the next call. Reads nothing when the process
 * has spent its budget.
 */
void link_drain(struct link *l);
/* The same, without a budget. Nothing is read from the ring afterwards. */
void link_drain_last(struct link *l);
/* Watches wake-ups again that were ignored as too many. */
void link_tick(struct link *l);

/* Sends a new event configuration. The agent reports later which part of it the JVM can have. */
int link_configure(struct link *l, const struct braid_event_config *config);

/*
 * How long the agent may take to answer when it is stopped, on a machine with `runnable` runnable threads per CPU. What
 * it says of itself is not trusted once `hurried`.
 */
uint64_t link_stop_wait_ns(const struct link *l, bool hurried, uint32_t runnable);

/* Sends a message to the agent, or returns a negative errno. */
int link_send(struct link *l, const void *message, size_t size);

#endif
