// SPDX-License-Identifier: Apache-2.0
/* Tests of the spill: records that wait for a ring that is full from time to time. */
#include "agent.h"
#include "fake_jvmti.h"
#include "recorder.h"

#include <sched.h>
#include <string.h>

#define BIG 4096U			      /* bytes of a definition */
#define FIT (RECORDER_RING_BYTES / (BIG + 8)) /* as many fill the ring */

Suite *test_spill(void);

static const struct braid_event_config none;

struct numbered {
	struct braid_rec hdr;
	uint32_t thread, number;
	uint8_t fill[BIG];
};

static bool definition(uint32_t number, size_t size)
{
	static __thread struct numbered n;

	n.hdr.kind = BRAID_REC_STUB;
	n.number = number;
	return publish_definition((struct iovec[]){PART(&n, size)}, 1);
}

static bool event(void)
{
	struct braid_rec hdr = {.kind = BRAID_REC_VM_INIT};

	return publish_event((struct iovec[]){PART(&hdr, sizeof(hdr))}, 1);
}

static void fill_ring(uint32_t *number)
{
	for (uint32_t i = 0; i < FIT; i++)
		ck_assert(definition((*number)++, BIG));
	ck_assert_uint_lt(ring_free_bytes(agent.ring), BIG + 8);
}

/* Makes a connection with a full ring; returns the number of the next definition. */
static uint32_t begin_full(struct recorder *r)
{
	uint32_t number = 0;

	recorder_begin(r, &none);
	fill_ring(&number);
	return number;
}

/* The count of a kind in the next LOSS record. */
static uint32_t lost(struct recorder *r, uint32_t kind)
{
	const struct braid_rec_loss *l = recorder_find(r, BRAID_REC_LOSS);
	const struct braid_loss *pair = (const void *)(l + 1);

	ck_assert_ptr_nonnull(l);
	for (uint32_t i = 0; i < l->count; i++)
		if (pair[i].kind == kind)
			return pair[i].lost;
	return 0;
}

static void read_numbers(struct recorder *r, uint32_t *next)
{
	const struct numbered *n;

	while ((n = recorder_find(r, BRAID_REC_STUB)))
		ck_assert_uint_eq(n->number, (*next)++);
}

/* A small record would fit where a big one did not: it must not overtake. */
START_TEST(nothing_overtakes)
{
	struct recorder r;
	uint32_t number = begin_full(&r), next = 0;

	for (int i = 0; i < 100; i++)
		ck_assert(definition(number++, i % 2 ? BIG : sizeof(struct braid_rec) + 8));
	ck_assert_ptr_nonnull(recorder_find(&r, BRAID_REC_STUB));
	ck_assert_ptr_nonnull(recorder_find(&r, BRAID_REC_STUB));
	next += 2;
	ck_assert_uint_ge(ring_free_bytes(agent.ring), BIG);
	ck_assert(definition(number++, sizeof(struct braid_rec) + 8));
	while (!publish_flush())
		read_numbers(&r, &next);
	read_numbers(&r, &next);
	ck_assert_uint_eq(next, number);
	/* The next one goes straight into the ring again. */
	ck_assert(definition(number++, BIG));
	read_numbers(&r, &next);
	ck_assert_uint_eq(next, number);
	recorder_close(&r);
}
END_TEST

/* The spill leaves an eighth of the ring to events, which cannot wait. */
START_TEST(events_keep_their_room)
{
	struct recorder r;
	uint32_t number = begin_full(&r);

	for (uint32_t i = 0; i < FIT; i++)
		ck_assert(definition(number++, BIG));
	ck_assert(!publish_flush());
	recorder_skip(&r);
	ck_assert(!publish_flush());
	ck_assert_uint_ge(ring_free_bytes(agent.ring), RECORDER_RING_BYTES / 8 - BIG - 8);
	ck_assert(event());
	recorder_close(&r);
}
END_TEST

START_TEST(what_has_no_room_is_counted)
{
	uint32_t number = 0;
	struct recorder r;

	recorder_begin(&r, &none);
	publish_start(agent.ring, &agent.link, 10 * BIG);
	fill_ring(&number);
	for (int i = 0; i < 9; i++)
		ck_assert(definition(number++, BIG));
	for (int i = 0; i < 5; i++)
		ck_assert(!definition(number, BIG));
	for (int i = 0; i < 200; i++) /* little of the ring is left */
		(void)event();
	ck_assert(!event());
	ck_assert(!publish_losses()); /* it is kept */
	recorder_skip(&r);
	ck_assert(publish_losses());
	ck_assert_uint_eq(lost(&r, BRAID_REC_STUB), 5);
	ck_assert(publish_losses()); /* reported once */
	ck_assert_uint_eq(recorder_count(&r, BRAID_REC_LOSS), 0);
	recorder_close(&r);
}
END_TEST

