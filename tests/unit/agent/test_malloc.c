// SPDX-License-Identifier: Apache-2.0
/* Tests of what samples native allocations: distances, weights, the table of those that were not freed. */
#include "core/weight.h"
#include "malloc/countdown.h"
#include "malloc/sampled.h"

#include <check.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#define THREADS 4
#define INTERVAL 1000U

/* For conditions that are checked a million times: Check's own assertions write to a pipe even when they hold. */
#define EXPECT(condition)                                                                                              \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			ck_abort_msg("%s", #condition);                                                                \
	} while (0)

Suite *test_malloc(void);

static void open_all(void)
{
	ck_assert(countdown_open());
	ck_assert(sampled_open());
	countdown_forget();
	sampled_forget();
}

static void *address(uint64_t n)
{
	return (void *)(uintptr_t)(0x7f0000000000ULL + n * 48);
}

static struct sampled sample(uint64_t number)
{
	return (struct sampled){.number = number, .size = 100, .weight = 200, .time_ns = number * 7, .function = 3};
}

START_TEST(distances_are_exponential)
{
	double sum = 0, squares = 0;
	uint64_t above = 0, n = 1 << 20;

	for (uint64_t i = 0; i < n; i++) { /* evenly spread instead of by chance */
		double x = (double)sample_distance(i << 44 | 1ULL << 43, INTERVAL * INTERVAL);

		sum += x;
		squares += x * x;
		above += x > INTERVAL * INTERVAL;
	}
	ck_assert_double_eq_tol(sum / (double)n, INTERVAL * INTERVAL, INTERVAL);
	ck_assert_double_eq_tol(squares / (double)n, 2.0 * 1e12, 1e10);
	ck_assert_double_eq_tol((double)above / (double)n, exp(-1), 1e-4);
	ck_assert_uint_eq(sample_distance(12345, 0), 0);
	ck_assert_uint_gt(sample_distance(0, 1), 40);
	ck_assert_uint_eq(sample_distance(UINT64_MAX, INTERVAL), 1);
}
END_TEST

START_TEST(weights_are_the_inverse_of_the_chance)
{
	static const uint64_t sizes[] = {1, 10, 500, 1000, 20000, 1 << 20};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		double size = (double)sizes[i];

		ck_assert_double_eq_tol((double)sample_weight(sizes[i], INTERVAL), size / -expm1(-size / INTERVAL),
					0.51);
	}
	ck_assert_uint_eq(sample_weight(77, 0), 77);
}
END_TEST

/* Sizes of every scale, and the sum of the weights of what is sampled. */
START_TEST(estimates_have_no_bias)
{
	double weights = 0, variance = 0, truth = 0;
	struct countdown *c;

	open_all();
	countdown_set_interval(INTERVAL);
	c = countdown_own();
	ck_assert_ptr_eq(c, countdown_own());
	for (uint64_t i = 0; i < 2000000; i++) {
		uint64_t size = i % 100 ? 16 + i % 64 : 5000, weight;

		truth += (double)size;
		if (!countdown_hits(c, size))
			continue;
		ck_assert_uint_eq(countdown_draw(c), INTERVAL);
		weight = sample_weight(size, INTERVAL);
		weights += (double)weight;
		variance += (double)weight * (double)(weight - size);
	}
	ck_assert_double_eq_tol(weights, truth, 5 * sqrt(variance));
	ck_assert_double_lt(5 * sqrt(variance), truth / 50);
}
END_TEST

START_TEST(interval_of_the_last_distance)
{
	open_all();
	countdown_set_interval(INTERVAL);
	(void)countdown_own();
	countdown_set_interval(0);
	ck_assert_uint_eq(countdown_draw(countdown_own()), INTERVAL);
	ck_assert(countdown_hits(countdown_own(), 0));
	ck_assert_uint_eq(countdown_draw(countdown_own()), 0);
}
END_TEST

START_TEST(more_threads_than_places)
{
	open_all();
	countdown_set_interval(INTERVAL);
	for (uintptr_t self = 1; self < 40000; self++) {
		const struct countdown *c = countdown_find(self * 4096);

		EXPECT(c->owner == self * 4096 && c->left > 0);
	}
}
END_TEST

