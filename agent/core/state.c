// SPDX-License-Identifier: Apache-2.0
/* The agent's state and the gate for handlers; see state.h. */
#include "state.h"

#include <stdarg.h>
#include <stdio.h>

struct agent agent = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.changed = PTHREAD_COND_INITIALIZER,
	.link = {.sock_fd = -1, .ring_fd = -1, .wake_fd = -1, .stack_request_fd = -1},
};

static _Atomic bool verbose;

void agent_log(const char *fmt, ...)
{
	char text[512];
	va_list args;

	if (!atomic_load(&verbose))
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	fprintf(stderr, "braid agent: %s\n", text);
}

void agent_be_verbose(void)
{
	atomic_store(&verbose, true);
}

void agent_release(void *p)
{
	if (p)
		(*agent.jvmti)->Deallocate(agent.jvmti, p);
}

/*
 * Sequentially consistent on both sides: either the handler sees that `active` is false, or the disconnecting thread
 * sees the handler inside.
 */
bool agent_enter(void)
{
	atomic_fetch_add(&agent.inside, 1);
	if (atomic_load(&agent.active))
		return true;
	agent_leave();
	return false;
}

bool agent_enter_event(jvmtiEnv *env)
{
	if (!agent_enter())
		return false;
	if (env == agent.jvmti)
		return true;
	agent_leave();
	return false;
}

void agent_leave(void)
{
	atomic_fetch_sub(&agent.inside, 1);
}
