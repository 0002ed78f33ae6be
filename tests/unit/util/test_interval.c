// SPDX-License-Identifier: Apache-2.0
/* Tests of what a time off the CPU adds to the sums of its thread. */
#include <braid/interval.h>

#include <check.h>

Suite *test_interval(void);

static struct braid_interval interval(enum braid_offcpu_class class, uint64_t ready_ns)
{
	return (struct braid_interval){.start_ns = 1000,
				       .end_ns = 1500,
				       .ready_ns = ready_ns,
				       .flags = (uint32_t) class << BRAID_OFFCPU_CLASS_SHIFT};
}

START_TEST(a_wait_ends_when_the_thread_can_run)
{
	struct braid_thread_time t = {.since_ns = 1};
	struct braid_interval i = interval(BRAID_OFFCPU_FUTEX, 1400);

	ck_assert_uint_eq(braid_interval_ready(&i), 100);
	braid_interval_count(&t, &i);
	ck_assert_uint_eq(t.counted[BRAID_OFFCPU_FUTEX], 1);
	ck_assert_uint_eq(t.counted_ns[BRAID_OFFCPU_FUTEX], 400);
	ck_assert_uint_eq(t.counted[BRAID_OFFCPU_RUNNABLE], 0);
	ck_assert_uint_eq(t.counted_ns[BRAID_OFFCPU_RUNNABLE], 100);

	/* woken before it left the CPU, and never */
	i = interval(BRAID_OFFCPU_FUTEX, 900);
	ck_assert_uint_eq(braid_interval_ready(&i), 500);
	i = interval(BRAID_OFFCPU_FUTEX, 1600);
	ck_assert_uint_eq(braid_interval_ready(&i), 0);
}
END_TEST

/* The sums of a thread that has had one such interval. */
static struct braid_thread_time counted(uint64_t since_ns, enum braid_offcpu_class class, uint64_t ready_ns)
{
	struct braid_thread_time t = {.since_ns = since_ns};
	const struct braid_interval i = interval(class, ready_ns);

	braid_interval_count(&t, &i);
	return t;
}

START_TEST(a_preemption_is_one_part)
{
	struct braid_thread_time t = counted(1, BRAID_OFFCPU_RUNNABLE, 1000);

	ck_assert_uint_eq(t.counted[BRAID_OFFCPU_RUNNABLE], 1);
	ck_assert_uint_eq(t.counted_ns[BRAID_OFFCPU_RUNNABLE], 500);
}
END_TEST

/* Only what blocks the thread is observed: there is no class of the time in which it could run. */
START_TEST(a_wait_is_whole_without_the_thread_s_life)
{
	struct braid_thread_time t = counted(0, BRAID_OFFCPU_SLEEP, 1400);

	ck_assert_uint_eq(t.counted_ns[BRAID_OFFCPU_SLEEP], 500);
	ck_assert_uint_eq(t.counted_ns[BRAID_OFFCPU_RUNNABLE], 0);
}
END_TEST

START_TEST(classes_that_cannot_be)
{
	struct braid_thread_time t = counted(1, BRAID_OFFCPU_CLASSES, 1400);

	for (int class = 0; class < BRAID_OFFCPU_CLASSES; class ++)
		ck_assert_uint_eq(t.counted[class] | t.counted_ns[class], 0);
}
END_TEST

Suite *test_interval(void)
{
	Suite *suite = suite_create("interval");
	TCase *tc = tcase_create("counted");

	tcase_add_test(tc, a_wait_ends_when_the_thread_can_run);
	tcase_add_test(tc, a_preemption_is_one_part);
	tcase_add_test(tc, a_wait_is_whole_without_the_thread_s_life);
	tcase_add_test(tc, classes_that_cannot_be);
	suite_add_tcase(suite, tc);
	return suite;
}
