// SPDX-License-Identifier: Apache-2.0
/*
 * Records on their way into the ring. Handlers and the helper publish in one of three ways, by what a full ring means
 * for the record:
 *   publish_event       drops the record and counts the loss
 *   publish_definition  keeps the record in memory, in order, until the helper can put it into the ring
 *   publish_direct      does neither: the caller keeps the data
 * publish_event and publish_direct neither allocate nor lock, so GC and class unload handlers may use them.
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

/* The calling thread's OS id, cached per thread. Not for GC handlers: the first use of thread-local storage may
 * allocate. */
uint32_t self_tid(void);

/* Sets the ring and the spill limit of a new connection, while no handler is active. */
void publish_start(struct ring *ring, const struct link *link, uint64_t spill_max_bytes);
/* Forgets them and discards what still waits, while no handler is active. */
void publish_end(void);

/* Fills in everything but `size`, with self_tid() and the current time. */
void record_init(struct braid_rec *hdr, uint16_t kind, uint16_t flags);

/* The length of a string, at most what a record may hold; a longer one sets BRAID_REC_TRUNCATED in *flags. NULL is
 * empty. */
uint16_t string_cut(const char *s, uint16_t *flags);

/* Each sets `size` of the braid_rec at the start of parts[0]. False: the record is neither in the ring nor spilled. */
bool publish_event(const struct iovec *parts, int count);
bool publish_definition(const struct iovec *parts, int count);
bool publish_direct(const struct iovec *parts, int count);

/* Counts `count` records of `kind` as lost. */
void publish_lost(uint32_t kind, uint32_t count);

/* Puts spilled records into the ring while there is room. True when none is left. */
bool publish_flush(void);
/* Counts how often the spill has become empty: a definition that found no room may be tried again then. */
uint32_t publish_recoveries(void);
/* Counts the spilled records as lost and discards them. */
void publish_abandon(void);
/* Publishes the losses since the last call. False when the ring has no room: the next call reports them. */
bool publish_losses(void);

/* Wakes the collector and sleeps 1 ms. False after `limit_ms` calls, or when the collector has gone. */
bool publish_wait(uint32_t *turns, uint32_t limit_ms);
/* Waits, at most `limit_ms`, until the collector has read everything published so far. */
void publish_let_read(uint32_t limit_ms);

/* Publishes a line for a person; it also goes to standard error when the agent is verbose. */
void publish_notice(enum braid_severity severity, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
