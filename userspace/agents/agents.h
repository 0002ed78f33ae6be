// SPDX-License-Identifier: Apache-2.0
/*
 * The agents of a recording: attaches them, grants them rings and drains the rings. It owns listeners and links;
 * record/ calls it.
 */
#ifndef BRAID_AGENTS_AGENTS_H
#define BRAID_AGENTS_AGENTS_H

#include "link.h"
#include "process/processes.h"

#include <braid/ring.h>

struct agents;

int agents_new(struct agents **out, const struct agents_env *env);
void agents_free(struct agents *a);

/* Attaches to a running JVM. The result arrives later, through the event loop; a failure becomes a notice. */
int agents_attach(struct agents *a, pid_t pid);

/*
 * Stages the agent for JVMs that the launched command starts. *option, owned by `a`, is the -agentpath argument for
 * them.
 */
int agents_prepare(struct agents *a, const char **option);

/* Attaches to processes that turned out to be JVMs since the last call. */
void agents_discover(struct agents *a);

/* Drains all rings, see link_drain(). */
void agents_drain(struct agents *a);

/* Drains the ring of one JVM, so that what its agent published before the event at hand is known. */
void agents_catch_up(struct agents *a, const struct process *process);

/* To be called when the process has ended and all of its reports are read: completes them and frees the link. */
void agents_forget(struct agents *a, struct process *process);

/* True while an agent that is being attached has not connected. */
bool agents_expected(const struct agents *a);

/*
 * True when an agent has connected to a JVM whose layout could not be read from outside. The layout is in the agent's
 * ring, and the JVM's stacks are not walked before that is drained.
 */
bool agents_eager(const struct agents *a);

/* True when a ring may hold more than was read last. It is read after signals and other sources. */
bool agents_behind(const struct agents *a);

/* Stops every agent, waits briefly for the answers and drains the rest. */
void agents_stop(struct agents *a);

/*
 * For a command that goes on without the recording, or has `ended`, but perhaps not all that it started. True when the
 * library has to stay for JVMs that are still to start: they inherit the option (`inherited`), or the command is a JVM
 * that has not loaded it yet. `path` receives the library's path.
 */
bool agents_leave(struct agents *a, pid_t command, bool ended, bool inherited, char *path, size_t size);

/*
 * Emits what needs reports of both the agents and the kernel side, which has been read up to now. `final`: no more
 * come.
 */
void agents_settle(struct agents *a, bool final);

/* ---- changes while recording ---- */

struct agent_state {
	bool connected; /* false: it has been connected earlier */
	struct braid_event_config config;
	uint32_t refused; /* the part of config.enabled that the JVM cannot have, by the agent's last report */
	bool silent;	  /* the agent has not confirmed the last configuration yet */
};

/* The state of a process's agent. False: it never had one. */
bool agents_state(const struct agents *a, const struct process *process, struct agent_state *state);

/*
 * Sends a new event configuration, or a command. Returns 0, -ENOENT without an agent, -EPIPE when it has gone, or the
 * errno of send().
 */
int agents_configure(struct agents *a, const struct process *process, const struct braid_event_config *config);
int agents_command(struct agents *a, const struct process *process, enum braid_command command);

size_t agents_connected(const struct agents *a);
/* Calls back with a sentence for every JVM that has no agent. */
void agents_each_refusal(const struct agents *a, void (*fn)(const char *text));
/* The sentence for one process; NULL: none. */
const char *agents_refusal(const struct agents *a, pid_t pid);

#endif
