// SPDX-License-Identifier: Apache-2.0
/*
 * The helper thread's mailbox: what wakes it, what it has received from the collector, and how it waits. Handlers may
 * kick it; loop.c runs it.
 */
#ifndef BRAID_AGENT_HELPER_H
#define BRAID_AGENT_HELPER_H

#include "state.h"

/* What the collector has sent and the helper has not done yet. For the helper thread only. */
struct received {
	enum link_message message; /* LINK_IDLE, or why the connection ends */
	struct braid_event_config config;
	uint32_t configures;  /* CONFIGURE messages not yet applied; each is answered */
	bool program_changed; /* one of them brought another BPF program */
	uint32_t commands;    /* bits of enum braid_command */
};

extern struct received received;

/* Create and close the descriptor that wakes the helper, once per connection. */
bool helper_open(void);
void helper_close(void);
/* Wakes the helper. Any handler that may publish definitions may call it. */
void helper_kick(void);
bool helper_is_self(void);
/* True if `thread` is the helper's own Thread, which is not the program's. */
bool helper_is_thread(jthread thread);
/* Waits on the helper thread until the ring has room again. Returns at once on other threads. */
void helper_pace(void);
/* Sets the hash code of the helper's Thread before it runs; 0: not known. */
void helper_own(jint hash);
jint helper_hash(jthread thread);
/* Receives at most one message. The first STOP or hang-up keeps handlers from publishing; all else is done later. */
void helper_receive(void);
/* Puts losses and spilled records into the ring. True when no spilled record is left. */
bool helper_catch_up(void);
void helper_nap_ms(long ms);
/* A kick after this call ends the next wait. */
void helper_busy(void);
/* Waits for a message or a kick, at most 1 s, or 1 ms when `soon`. */
void helper_wait(bool soon);

#endif
