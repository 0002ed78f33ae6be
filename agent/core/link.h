// SPDX-License-Identifier: Apache-2.0
/* The socket to the collector: connecting, receiving the ring and messages, answering. It does not touch the JVM.
 * agent.c, loop.c and publish.c use it. */
#ifndef BRAID_AGENT_LINK_H
#define BRAID_AGENT_LINK_H

#include <braid/ring.h>

#include <stdbool.h>
#include <stdint.h>

#define LINK_WHY_MAX 192

struct link {
	int sock_fd;
	int ring_fd;
	int wake_fd;	      /* eventfd of the collector */
	int stack_request_fd; /* BPF program that walks the calling thread's stack; -1: none */
	uint64_t ring_bytes;
	struct braid_event_config config;
};

#define LINK_NONE ((struct link){.sock_fd = -1, .ring_fd = -1, .wake_fd = -1, .stack_request_fd = -1})

/*
 * Connects to the collector at `path`, checks its credentials, joins, and waits for the grant. All of this takes at
 * most `wait_ms`; a collector that is connected and runs gets `more_ms` more for the grant. Returns 0, or a negative
 * errno with the reason in `why`.
 */
int link_open(struct link *l, const char *path, uint32_t wait_ms, uint32_t more_ms, char why[LINK_WHY_MAX]);
void link_close(struct link *l);

enum link_message { LINK_IDLE, LINK_STOP, LINK_CLOSED, LINK_CONFIGURE, LINK_COMMAND };

/*
 * Receives a message, if there is one, without blocking. Fills in *message for CONFIGURE and COMMAND. Sets *replaced
 * when a CONFIGURE has brought another program.
 */
enum link_message link_receive(struct link *l, struct braid_grant *message, bool *replaced);

/* True when the collector has gone. Receives nothing; false before link_open. */
bool link_is_closed(const struct link *l);

/* Answers a CONFIGURE with the event types that can be recorded. */
void link_configured(const struct link *l, uint32_t types);

/* Reports that the agent writes nothing more. */
void link_stopped(const struct link *l);

/* Wakes the collector to drain the ring. Never blocks; every callback may call it. */
void link_wake(const struct link *l);

#endif
