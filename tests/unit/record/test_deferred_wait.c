// SPDX-License-Identifier: Apache-2.0
/* Tests of deferred samples that wait for the unwind tables of their code. */
#include "record/deferred_wait.h"

#include <check.h>
#include <stdlib.h>

Suite *test_deferred_wait(void);

#define SECOND 1000000000ULL
#define BIG 65536U

static struct deferred_wait *wait;
static uint32_t tried, lasts, taken_pid; /* a sample of that pid no longer waits */
static uint64_t last_time;

static void setup(void)
{
	wait = NULL;
	tried = lasts = taken_pid = 0;
}

static void teardown(void)
{
	deferred_wait_free(wait);
}

static bool put(uint32_t pid, uint64_t now)
{
	struct braid_event_deferred *e = calloc(1, BIG);
	bool kept;

	ck_assert_ptr_nonnull(e);
	e->hdr.size = BIG;
	e->hdr.time_ns = now;
	e->pid = pid;
	kept = deferred_wait_put(&wait, e, now);
	free(e);
	return kept;
}

static bool take(void *ctx, const struct braid_event_deferred *e, bool last)
{
	(void)ctx;
	ck_assert_uint_eq(e->hdr.size, BIG);
	ck_assert_uint_ge(e->hdr.time_ns, last_time);
	last_time = e->hdr.time_ns;
	tried++;
	lasts += last;
	return last || e->pid == taken_pid;
}

static uint32_t tries(uint64_t now, uint64_t results)
{
	last_time = tried = lasts = 0;
	deferred_wait_each(wait, now, results, take, NULL);
	return tried;
}

START_TEST(they_are_tried_when_files_have_been_read)
{
	ck_assert_uint_eq(tries(1, 1), 0); /* none has waited */
	ck_assert(put(1, 10));
	ck_assert(put(2, 20));
	ck_assert(put(1, 30));
	ck_assert_uint_eq(tries(40, 1), 3);
	ck_assert_uint_eq(tries(41, 1), 0);
	taken_pid = 1;
	ck_assert_uint_eq(tries(42, 2), 3);
	ck_assert_uint_eq(tries(43, 3), 1);
	ck_assert_uint_eq(lasts, 0);
}
END_TEST

START_TEST(none_waits_longer_than_a_second)
{
	ck_assert(put(1, 10));
	ck_assert(put(1, SECOND));
	ck_assert_uint_eq(tries(SECOND, 1), 2);
	ck_assert_uint_eq(tries(SECOND + 20, 1), 1);
	ck_assert_uint_eq(lasts, 1);
	ck_assert_uint_eq(tries(3 * SECOND, 1), 1);
	ck_assert_uint_eq(tries(3 * SECOND, 2), 0);
}
END_TEST

/* A process leaves half of the room to others, and what was taken leaves room again. */
START_TEST(room_is_limited)
{
	uint32_t own = 0, other = 0;

	while (own < 1000 && put(1, 10))
		own++;
	while (other < 1000 && put(2, 10))
		other++;
	ck_assert_uint_eq(own, other);
	ck_assert_uint_eq(own, (4U << 20) / BIG);
	ck_assert(!put(3, 10));
	taken_pid = 2;
	ck_assert_uint_eq(tries(20, 1), own + other);
	ck_assert(put(3, 20));
	ck_assert(!put(1, 20));
}
END_TEST

Suite *test_deferred_wait(void)
{
	Suite *s = suite_create("deferred samples that wait");
	TCase *tc = tcase_create("waiting");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, they_are_tried_when_files_have_been_read);
	tcase_add_test(tc, none_waits_longer_than_a_second);
	tcase_add_test(tc, room_is_limited);
	suite_add_tcase(s, tc);
	return s;
}
