// SPDX-License-Identifier: Apache-2.0
/* The agents' side of a recording: attaching them, granting them rings, draining those. */
#ifndef BRAID_AGENTS_AGENTS_H
#define BRAID_AGENTS_AGENTS_H

#include "link.h"
#include "process/processes.h"

#include <braid/ring.h>

struct agents;

int agents_new(struct agents **out, const struct agents_env *env);
void agents_free(struct agents *a);

/* Attaches to a JVM that runs already; what it cannot do it says in a notice. The result comes later, through the loop.
 */
int agents_attach(struct agents *a, pid_t pid);

/*
 * Prepares a place that JVMs started by this process find the agent in: *option is the -agentpath argument for them
 * (owned by `a`).
 */
int agents_prepare(struct agents *a, const char **option);

/* Attaches to processes that turned out to be JVMs since the last call. */
void agents_discover(struct agents *a);

/* Reads everything that the rings hold, see link_drain(). */
void agents_drain(struct agents *a);

/* The same, of one JVM's ring: for what was published before the event at hand. */
void agents_catch_up(struct agents *a, const struct process *process);

/* The process has ended: what its agent has said is complete, and what was kept of that is freed. */
void agents_forget(struct agents *a, struct process *process);

/* An agent that is being attached has not come in yet. */
bool agents_expected(const struct agents *a);

/*
 * Some agent has only just connected to a JVM whose layout could not be read from outside: until the agent's ring,
 * which has it, is read, stacks of the JVM are not walked.
 */
bool agents_eager(const struct agents *a);

/* Some ring may hold more than was read last: it is to be read when signals and other sources have had their turn. */
bool agents_behind(const struct agents *a);

/* Tells every agent to stop, waits a moment for the answers, drains what is left. */
void agents_stop(struct agents *a);

/*
 * The command goes on without the recording. True when the library has to stay for JVMs that it may still start:
 * they inherit the option (`inherited`), or the command is a JVM that has not loaded it yet. `path` is where.
 */
bool agents_leave(struct agents *a, pid_t command, bool inherited, char *path, size_t size);

/* What the kernel side has told so far has been read, too: what needs both is told. `final`: no more will come. */
void agents_settle(struct agents *a, bool final);

/* ---- changes while recording ---- */

struct agent_state {
	bool connected; /* false: it was */
	struct braid_event_config config;
	uint32_t refused; /* of config.enabled: what the JVM cannot have, by the agent's last word */
	bool silent;	  /* the agent has not answered the last choices yet */
};

/* The agent of a process; false when there never was one. */
bool agents_state(const struct agents *a, const struct process *process, struct agent_state *state);

/* Sends new choices, or asks for something to be done. 0, -ENOENT: no agent; -EPIPE: it is gone; or what send() said.
 */
int agents_configure(struct agents *a, const struct process *process, const struct braid_event_config *config);
int agents_command(struct agents *a, const struct process *process, enum braid_command command);

size_t agents_connected(const struct agents *a);
/* A sentence for every JVM that could not be given an agent. */
void agents_each_refusal(const struct agents *a, void (*fn)(const char *text));
/* That of one process; NULL: nobody refused. */
const char *agents_refusal(const struct agents *a, pid_t pid);

#endif
