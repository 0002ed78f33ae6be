// SPDX-License-Identifier: Apache-2.0
/*
 * The agent's side of the link, for programs that misuse it: it connects to the collector, gets a ring and writes to
 * it. The modes of the hostile program and tests use it.
 */
#ifndef HOSTILE_CLIENT_H
#define HOSTILE_CLIENT_H

#include <braid/ring.h>

#include <stddef.h>
#include <stdint.h>

/* A connection to the collector, and the ring that the collector sent over it. Only one thread at a time writes. */
struct grip {
	int sock, ring, wake, program; /* program is -1 when there is none */
	uint64_t bytes;		       /* of the ring */
	const volatile uint64_t *consumer;
	volatile uint64_t *producer;
	uint8_t *data;	  /* mapped twice in a row, so that no record is split */
	uint64_t written; /* bytes so far */
	/* Unless NULL: called while the ring stays full, and once it has been filled twice. */
	void (*saturated)(void);
};

_Noreturn void die(const char *what);
uint64_t now_ns(void);

/* Finds the collector's socket in the agent's options: "[-agentpath:LIBRARY=]sock=PATH[,...]". */
void find_socket(const char *options);
int dial(void);
struct grip receive(int sock);
void grip_map(struct grip *g);
void grip_close(struct grip *g);
void wake(const struct grip *g);
/* The time and the thread for a record of this kind. `size` is the one that put() takes. */
struct braid_rec head(uint16_t kind, size_t size);
/* Writes a record as it is. Maps the ring first if needed, and waits for room. */
void put(struct grip *g, const void *record, size_t size);

#endif
