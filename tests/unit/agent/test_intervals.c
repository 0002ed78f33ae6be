// SPDX-License-Identifier: Apache-2.0
/* Tests of the agent's table of intervals that virtual threads have begun. */
#include "events/intervals.h"

#include <check.h>
#include <pthread.h>

#define THREADS 4
#define EACH 20000U

/* For conditions that are checked a million times: Check's own assertions write to a pipe even when they hold. */
#define EXPECT(condition)                                                                                              \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			ck_abort_msg("%s", #condition);                                                                \
	} while (0)

Suite *test_intervals(void);

static void put(uint64_t key)
{
	EXPECT(intervals_put(key, &(struct interval){.ns = key * 3, .stack = ~key}));
}

START_TEST(keeps_all_up_to_its_budget)
{
	struct interval b;

	for (uint64_t key = 1; key <= INTERVALS_MAX; key++)
		put(key << 1);
	ck_assert(!intervals_put((INTERVALS_MAX + 1) << 1, &(struct interval){.ns = 1}));
	ck_assert(!intervals_take((INTERVALS_MAX + 1) << 1, &b));
	for (uint64_t key = INTERVALS_MAX; key; key--) {
		EXPECT(intervals_take(key << 1, &b));
		EXPECT(b.ns == (key << 1) * 3 && b.stack == ~(key << 1));
	}
	ck_assert(!intervals_take(2, &b));
	put(2); /* there is room again */
	intervals_clear();
	ck_assert(!intervals_take(2, &b));
}
END_TEST

START_TEST(a_key_has_one_entry)
{
	struct interval b;

	put(7);
	ck_assert(intervals_put(7, &(struct interval){.ns = 5}));
	ck_assert(intervals_take(7, &b));
	ck_assert_uint_eq(b.ns, 5);
	ck_assert(!intervals_take(7, &b));
	intervals_clear();
}
END_TEST

/* Threads begin and end intervals, each with its own keys, and find what they have stored. */
static void *come_and_go(void *arg)
{
	uint64_t own = (uint64_t)(uintptr_t)arg << 32, missing = 0;
	struct interval b;

	for (uint64_t i = 1; i <= EACH; i++) {
		missing += !intervals_put(own | i, &(struct interval){.ns = own | i});
		if (i > 100)
			missing += !intervals_take(own | (i - 100), &b) || b.ns != (own | (i - 100));
	}
	return (void *)(uintptr_t)missing;
}

START_TEST(serves_several_threads)
{
	pthread_t threads[THREADS];
	void *missing;

	for (uintptr_t i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, come_and_go, (void *)(i + 1)), 0);
	for (int i = 0; i < THREADS; i++) {
		ck_assert_int_eq(pthread_join(threads[i], &missing), 0);
		ck_assert_ptr_null(missing);
	}
	intervals_clear();
}
END_TEST

Suite *test_intervals(void)
{
	Suite *s = suite_create("begun");
	TCase *t = tcase_create("begun");

	tcase_add_test(t, keeps_all_up_to_its_budget);
	tcase_add_test(t, a_key_has_one_entry);
	tcase_add_test(t, serves_several_threads);
	suite_add_tcase(s, t);
	return s;
}
