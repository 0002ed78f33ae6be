// SPDX-License-Identifier: Apache-2.0
/* Tests of histograms from copies of the heap: when one is begun, and what is reported when there is none. */
#include "unit/jvm_fixture.h"

#include "util/clock.h"

Suite *test_heap_count(void);

static void copied(uint32_t flags)
{
	const struct braid_rec_jvm_event r = {
		.hdr = {.kind = BRAID_REC_JVM_EVENT, .time_ns = now_ns()},
		.event = {.kind = BRAID_JVM_HEAP_COPY, .number = 1, .value = 4096, .flags = flags}};

	send(&r, sizeof(r), NULL);
	jvm_tick(jvm, now_ns(), false);
}

START_TEST(only_what_is_asked_for)
{
	copied(0);
	ck_assert_uint_eq(count[BRAID_JVM_HEAP_COPY], 1);
	ck_assert_uint_eq(count[BRAID_JVM_HEAP], 0);
	jvms.config.heap_copy = BRAID_HEAP_COPY_DUMP;
	copied(BRAID_HEAP_FAILED);
	ck_assert_uint_eq(count[BRAID_JVM_HEAP], 0);
}
END_TEST

/* A copy that the JVM could not make, and one of a process that maps no JVM. */
START_TEST(failures)
{
	const struct trace_jvm_event *e = &last[BRAID_JVM_HEAP];

	jvms.config.heap_copy = BRAID_HEAP_COPY_COUNT;
	copied(_i ? 0 : BRAID_HEAP_FAILED);
	ck_assert_uint_eq(count[BRAID_JVM_HEAP], 1);
	ck_assert_uint_eq(e->flags, BRAID_HEAP_FAILED | BRAID_HEAP_COPIED);
	ck_assert_uint_eq(e->number, BRAID_HEAP_COUNTED);
	copied(0); /* a second copy is read by nobody */
	ck_assert_uint_eq(count[BRAID_JVM_HEAP], 1);
	ck_assert_uint_eq(count[BRAID_JVM_HEAP_CLASS], 0);
}
END_TEST

Suite *test_heap_count(void)
{
	Suite *suite = suite_create("heap count");
	TCase *tc = tcase_create("copies");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, only_what_is_asked_for);
	tcase_add_loop_test(tc, failures, 0, 2);
	suite_add_tcase(suite, tc);
	return suite;
}