START_TEST(takes_what_was_put)
{
	struct sampled s = sample(5), got;

	open_all();
	ck_assert(!sampled_may_have(address(1)));
	ck_assert(!sampled_take(NULL, &got));
	ck_assert(sampled_put(address(1), &s));
	ck_assert(sampled_may_have(address(1)));
	ck_assert(!sampled_take(address(2), &got));
	ck_assert(sampled_take(address(1), &got));
	ck_assert_mem_eq(&got, &s, sizeof(s));
	ck_assert(!sampled_may_have(address(1)) && !sampled_take(address(1), &got));
}
END_TEST

static uint64_t walked, walked_weight, walked_last;

static void on_walk(const struct sampled *s)
{
	walked++;
	walked_weight += s->weight;
	walked_last = s->number;
}

static void walk(void)
{
	walked = walked_weight = 0;
	sampled_walk(on_walk);
}

START_TEST(an_address_that_is_used_again_was_freed)
{
	struct sampled old = sample(5), s = sample(6), got;

	open_all();
	ck_assert(sampled_put(address(1), &old) && sampled_put(address(1), &s));
	walk();
	ck_assert(walked == 1 && walked_last == 6);
	ck_assert(sampled_take(address(1), &got) && got.number == 6);
	ck_assert(!sampled_may_have(address(1)));
}
END_TEST

/* Before it is full, it is thinned out, again and again, and the weights keep their sum. */
START_TEST(keeps_a_share_of_too_many)
{
	uint64_t n = 0, all = 4 * SAMPLED_MAX;
	struct sampled s;

	open_all();
	for (; n < all; n++) {
		s = sample(n + 1);
		EXPECT(sampled_put(address(n), &s));
		if (n % 1000 == 0)
			sampled_thin_out();
	}
	sampled_thin_out();
	walk();
	ck_assert_uint_le(walked, SAMPLED_MAX / 2 + 1000);
	ck_assert_uint_ge(walked, SAMPLED_MAX / 5);
	/* Each is kept with 1/16 or more: the deviation is below 200 sqrt(16 all). */
	ck_assert_double_eq_tol((double)walked_weight, 200.0 * (double)all, 5 * 200 * sqrt(16.0 * (double)all));
	for (uint64_t i = 0; i < n; i++)
		(void)sampled_take(address(i), &s);
	walk();
	ck_assert_uint_eq(walked, 0);
}
END_TEST

START_TEST(says_when_there_is_no_room)
{
	struct sampled s = sample(1);
	uint64_t n = 0;

	open_all();
	for (; n < 2 * SAMPLED_MAX && sampled_put(address(n), &s); n++)
		s.number++;
	ck_assert_uint_gt(n, SAMPLED_MAX / 4 * 3);
	ck_assert_uint_lt(n, SAMPLED_MAX);
}
END_TEST

/* Each thread puts and takes its own, and finds what it has put. */
static void *come_and_go(void *arg)
{
	uint64_t first = (uint64_t)(uintptr_t)arg << 32;
	struct sampled s, got;

	for (uint64_t i = 0; i < 50000; i++) {
		s = sample(first + i + 1);
		EXPECT(sampled_put(address(first + i % 700), &s));
		if (i % 3)
			EXPECT(sampled_take(address(first + i % 700), &got) && got.number == s.number);
	}
	for (uint64_t i = 0; i < 700; i++)
		(void)sampled_take(address(first + i), &got);
	return NULL;
}

START_TEST(threads_at_once)
{
	pthread_t threads[THREADS];

	open_all();
	for (uintptr_t i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, come_and_go, (void *)(i + 1)), 0);
	for (int i = 0; i < 100; i++)
		walk();
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	walk();
	ck_assert_uint_eq(walked, 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		EXPECT(!sampled_may_have(address((i + 1) << 32)));
}
END_TEST

Suite *test_malloc(void)
{
	Suite *s = suite_create("test_malloc");
	TCase *t = tcase_create("malloc");

	tcase_add_test(t, distances_are_exponential);
	tcase_add_test(t, weights_are_the_inverse_of_the_chance);
	tcase_add_test(t, estimates_have_no_bias);
	tcase_add_test(t, interval_of_the_last_distance);
	tcase_add_test(t, more_threads_than_places);
	tcase_add_test(t, takes_what_was_put);
	tcase_add_test(t, an_address_that_is_used_again_was_freed);
	tcase_add_test(t, keeps_a_share_of_too_many);
	tcase_add_test(t, says_when_there_is_no_room);
	tcase_add_test(t, threads_at_once);
	suite_add_tcase(s, t);
	return s;
}
