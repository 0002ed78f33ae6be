// SPDX-License-Identifier: Apache-2.0
/*
 * Tests of the agent's ring: the producer over a memfd with the layout of the kernel's map. The consumer trusts
 * nothing: it overwrites what it has read with BUSY headers of impossible length, so that a header that is written late
 * is detected.
 */
#include "core/ring.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RING_BYTES RING_MIN_BYTES
#define GARBAGE 0xff
#define THREADS 8
#define RECORDS_PER_THREAD 20000U

/* For conditions that are checked a million times: Check's own assertions write to a pipe even when they hold. */
#define EXPECT(condition)                                                                                              \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			ck_abort_msg("%s", #condition);                                                                \
	} while (0)

Suite *test_ring(void);

struct fake {
	struct ring r;
	int fd;
	uint64_t consumed; /* the consumer's position */
};

/* A test's record, filled with a pattern that follows from thread and number. */
struct item {
	struct braid_rec hdr;
	uint32_t thread;
	uint32_t number;
};

static void fake_open(struct fake *f, uint64_t start)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	f->fd = memfd_create("ring", MFD_CLOEXEC);
	ck_assert_int_ge(f->fd, 0);
	ck_assert_int_eq(ftruncate(f->fd, (off_t)(2 * page + RING_BYTES)), 0);
	ck_assert_int_eq(pwrite(f->fd, &start, sizeof(start), 0), sizeof(start));
	ck_assert_int_eq(pwrite(f->fd, &start, sizeof(start), (off_t)page), sizeof(start));
	ck_assert_int_eq(ring_open(&f->r, f->fd, RING_BYTES), 0);
	/* The fake kernel uses the same addresses, where a thread sanitizer can follow it. */
	ck_assert_int_eq(mprotect((void *)f->r.consumer_pos, page, PROT_READ | PROT_WRITE), 0);
	memset(f->r.data, GARBAGE, RING_BYTES);
	f->consumed = start;
}

static void fake_close(struct fake *f)
{
	ring_close(&f->r);
	close(f->fd);
}

static uint8_t pattern(uint32_t thread, uint32_t number, size_t at)
{
	return (uint8_t)(thread * 31 + number * 7 + at);
}

static size_t tail_size(uint32_t thread, uint32_t number)
{
	return (thread * 13 + number * 29) % 150;
}

static bool item_publish(struct ring *r, uint32_t thread, uint32_t number, bool *wake)
{
	struct item item = {.hdr = {.kind = BRAID_REC_STUB}, .thread = thread, .number = number};
	size_t size = tail_size(thread, number);
	uint8_t tail[150];

	item.hdr.size = (uint32_t)(sizeof(item) + size);
	for (size_t i = 0; i < size; i++)
		tail[i] = pattern(thread, number, i);
	return ring_publish(r, (struct iovec[]){{&item, sizeof(item)}, {tail, size}}, 2, wake);
}

/*
 * Does what __bpf_user_ringbuf_peek does, and asserts where that returns errors. Returns the payload's size, 0 when
 * there is none yet.
 */
static uint32_t fake_peek(struct fake *f, const uint8_t **payload)
{
	uint64_t produced = atomic_load_explicit(f->r.producer_pos, memory_order_acquire);
	_Atomic uint32_t *header;
	uint32_t word, size;

	EXPECT(produced % 8 == 0);
	EXPECT(produced - f->consumed <= RING_BYTES);
	if (f->consumed == produced)
		return 0;
	header = (_Atomic uint32_t *)(void *)(f->r.data + (f->consumed & (RING_BYTES - 1)));
	word = atomic_load_explicit(header, memory_order_acquire);
	size = word & ~(RING_BUSY | RING_DISCARD);
	EXPECT(size <= BRAID_REC_MAX);
	EXPECT(size >= sizeof(struct item));
	EXPECT(size + RING_HEADER_BYTES <= produced - f->consumed);
	EXPECT((word & RING_DISCARD) == 0);
	if (word & RING_BUSY)
		return 0;
	*payload = (const uint8_t *)(header + 2);
	return size;
}

