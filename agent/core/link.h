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
	int wake_fd;   /* eventfd of the collector */
	int demand_fd; /* BPF program that walks the calling thread's stack; -1: none */
	uint64_t ring_bytes;
	struct braid_choices choices;
};

#define LINK_NONE ((struct link){.sock_fd = -1, .ring_fd = -1, .wake_fd = -1, .demand_fd = -1})

/*
 * Connects to the collector at `path`, checks who that is, joins, and waits for the grant; all of that within
 * `wait_ms`, and `more_ms` for the grant of a collector that is there, and not stopped. 0 or a negative errno with a
 * sentence in `why`.
 */
int link_open(struct link *l, const char *path, uint32_t wait_ms, uint32_t more_ms, char why[LINK_WHY_MAX]);
void link_close(struct link *l);

enum link_word { LINK_QUIET, LINK_STOP, LINK_GONE, LINK_CHOOSE, LINK_ACT };

/*
 * Has the collector said anything, or gone? Never blocks. *said is filled in for CHOOSE and ACT; *demand becomes true
 * when a CHOOSE has brought another program.
 */
enum link_word link_listen(struct link *l, struct braid_grant *said, bool *demand);

/* Has the collector gone? Takes nothing that it said; false before link_open too. */
bool link_is_gone(const struct link *l);

/* Tells the collector which of the choices can be had. */
void link_chosen(const struct link *l, uint32_t wanted);

/* Tells the collector that nothing will be written any more. */
void link_stopped(const struct link *l);

/* Tells the collector that there is something to drain. Never blocks; fit for every callback. */
void link_wake(const struct link *l);

#endif
