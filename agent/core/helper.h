// SPDX-License-Identifier: Apache-2.0
/*
 * What others need of the helper, the agent's one thread, and what it hears of its collector. Its loop is in loop.c.
 */
#ifndef BRAID_AGENT_HELPER_H
#define BRAID_AGENT_HELPER_H

#include "state.h"

/* On the helper thread only: what the collector has said and is still to be done. */
struct received {
	enum link_message message; /* LINK_IDLE, or why the connection ends */
	struct braid_event_config config;
	uint32_t configures;  /* times that the choices were changed since they held; each is answered */
	bool program_changed; /* the program has */
	uint32_t commands;    /* bits of enum braid_command */
};

extern struct received received;

/* Around a connection: what wakes the helper. */
bool helper_open(void);
void helper_close(void);
/* Wakes the helper; fit for any handler that may publish definitions. */
void helper_kick(void);
bool helper_is_self(void);
/* Is it the helper's, which is none of the program's? */
bool helper_is_thread(jthread thread);
/* On the helper thread: waits until the ring has room again. Does nothing elsewhere. */
void helper_pace(void);
/* The hash code of its Thread, before it runs; 0: not known. */
void helper_own(jint hash);
jint helper_hash(jthread thread);
/* From the first STOP or hang-up on no handler publishes any more. What else is said is done later. */
void helper_receive(void);
/* Puts into the ring what waits for room: true when nothing does any more. */
bool helper_catch_up(void);
void helper_nap_ms(long ms);
/* From here on a kick is for what is done after this. */
void helper_busy(void);
/* Waits for the collector, for a kick, or for a moment when something is to be done soon. */
void helper_wait(bool soon);

#endif