static void fake_release(struct fake *f, uint32_t size)
{
	uint64_t total = (RING_HEADER_BYTES + (uint64_t)size + 7) & ~7ULL;

	memset(f->r.data + (f->consumed & (RING_BYTES - 1)), GARBAGE, total);
	f->consumed += total;
	atomic_store_explicit(f->r.consumer_pos, f->consumed, memory_order_release);
}

/* Checks one record against its own pattern. */
static struct item item_check(const uint8_t *payload, uint32_t size)
{
	struct item item;
	size_t tail;

	memcpy(&item, payload, sizeof(item));
	EXPECT(item.hdr.size == size);
	tail = tail_size(item.thread, item.number);
	EXPECT(size == sizeof(item) + tail);
	for (size_t i = 0; i < tail; i++)
		EXPECT(payload[sizeof(item) + i] == pattern(item.thread, item.number, i));
	return item;
}

START_TEST(sizes_that_cannot_be_are_refused)
{
	static const uint64_t bad[] = {
		0,	   4096, RING_MIN_BYTES / 2, RING_MIN_BYTES + 4096, 3 * RING_MIN_BYTES, 2ULL * RING_MAX_BYTES,
		1ULL << 63};
	struct ring r;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_int_eq(ring_open(&r, -1, bad[i]), -EINVAL);
	ck_assert_int_eq(ring_open(&r, -1, RING_MIN_BYTES), -EBADF);
	ring_close(&r);
	ring_close(NULL);
}
END_TEST

START_TEST(positions_that_cannot_be_are_refused)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t produced = RING_BYTES + 8; /* more than fits before any is consumed */
	int fd = memfd_create("ring", MFD_CLOEXEC);
	struct ring r;

	ck_assert_int_eq(ftruncate(fd, (off_t)(2 * page + RING_BYTES)), 0);
	ck_assert_int_eq(pwrite(fd, &produced, sizeof(produced), (off_t)page), sizeof(produced));
	ck_assert_int_eq(ring_open(&r, fd, RING_BYTES), -EINVAL);
	produced = 12;
	ck_assert_int_eq(pwrite(fd, &produced, sizeof(produced), (off_t)page), sizeof(produced));
	ck_assert_int_eq(ring_open(&r, fd, RING_BYTES), -EINVAL);
	close(fd);
}
END_TEST

START_TEST(a_record_is_laid_out_as_the_kernel_wants_it)
{
	struct fake f;
	struct item item = {.hdr = {.size = sizeof(item) + 3}, .thread = 5, .number = 6};
	const uint32_t *words;
	bool wake;

	fake_open(&f, 0);
	ck_assert(ring_publish(&f.r, (struct iovec[]){{&item, sizeof(item)}, {NULL, 0}, {"abc", 3}}, 3, &wake));
	ck_assert(!wake);
	words = (const uint32_t *)(const void *)f.r.data;
	ck_assert_uint_eq(words[0], sizeof(item) + 3); /* neither BUSY nor DISCARD */
	ck_assert_uint_eq(words[1], 0);
	ck_assert_mem_eq(words + 2, &item, sizeof(item));
	ck_assert_mem_eq((const uint8_t *)(words + 2) + sizeof(item), "abc", 3);
	ck_assert_uint_eq(atomic_load(f.r.producer_pos), 8 + (sizeof(item) + 3 + 7) / 8 * 8);
	ck_assert_uint_eq(ring_free_bytes(&f.r), RING_BYTES - atomic_load(f.r.producer_pos));
	fake_close(&f);
}
END_TEST

START_TEST(records_wrap_around_the_end_in_one_piece)
{
	const uint8_t *payload;
	struct fake f;
	bool wake;

	fake_open(&f, RING_BYTES * 5 - 64); /* begins just before the end */
	for (uint32_t i = 0; i < 5000; i++) {
		struct item item;
		uint32_t size;

		EXPECT(item_publish(&f.r, 1, i, &wake));
		size = fake_peek(&f, &payload);
		EXPECT(size != 0);
		item = item_check(payload, size);
		EXPECT(item.number == i);
		fake_release(&f, size);
	}
	ck_assert_uint_gt(f.consumed, RING_BYTES * 8);
	fake_close(&f);
}
END_TEST

