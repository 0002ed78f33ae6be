// SPDX-License-Identifier: Apache-2.0
/* Tests of what follows from the filter of `offcpu`: which programs and which look-ups a recording needs. */
#include "kernel/offcpu.h"
#include "kernel/offcpu_filter.h"

#include <check.h>

Suite *test_offcpu_filter(void);

static struct braid_offcpu_filter filter_of(enum braid_hit_operand operand, enum braid_hit_operator operator,
					    uint64_t value)
{
	return (struct braid_offcpu_filter){.terms = 1,
					    .term = {{.operand = operand, .operator= operator, .value = value } } };
}

START_TEST(files_are_looked_at_only_to_tell_them_apart)
{
	struct braid_offcpu_filter none = {0}, f;

	ck_assert(!offcpu_filter_compares_files(&none));
	f = filter_of(BRAID_HIT_STATE, BRAID_HIT_BITS, 1U << BRAID_OFFCPU_BLOCK | 1U << BRAID_OFFCPU_FUTEX);
	ck_assert(!offcpu_filter_compares_files(&f));
	f = filter_of(BRAID_HIT_STATE, BRAID_HIT_BITS, 1U << BRAID_OFFCPU_PIPE);
	ck_assert(offcpu_filter_compares_files(&f));
	f = filter_of(BRAID_HIT_STATE, BRAID_HIT_UNEQUAL, 1U << BRAID_OFFCPU_SOCKET);
	ck_assert(offcpu_filter_compares_files(&f));
	f = filter_of(BRAID_HIT_STATE, BRAID_HIT_BITS,
		      1U << BRAID_OFFCPU_PIPE | 1U << BRAID_OFFCPU_SOCKET | 1U << BRAID_OFFCPU_FILE);
	ck_assert(!offcpu_filter_compares_files(&f));
	f = filter_of(BRAID_HIT_PID, BRAID_HIT_EQUAL, 1U << BRAID_OFFCPU_PIPE);
	ck_assert(!offcpu_filter_compares_files(&f));
}
END_TEST

START_TEST(stacks_are_taken_at_the_start_if_every_time_is_reported)
{
	struct braid_event_config c = {.enabled = BRAID_EVENT_TYPE(OFFCPU)};
	struct braid_offcpu_filter none = {0}, state, duration;

	state = filter_of(BRAID_HIT_STATE, BRAID_HIT_BITS, 1U << BRAID_OFFCPU_PIPE);
	duration = filter_of(BRAID_HIT_DURATION, BRAID_HIT_GREATER, 1000000);
	ck_assert(offcpu_stacks_at_start(&c, &none));
	ck_assert(offcpu_stacks_at_start(&c, &state));
	ck_assert(!offcpu_stacks_at_start(&c, &duration));
	c.offcpu_min_ns = 100000;
	ck_assert(!offcpu_stacks_at_start(&c, &none));
	c.offcpu_min_ns = 0;
	c.enabled |= BRAID_EVENT_TYPE(LOCK);
	ck_assert(!offcpu_stacks_at_start(&c, &none));
	c.enabled = BRAID_EVENT_TYPE(WAIT);
	ck_assert(!offcpu_stacks_at_start(&c, &none));
}
END_TEST

Suite *test_offcpu_filter(void)
{
	Suite *s = suite_create("offcpu_filter");
	TCase *tc = tcase_create("offcpu_filter");

	tcase_add_test(tc, files_are_looked_at_only_to_tell_them_apart);
	tcase_add_test(tc, stacks_are_taken_at_the_start_if_every_time_is_reported);
	suite_add_tcase(s, tc);
	return s;
}
