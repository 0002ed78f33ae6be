// SPDX-License-Identifier: Apache-2.0
/*
 * The producer's side of a BPF_MAP_TYPE_USER_RINGBUF, for many threads. Nothing here allocates, blocks on a lock that
 * sleeps, or calls into a JVM, except ring_open and ring_close: the rest is fit for every JVM TI callback.
 */
#ifndef BRAID_AGENT_RING_H
#define BRAID_AGENT_RING_H

#include <braid/ring.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* Four of the longest records: less than that would make a ring that big records can starve in. */
#define RING_MIN_BYTES (4U * BRAID_REC_MAX)
#define RING_MAX_BYTES (1U << 30)

#define RING_BUSY (1U << 31)	/* BPF_RINGBUF_BUSY_BIT */
#define RING_DISCARD (1U << 30) /* BPF_RINGBUF_DISCARD_BIT */
#define RING_HEADER_BYTES 8U	/* BPF_RINGBUF_HDR_SZ */

struct ring {
	/* Set by ring_open, constant afterwards */
	_Atomic uint64_t *consumer_pos; /* written by the kernel only */
	_Atomic uint64_t *producer_pos;
	uint8_t *data; /* mapped twice in a row: a record never has to be split */
	uint64_t size; /* bytes, a power of two */
	size_t page;

	/* Owned by the holder of `lock` */
	_Alignas(64) _Atomic uint32_t lock;
	bool above_quarter;
	uint64_t producer;	/* our own copy of *producer_pos */
	uint64_t consumer_seen; /* *consumer_pos as it was last read: never ahead of it */

	_Alignas(64) _Atomic uint32_t lost[BRAID_REC_KINDS];
};

/* Maps the ring behind `fd`, laid out as the kernel does, `size` data bytes. -EINVAL when size cannot be right. */
int ring_open(struct ring *r, int fd, uint64_t size);
void ring_close(struct ring *r);

/*
 * Publishes one record, gathered from `parts` (at most BRAID_REC_MAX bytes altogether). False when the ring has no room
 * or the record is too long. *wake is set when this record made the ring a quarter full: the caller then tells the
 * consumer.
 */
bool ring_publish(struct ring *r, const struct iovec *parts, int count, bool *wake);

/* Bytes that are free right now, as far as a single look can tell. */
uint64_t ring_free_bytes(struct ring *r);

/* How far the consumer has got. */
uint64_t ring_consumed(const struct ring *r);
/* How far producers have got; the same number when the consumer has read everything that was reserved so far. */
uint64_t ring_produced(const struct ring *r);

/* What could not be published, by kind; ring_lost_take returns the count and starts again at 0. */
void ring_lost_add(struct ring *r, uint32_t kind, uint32_t count);
uint32_t ring_lost_take(struct ring *r, uint32_t kind);

#endif