START_TEST(a_full_ring_takes_nothing_and_keeps_what_it_has)
{
	const uint8_t *payload;
	uint32_t published = 0, seen = 0, size;
	uint64_t position;
	struct fake f;
	bool wake;

	fake_open(&f, 0);
	while (item_publish(&f.r, 2, published, &wake))
		published++;
	position = atomic_load(f.r.producer_pos);
	ck_assert_uint_le(position, RING_BYTES);
	ck_assert_uint_gt(position, RING_BYTES - 256);
	ck_assert(!item_publish(&f.r, 2, published, &wake));
	ck_assert_uint_eq(atomic_load(f.r.producer_pos), position);

	while ((size = fake_peek(&f, &payload))) {
		ck_assert_uint_eq(item_check(payload, size).number, seen);
		seen++;
		fake_release(&f, size);
	}
	ck_assert_uint_eq(seen, published);
	ck_assert_uint_eq(ring_consumed(&f.r), position);
	ck_assert(item_publish(&f.r, 2, 0, &wake));
	fake_close(&f);
}
END_TEST

START_TEST(a_ring_can_be_filled_to_the_last_byte)
{
	static uint8_t big[BRAID_REC_MAX];
	uint32_t size = BRAID_REC_MAX - RING_HEADER_BYTES; /* four of these fill the whole ring */
	struct fake f;
	bool wake;

	fake_open(&f, 0);
	for (int i = 0; i < 4; i++)
		ck_assert(ring_publish(&f.r, &(struct iovec){big, size}, 1, &wake));
	ck_assert_uint_eq(ring_free_bytes(&f.r), 0);
	ck_assert(!ring_publish(&f.r, &(struct iovec){big, 0}, 1, &wake));
	fake_close(&f);
}
END_TEST

START_TEST(records_that_are_too_long_are_refused)
{
	static uint8_t big[BRAID_REC_MAX + 1];
	struct fake f;
	bool wake;

	fake_open(&f, 0);
	ck_assert(!ring_publish(&f.r, &(struct iovec){big, sizeof(big)}, 1, &wake));
	ck_assert(!ring_publish(&f.r, (struct iovec[]){{big, sizeof(big) - 1}, {big, 1}}, 2, &wake));
	ck_assert_uint_eq(atomic_load(f.r.producer_pos), 0);
	ck_assert(ring_publish(&f.r, &(struct iovec){big, sizeof(big) - 1}, 1, &wake));
	fake_close(&f);
}
END_TEST

START_TEST(the_consumer_is_woken_once_per_crossing)
{
	static uint8_t body[1016]; /* 1024 bytes with the header: 16 of them are a quarter */
	struct iovec part = {body, sizeof(body)};
	unsigned wakes = 0;
	struct fake f;
	bool wake;

	fake_open(&f, 0);
	for (int i = 0; i < 40; i++) {
		ck_assert(ring_publish(&f.r, &part, 1, &wake));
		wakes += wake;
		ck_assert_int_eq(wake, i == 15);
	}
	ck_assert_uint_eq(wakes, 1);
	for (int i = 0; i < 40; i++)
		fake_release(&f, sizeof(body));
	for (int i = 0; i < 40; i++) {
		ck_assert(ring_publish(&f.r, &part, 1, &wake));
		wakes += wake;
	}
	ck_assert_uint_eq(wakes, 2);
	fake_close(&f);
}
END_TEST

START_TEST(losses_are_counted_by_kind)
{
	struct fake f;

	fake_open(&f, 0);
	ring_lost_add(&f.r, BRAID_REC_GC_START, 2);
	ring_lost_add(&f.r, BRAID_REC_GC_START, 3);
	ring_lost_add(&f.r, BRAID_REC_METHOD, 1);
	ring_lost_add(&f.r, BRAID_REC_KINDS, 1); /* an unknown kind: ignored, not written beyond the array */
	ck_assert_uint_eq(ring_lost_take(&f.r, BRAID_REC_GC_START), 5);
	ck_assert_uint_eq(ring_lost_take(&f.r, BRAID_REC_GC_START), 0);
	ck_assert_uint_eq(ring_lost_take(&f.r, BRAID_REC_METHOD), 1);
	ck_assert_uint_eq(ring_lost_take(&f.r, BRAID_REC_KINDS), 0);
	fake_close(&f);
}
END_TEST

