// SPDX-License-Identifier: Apache-2.0
/*
 * The agent's own state, which all its files may use.
 *
 * A handler that publishes runs between agent_enter_event and agent_leave: while any handler is inside, the ring stays
 * mapped and the environment valid. Handlers run on any thread, several at once. Handlers of GC and class unload events
 * neither allocate nor lock nor use JNI.
 */
#ifndef BRAID_AGENT_STATE_H
#define BRAID_AGENT_STATE_H

#include "link.h"
#include "options.h"
#include "publish.h"
#include "ring.h"

#include "jvm.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum agent_state {
	AGENT_DORMANT,	 /* no environment, so no event and no capability; no thread, no descriptor, no ring */
	AGENT_CONNECTED, /* a collector has granted a ring */
};

struct agent {
	JavaVM *vm;
	jvmtiEnv *jvmti; /* one connection's; NULL: none. Changes while no handler is active */
	jint jvmti_version;
	bool bci_locations; /* a jlocation is a byte code index */

	/* For connecting and disconnecting; a handler that is inside never takes it. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum agent_state state;

	/* One connection; written while no handler is active. */
	struct options options;
	struct link link;
	struct ring *ring; /* allocated per connection: handlers that never return keep theirs */
	enum braid_start start;
	uintptr_t generation; /* counts connections */
	uint64_t joined_ns;

	_Atomic bool active;	 /* handlers may publish */
	_Atomic bool ending;	 /* a thread is in VM death: the helper waits for no room */
	_Atomic bool dead;	 /* VM death has passed: no JVM TI, no JNI */
	_Atomic uint32_t inside; /* number of handlers */
	_Atomic bool end_taken;	 /* set by the thread that disconnects: the helper, or one that finds no helper */
	_Atomic uint32_t helper_tid;

	/* Counts of what this connection published, for REPLAYED. */
	_Atomic uint32_t code_loads;
	_Atomic uint32_t stubs;
	_Atomic uint32_t threads;

	uint64_t held[2];	       /* capabilities, see held.h */
	_Atomic uint64_t code_unloads; /* over the life of the VM; the kernel side reads it at every sample */
};

extern struct agent agent;

bool agent_enter(void);
/* For a handler. False also when the event's environment was given back while the event was on its way. */
bool agent_enter_event(jvmtiEnv *env);
void agent_leave(void);
/* Deallocates memory that JVM TI allocated; NULL is allowed. */
void agent_release(void *p);
/* Prints to standard error when the agent is verbose. */
void agent_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void agent_be_verbose(void);

#endif