START_TEST(what_is_too_long_is_counted)
{
	static uint8_t record[BRAID_REC_MAX + 1];
	struct braid_rec *hdr = (void *)record;
	struct recorder r;

	recorder_begin(&r, &none);
	hdr->kind = BRAID_REC_STUB;
	ck_assert(publish_definition((struct iovec[]){PART(record, BRAID_REC_MAX)}, 1));
	ck_assert(!publish_definition((struct iovec[]){PART(record, BRAID_REC_MAX + 1)}, 1));
	ck_assert(!publish_event((struct iovec[]){PART(record, BRAID_REC_MAX), PART("x", 1)}, 2));
	ck_assert(publish_losses());
	ck_assert_uint_eq(lost(&r, BRAID_REC_STUB), 2);
	recorder_close(&r);
}
END_TEST

START_TEST(what_is_abandoned_is_counted)
{
	uint32_t number = 0, before;
	struct recorder r;

	recorder_begin(&r, &none);
	before = publish_recoveries();
	fill_ring(&number);
	for (int i = 0; i < 7; i++)
		ck_assert(definition(number++, BIG));
	publish_abandon();
	ck_assert_uint_eq(publish_recoveries(), before);
	recorder_skip(&r);
	ck_assert(publish_flush());
	ck_assert(publish_losses());
	ck_assert_uint_eq(lost(&r, BRAID_REC_STUB), 7);
	/* A wait that ends well is no loss. */
	number = 0;
	fill_ring(&number);
	ck_assert(definition(number++, BIG));
	recorder_skip(&r);
	ck_assert(publish_flush());
	ck_assert_uint_eq(publish_recoveries(), before + 1);
	recorder_close(&r);
}
END_TEST

/* A new connection starts with an empty spill. */
START_TEST(a_new_ring_begins_empty)
{
	struct recorder r;
	uint32_t number = begin_full(&r);

	ck_assert(definition(number++, BIG));
	publish_start(agent.ring, &agent.link, 10 * BIG);
	recorder_skip(&r);
	ck_assert(publish_flush());
	ck_assert_uint_eq(recorder_count(&r, BRAID_REC_STUB), 0);
	recorder_close(&r);
}
END_TEST

/* ---- threads ---- */

#define THREADS 4U
#define EACH 3000U

static _Atomic uint32_t at_work;

static void *define_many(void *arg)
{
	static __thread struct numbered n;

	n.hdr.kind = BRAID_REC_STUB;
	n.thread = (uint32_t)(uintptr_t)arg;
	for (n.number = 0; n.number < EACH; n.number++)
		if (!publish_definition((struct iovec[]){PART(&n, 64 + n.number * 37 % BIG)}, 1))
			ck_abort_msg("thread %u lost %u", n.thread, n.number);
	atomic_fetch_sub(&at_work, 1);
	return NULL;
}

/* Each thread's records keep their order while the ring is full most of the time. */
START_TEST(threads_keep_their_order)
{
	uint32_t next[THREADS] = {0};
	const struct numbered *n;
	pthread_t thread[THREADS];
	struct recorder r;
	bool last;

	recorder_begin(&r, &none);
	publish_start(agent.ring, &agent.link, 1ULL << 30);
	atomic_store(&at_work, THREADS);
	for (uintptr_t i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, define_many, (void *)i), 0);
	do {
		last = !atomic_load(&at_work) && publish_flush();
		(void)publish_flush();
		while ((n = recorder_find(&r, BRAID_REC_STUB)))
			if (n->number != next[n->thread]++)
				ck_abort_msg("thread %u: %u came for %u", n->thread, n->number, next[n->thread] - 1);
		sched_yield();
	} while (!last);
	for (uint32_t i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		ck_assert_uint_eq(next[i], EACH);
	}
	recorder_close(&r);
}
END_TEST

Suite *test_spill(void)
{
	Suite *s = suite_create("agent spill");
	TCase *t = tcase_create("spill");

	tcase_add_test(t, nothing_overtakes);
	tcase_add_test(t, events_keep_their_room);
	tcase_add_test(t, what_has_no_room_is_counted);
	tcase_add_test(t, what_is_too_long_is_counted);
	tcase_add_test(t, what_is_abandoned_is_counted);
	tcase_add_test(t, a_new_ring_begins_empty);
	tcase_add_test(t, threads_keep_their_order);
	suite_add_tcase(s, t);
	return s;
}
