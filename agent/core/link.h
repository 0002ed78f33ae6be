// SPDX-License-Identifier: Apache-2.0
/* The socket to the collector: joining it, being granted a ring, hearing from it. No JVM in here. */
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
 * Connects to the collector at `path`, checks who that is, joins, and waits for the grant; all of that within
 * `wait_ms`, and `more_ms` for the grant of a collector that is there, and not stopped. 0 or a negative errno with a
 * sentence in `why`.
 */
int link_open(struct link *l, const char *path, uint32_t wait_ms, uint32_t more_ms, char why[LINK_WHY_MAX]);
void link_close(struct link *l);

enum link_message { LINK_IDLE, LINK_STOP, LINK_CLOSED, LINK_CONFIGURE, LINK_COMMAND };

/*
 * Has the collector said anything, or gone? Never blocks. *message is filled in for CONFIGURE and COMMAND; *replaced
 * becomes true when a CONFIGURE has brought another program.
 */
enum link_message link_receive(struct link *l, struct braid_grant *message, bool *replaced);

/* Has the collector gone? Takes nothing that it said; false before link_open too. */
bool link_is_closed(const struct link *l);

/* Tells the collector which of the choices can be had. */
void link_configured(const struct link *l, uint32_t types);

/* Tells the collector that nothing will be written any more. */
void link_stopped(const struct link *l);

/* Tells the collector that there is something to drain. Never blocks; fit for every callback. */
void link_wake(const struct link *l);

#endif
