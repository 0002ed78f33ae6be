// SPDX-License-Identifier: Apache-2.0
/*
 * The producer's side of a user ring buffer. publish.c writes records with it; the collector's BPF programs read
 * them.
 *
 * Layout (kernel/bpf/ringbuf.c): page 0 holds the consumer's position and can only be mapped read-only, page 1 the
 * producer's, the data follows. A record is an 8-byte header {u32 length and flags, u32 unused} and the payload,
 * padded to 8.
 *
 * Barrier pairs, all with __bpf_user_ringbuf_peek and __bpf_user_ringbuf_sample_release in that file:
 *   store-release of producer_pos  -> its smp_load_acquire(&rb->producer_pos): the header seen is BUSY, never stale
 *   store-release of the header    -> its smp_load_acquire(hdr): the payload is seen once BUSY is gone
 *   load-acquire of consumer_pos   <- its smp_store_release(&rb->consumer_pos): a record is read before it is reused
 */
#include "ring.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static uint64_t ring_round_up(uint64_t n)
{
	return (n + 7) & ~7ULL;
}

static inline void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/* The data pages are mapped twice in a row, as in the kernel, with the page of the producer's position in front. */
static int ring_map_producer(struct ring *r, int fd)
{
	size_t total = r->page + 2 * r->size;
	uint8_t *base = mmap(NULL, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int err;

	if (base == MAP_FAILED)
		return -errno;
	if (mmap(base, r->page + r->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)r->page) ==
		    MAP_FAILED ||
	    mmap(base + r->page + r->size, r->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
		 (off_t)(2 * r->page)) == MAP_FAILED) {
		err = -errno;
		munmap(base, total);
		return err;
	}
	r->producer_pos = (_Atomic uint64_t *)(void *)base;
	r->data = base + r->page;
	return 0;
}

int ring_open(struct ring *r, int fd, uint64_t size)
{
	void *consumer;
	int err;

	memset(r, 0, sizeof(*r));
	r->page = (size_t)sysconf(_SC_PAGESIZE);
	if (size < RING_MIN_BYTES || size > RING_MAX_BYTES || (size & (size - 1)) || size % r->page)
		return -EINVAL;
	r->size = size;

	consumer = mmap(NULL, r->page, PROT_READ, MAP_SHARED, fd, 0);
	if (consumer == MAP_FAILED)
		return -errno;
	r->consumer_pos = consumer;
	err = ring_map_producer(r, fd);
	if (err)
		goto out;

	r->producer = atomic_load_explicit(r->producer_pos, memory_order_relaxed);
	r->consumer_seen = atomic_load_explicit(r->consumer_pos, memory_order_acquire);
	if (r->producer % 8 || r->producer - r->consumer_seen > r->size)
		err = -EINVAL;
out:
	if (err)
		ring_close(r);
	return err;
}

void ring_close(struct ring *r)
{
	if (!r)
		return;
	if (r->consumer_pos)
		munmap((void *)r->consumer_pos, r->page);
	if (r->producer_pos)
		munmap((void *)r->producer_pos, r->page + 2 * r->size);
	r->consumer_pos = NULL;
	r->producer_pos = NULL;
	r->data = NULL;
}

/* The section takes a few dozen instructions, so a wait means that the holder has lost its CPU: yield soon. */
static void ring_wait(const struct ring *r)
{
	const struct timespec nap = {.tv_nsec = 50000};
	uint32_t turns = 0;

	while (atomic_load_explicit(&r->lock, memory_order_relaxed)) {
		turns++;
		if (turns < 100)
			cpu_relax();
		else if (turns < 2000)
			sched_yield();
		else
			clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL); /* for a holder of lower real-time priority */
	}
}

static void ring_lock(struct ring *r)
{
	while (atomic_exchange_explicit(&r->lock, 1, memory_order_acquire))
		ring_wait(r);
}

static void ring_unlock(struct ring *r)
{
	atomic_store_explicit(&r->lock, 0, memory_order_release);
}

/* The caller holds the lock. Reads the kernel's cache line only when the cached position leaves too little room. */
static bool ring_has_room(struct ring *r, uint64_t need, bool *wake)
{
	uint64_t fill = r->producer + need - r->consumer_seen;

	if (fill >= r->size / 4) {
		r->consumer_seen = atomic_load_explicit(r->consumer_pos, memory_order_acquire);
		fill = r->producer + need - r->consumer_seen;
	}
	if (fill > r->size)
		return false;
	if (fill < r->size / 4) {
		r->above_quarter = false;
	} else if (!r->above_quarter) {
		r->above_quarter = true;
		*wake = true;
	}
	return true;
}

static _Atomic uint32_t *ring_reserve(struct ring *r, uint32_t size, bool *wake)
{
	uint64_t need = ring_round_up(RING_HEADER_BYTES + (uint64_t)size);
	_Atomic uint32_t *header = NULL;

	ring_lock(r);
	if (ring_has_room(r, need, wake)) {
		header = (_Atomic uint32_t *)(void *)(r->data + (r->producer & (r->size - 1)));
		atomic_store_explicit(header, size | RING_BUSY, memory_order_relaxed);
		atomic_store_explicit(header + 1, 0, memory_order_relaxed);
		r->producer += need;
		atomic_store_explicit(r->producer_pos, r->producer, memory_order_release);
	}
	ring_unlock(r);
	return header;
}

bool ring_publish(struct ring *r, const struct iovec *parts, int count, bool *wake)
{
	_Atomic uint32_t *header;
	uint64_t size = 0;
	uint8_t *to;

	*wake = false;
	for (int i = 0; i < count; i++)
		size += parts[i].iov_len;
	if (size > BRAID_REC_MAX)
		return false;
	header = ring_reserve(r, (uint32_t)size, wake);
	if (!header)
		return false;
	to = (uint8_t *)(header + 2);
	for (int i = 0; i < count; i++) {
		if (parts[i].iov_len)
			memcpy(to, parts[i].iov_base, parts[i].iov_len);
		to += parts[i].iov_len;
	}
	atomic_store_explicit(header, (uint32_t)size, memory_order_release);
	return true;
}

uint64_t ring_free_bytes(struct ring *r)
{
	uint64_t consumed = atomic_load_explicit(r->consumer_pos, memory_order_acquire);
	uint64_t produced = atomic_load_explicit(r->producer_pos, memory_order_relaxed);
	uint64_t fill = produced - consumed;

	return fill > r->size ? 0 : r->size - fill;
}

uint64_t ring_produced(const struct ring *r)
{
	return atomic_load_explicit(r->producer_pos, memory_order_acquire);
}

uint64_t ring_consumed(const struct ring *r)
{
	return atomic_load_explicit(r->consumer_pos, memory_order_relaxed);
}

void ring_lost_add(struct ring *r, uint32_t kind, uint32_t count)
{
	if (kind < BRAID_REC_KINDS)
		atomic_fetch_add_explicit(&r->lost[kind], count, memory_order_relaxed);
}

uint32_t ring_lost_take(struct ring *r, uint32_t kind)
{
	if (kind >= BRAID_REC_KINDS || !atomic_load_explicit(&r->lost[kind], memory_order_relaxed))
		return 0;
	return atomic_exchange_explicit(&r->lost[kind], 0, memory_order_relaxed);
}