struct producer {
	struct fake *f;
	uint32_t thread;
	pthread_t id;
	bool patient; /* a full ring: true tries again, false drops and counts */
	uint32_t published;
};

static _Atomic uint32_t producers_left;

static void *produce(void *arg)
{
	struct producer *p = arg;
	bool wake;

	for (uint32_t i = 0; i < RECORDS_PER_THREAD; i++) {
		bool ok = item_publish(&p->f->r, p->thread, i, &wake);

		while (!ok && p->patient) {
			usleep(50);
			ok = item_publish(&p->f->r, p->thread, i, &wake);
		}
		if (ok)
			p->published++;
		else
			ring_lost_add(&p->f->r, BRAID_REC_STUB, 1);
	}
	atomic_fetch_sub(&producers_left, 1);
	return NULL;
}

/* The numbers of each thread only grow. Returns the number of records received. */
static uint32_t consume_all(struct fake *f, bool patient)
{
	uint32_t next[THREADS] = {0};
	uint32_t seen = 0;

	for (;;) {
		bool last = !atomic_load(&producers_left);
		const uint8_t *payload;
		uint32_t size = fake_peek(f, &payload);
		struct item item;

		if (!size && last)
			return seen;
		if (!size) {
			sched_yield();
			continue;
		}
		item = item_check(payload, size);
		EXPECT(item.thread < THREADS);
		EXPECT(item.number >= next[item.thread] && (!patient || item.number == next[item.thread]));
		next[item.thread] = item.number + 1;
		seen++;
		fake_release(f, size);
	}
}

static void run_threads(bool patient)
{
	struct producer p[THREADS];
	uint32_t seen, published = 0;
	struct fake f;

	fake_open(&f, RING_BYTES - 8);
	atomic_store(&producers_left, THREADS);
	for (uint32_t i = 0; i < THREADS; i++) {
		p[i] = (struct producer){.f = &f, .thread = i, .patient = patient};
		ck_assert_int_eq(pthread_create(&p[i].id, NULL, produce, &p[i]), 0);
	}
	seen = consume_all(&f, patient);
	for (uint32_t i = 0; i < THREADS; i++) {
		pthread_join(p[i].id, NULL);
		published += p[i].published;
	}
	ck_assert_uint_eq(seen, published);
	ck_assert_uint_eq(published + ring_lost_take(&f.r, BRAID_REC_STUB), THREADS * RECORDS_PER_THREAD);
	if (patient)
		ck_assert_uint_eq(published, THREADS * RECORDS_PER_THREAD);
	fake_close(&f);
}

START_TEST(eight_threads_publish_everything_in_order)
{
	run_threads(true);
}
END_TEST

START_TEST(eight_threads_lose_only_what_they_count)
{
	run_threads(false);
}
END_TEST

Suite *test_ring(void)
{
	Suite *s = suite_create("ring");
	TCase *c = tcase_create("producer");

	tcase_add_test(c, sizes_that_cannot_be_are_refused);
	tcase_add_test(c, positions_that_cannot_be_are_refused);
	tcase_add_test(c, a_record_is_laid_out_as_the_kernel_wants_it);
	tcase_add_test(c, records_wrap_around_the_end_in_one_piece);
	tcase_add_test(c, a_full_ring_takes_nothing_and_keeps_what_it_has);
	tcase_add_test(c, a_ring_can_be_filled_to_the_last_byte);
	tcase_add_test(c, records_that_are_too_long_are_refused);
	tcase_add_test(c, the_consumer_is_woken_once_per_crossing);
	tcase_add_test(c, losses_are_counted_by_kind);
	tcase_add_test(c, eight_threads_publish_everything_in_order);
	tcase_add_test(c, eight_threads_lose_only_what_they_count);
	suite_add_tcase(s, c);
	return s;
}
