// SPDX-License-Identifier: Apache-2.0
/*
 * What the agent of a JVM does to get a ring and to write to it, for programs that misuse both: the modes of this one,
 * and tests of their own.
 */
#ifndef HOSTILE_CLIENT_H
#define HOSTILE_CLIENT_H

#include <braid/ring.h>

#include <stddef.h>
#include <stdint.h>

/* A connection to the collector, and the ring that came by it. The writer is one thread at a time. */
struct grip {
	int sock, ring, wake, program; /* program: -1 when there is none */
	uint64_t bytes;		       /* of the ring */
	const volatile uint64_t *consumer;
	volatile uint64_t *producer;
	uint8_t *data;	  /* mapped twice in a row: no record is split */
	uint64_t written; /* bytes so far */
	/* Unless NULL, called while the ring stays full, and when it has been filled twice. */
	void (*saturated)(void);
};

_Noreturn void die(const char *what);
uint64_t now_ns(void);

/* Where the collector listens, of the agent's options: "[-agentpath:LIBRARY=]sock=PATH[,...]". */
void find_socket(const char *options);
int dial(void);
struct grip receive(int sock);
void grip_map(struct grip *g);
void grip_close(struct grip *g);
void wake(const struct grip *g);
/* The time and the thread of a record of this kind; the size is what put() has. */
struct braid_rec head(uint16_t kind, size_t size);
/* A record as it is; maps the ring, and waits for room. */
void put(struct grip *g, const void *record, size_t size);

#endif
