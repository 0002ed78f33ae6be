// SPDX-License-Identifier: Apache-2.0
/*
 * The producer's side of a BPF_MAP_TYPE_USER_RINGBUF, shared by many threads; publish.c writes records through it.
 * Except for ring_open and ring_close, nothing here allocates, sleeps on a lock or calls the JVM, so every JVM TI
 * callback may use it.
 */
#ifndef BRAID_AGENT_RING_H
#define BRAID_AGENT_RING_H

#include <braid/ring.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* Four of the longest records: a smaller ring could starve big records. */
#define RING_MIN_BYTES (4U * BRAID_REC_MAX)
#define RING_MAX_BYTES (1U << 30)

#define RING_BUSY (1U << 31)	/* BPF_RINGBUF_BUSY_BIT */
#define RING_DISCARD (1U << 30) /* BPF_RINGBUF_DISCARD_BIT */
#define RING_HEADER_BYTES 8U	/* BPF_RINGBUF_HDR_SZ */

struct ring {
	/* Constant after ring_open */
	_Atomic uint64_t *consumer_pos; /* only the kernel writes it */
	_Atomic uint64_t *producer_pos;
	uint8_t *data; /* mapped twice in a row, so that no record has to be split */
	uint64_t size; /* bytes, a power of two */
	size_t page;

	/* Owned by the holder of `lock` */
	_Alignas(64) _Atomic uint32_t lock;
	bool above_quarter;
	uint64_t producer;	/* a private copy of *producer_pos */
	uint64_t consumer_seen; /* the last value read from *consumer_pos; never ahead of it */

	_Alignas(64) _Atomic uint32_t lost[BRAID_REC_KINDS];
};

/* Maps the ring of `fd` with `size` data bytes. 0 or a negative errno; -EINVAL when the size is impossible. */
int ring_open(struct ring *r, int fd, uint64_t size);
void ring_close(struct ring *r);

/*
 * Publishes one record, gathered from `parts` (at most BRAID_REC_MAX bytes in total). False when the ring has no room
 * or the record is too long. Sets *wake when this record made the ring a quarter full: the caller then wakes the
 * consumer.
 */
bool ring_publish(struct ring *r, const struct iovec *parts, int count, bool *wake);

/* Bytes that are free now; other threads may take them at once. */
uint64_t ring_free_bytes(struct ring *r);

/* The consumer's position, in bytes. */
uint64_t ring_consumed(const struct ring *r);
/* The producers' position; it equals the consumer's when everything reserved so far has been read. */
uint64_t ring_produced(const struct ring *r);

/* Losses by kind of record; ring_lost_take returns the count and resets it. */
void ring_lost_add(struct ring *r, uint32_t kind, uint32_t count);
uint32_t ring_lost_take(struct ring *r, uint32_t kind);

#endif
