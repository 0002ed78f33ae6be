// SPDX-License-Identifier: Apache-2.0
/*
 * Records on their way into the ring. Three ways, by what may happen when the ring is full:
 *   publish_event       the record is dropped and counted
 *   publish_definition  the record waits in memory, in order, until the helper thread can put it into the ring
 *   publish_direct      neither: the caller keeps what it could not say
 * The first and the last neither allocate nor lock, and are what GC and class unload handlers may use.
 */
#ifndef BRAID_AGENT_PUBLISH_H
#define BRAID_AGENT_PUBLISH_H

#include "link.h"
#include "ring.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#define PART(pointer, bytes) ((struct iovec){.iov_base = (void *)(uintptr_t)(pointer), .iov_len = (bytes)})

uint64_t clock_ns(void);

/* The calling thread's OS id, asked of the kernel once per thread. Not for GC handlers: thread-local storage may
 * allocate. */
uint32_t self_tid(void);

/* The ring and spill of a new connection; called while no handler is active. */
void publish_start(struct ring *ring, const struct link *link, uint64_t spill_max_bytes);
/* Forgets them; what is still waiting is thrown away. Called when no handler is active any more. */
void publish_end(void);

/* Fills everything but `size`, with self_tid() and the time of now. */
void record_init(struct braid_rec *hdr, uint16_t kind, uint16_t flags);

/* Cuts a string to what a record may hold; *flags gets BRAID_REC_TRUNCATED then. NULL is empty. */
uint16_t string_cut(const char *s, uint16_t *flags);

/* Each sets the `size` of the braid_rec that parts[0] begins with, and returns false when the record got nowhere. */
bool publish_event(const struct iovec *parts, int count);
bool publish_definition(const struct iovec *parts, int count);
bool publish_direct(const struct iovec *parts, int count);

/* Counts `count` definitions of `kind` as lost without trying. */
void publish_lost(uint32_t kind, uint32_t count);

/* Puts what waits into the ring, as far as it goes. True when nothing waits any more. */
bool publish_flush(void);
/* How often all that waited has been put into the ring: what was refused for want of room may be tried again then. */
uint32_t publish_recoveries(void);
/* Counts what still waits as lost and throws it away. */
void publish_abandon(void);
/* Says what was lost since the last time. False when even that found no room: it is said next time. */
bool publish_losses(void);

/* Wakes the collector and waits a moment; false when that was done `limit_ms` times, or the collector has gone. */
bool publish_wait(uint32_t *turns, uint32_t limit_ms);
/* Lets the collector read what was said so far, for the little time that it needs. */
void publish_let_read(uint32_t limit_ms);

/* A line for a person, in the trace, and on standard error when the agent is verbose. */
void publish_notice(enum braid_severity severity, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
