// SPDX-License-Identifier: Apache-2.0
/*
 * Tests of the agent's capabilities: which ones it requests, which ones the JVM refuses, and which ones it returns to
 * others.
 */
#include "agent.h"
#include "fake_jvmti.h"
#include "recorder.h"
#include "core/config.h"

#include <string.h>

#define DEFAULT_INTERVAL (512 * 1024)
#define EVERYTHING ((1U << BRAID_EVENT_TYPES) - 1)

Suite *test_caps(void);

static const struct braid_event_config none,
	all = {.enabled = EVERYTHING, .alloc_interval = 1 << 20, .live_max = 10},
	allocations = {.enabled = BRAID_EVENT_TYPE(ALLOC), .alloc_interval = 1 << 20};

static void begin(struct recorder *r, enum braid_start start, const struct braid_event_config *c)
{
	recorder_open(r);
	fake.phase = start == BRAID_START_ONLOAD ? JVMTI_PHASE_ONLOAD : JVMTI_PHASE_LIVE;
	recorder_let_in(r, start, c);
}

static const struct braid_rec_hello *hello(struct recorder *r)
{
	const struct braid_rec_hello *h = recorder_find(r, BRAID_REC_HELLO);

	ck_assert_ptr_nonnull(h);
	return h;
}

static bool holds(unsigned capability)
{
	return fake_bit(fake.capabilities, capability);
}

/* A refused capability costs no other one; the collector and its user receive a notice. */
START_TEST(one_refusal_costs_no_other)
{
	struct recorder r;
	const struct braid_rec_hello *h;

	fake_jvm_start();
	fake_bit_set(fake.vanishing, CAP_MONITOR_EVENTS, true);
	fake_bit_set(fake.potential, CAP_GARBAGE_COLLECTION, false);
	begin(&r, BRAID_START_ONLOAD, &all);
	h = hello(&r);
	ck_assert_uint_eq(h->caps_refused[0], 1ULL << CAP_MONITOR_EVENTS | 1ULL << CAP_GARBAGE_COLLECTION);
	ck_assert_uint_eq(h->caps_got[0], fake.capabilities[0]);
	ck_assert(holds(CAP_COMPILED_METHOD_LOAD) && holds(CAP_SAMPLED_OBJECT_ALLOC) && holds(CAP_VIRTUAL_THREADS));
	ck_assert(!fake_is_enabled(JVMTI_EVENT_MONITOR_WAIT));
	ck_assert(!fake_is_enabled(JVMTI_EVENT_GARBAGE_COLLECTION_START));
	ck_assert(fake_is_enabled(JVMTI_EVENT_COMPILED_METHOD_LOAD) &&
		  fake_is_enabled(JVMTI_EVENT_SAMPLED_OBJECT_ALLOC));
	ck_assert_uint_eq(
		caps_can(all.enabled) & (BRAID_EVENT_TYPE(LOCK) | BRAID_EVENT_TYPE(WAIT) | BRAID_EVENT_TYPE(GC)), 0);
	ck_assert_uint_eq(recorder_notices(&r, "this JVM does not report"), 2);
	recorder_close(&r);
}
END_TEST

/* A JVM that refuses all of them is recorded all the same. */
START_TEST(all_refused)
{
	struct recorder r;
	uint32_t sent = 0;

	fake_jvm_start();
	fake.potential[0] = 0;
	begin(&r, BRAID_START_ONLOAD, &all);
	ck_assert_uint_eq(hello(&r)->caps_got[0], 0);
	ck_assert_uint_eq(fake.capabilities[0], 0);
	fake.phase = JVMTI_PHASE_LIVE;
	for (size_t i = 0; i < fake_event_count; i++)
		if (fake_events[i].phases >> JVMTI_PHASE_LIVE & 1 &&
		    (!fake_events[i].event || fake_is_enabled(fake_events[i].event))) {
			fake_send(&fake_events[i], 0);
			sent++;
		}
	ck_assert_uint_gt(sent, 5);
	ck_assert_uint_gt(recorder_count(&r, BRAID_REC_STUB), 0);
	recorder_close(&r);
}
END_TEST

/* An error from GetPotentialCapabilities counts as a refusal. */
START_TEST(no_answer_is_a_refusal)
{
	struct recorder r;

	fake_jvm_start();
	fake.errors[FAKE_TI(GetPotentialCapabilities)] = JVMTI_ERROR_INTERNAL;
	begin(&r, BRAID_START_ONLOAD, &none);
	ck_assert_uint_eq(hello(&r)->caps_got[0], 0);
	ck_assert_uint_eq(fake.ti_calls[FAKE_TI(AddCapabilities)], 0);
	recorder_close(&r);
}
END_TEST

/*
 * Only a capability that an enabled type needs is reported as refused: the one for exceptions is, the early VM start is
 * not.
 */
START_TEST(later_is_not_missed)
{
	struct recorder r;

	fake_jvm_start();
	fake_bit_set(fake.potential, CAP_EARLY_VM_START, false);
	fake_bit_set(fake.potential, CAP_EXCEPTION_EVENTS, false);
	begin(&r, BRAID_START_ONLOAD, &all);
	ck_assert_uint_eq(hello(&r)->caps_refused[0], 1ULL << CAP_EXCEPTION_EVENTS);
	ck_assert_uint_eq(recorder_notices(&r, "exceptions"), 1);
	recorder_close(&r);
}
END_TEST

/* The agent does not hold a solo capability while the type is not enabled. */
START_TEST(nothing_unwanted_is_taken)
{
	struct recorder r;

	fake_jvm_start();
	begin(&r, BRAID_START_ONLOAD, &none);
	for (unsigned i = 0; i < 45; i++)
		ck_assert_msg(!holds(i) || i == CAP_COMPILED_METHOD_LOAD || i == CAP_LINE_NUMBERS ||
				      i == CAP_SOURCE_FILE_NAME || i == CAP_EARLY_VM_START,
			      "capability %u is held for nothing", i);
	ck_assert_int_eq(fake.interval, DEFAULT_INTERVAL);
	ck_assert_uint_eq(fake.ti_calls[FAKE_TI(SetHeapSamplingInterval)], 0);
	recorder_close(&r);
}
END_TEST

/* Sampled allocations belong to one agent at a time: the one that uses them. */
START_TEST(allocations_go_from_hand_to_hand)
{
	struct recorder r;

	fake_jvm_start();
	begin(&r, BRAID_START_ATTACH, &allocations);
	ck_assert(recorder_hears(&r, BRAID_MSG_CONFIGURED, NULL));
	ck_assert(holds(CAP_SAMPLED_OBJECT_ALLOC));
	ck_assert_int_eq(fake.interval, 1 << 20);

	/* The type is disabled: another agent can take the capability, and finds the JVM's own interval. */
	ck_assert_uint_eq(recorder_choose(&r, &none), 0);
	ck_assert(!holds(CAP_SAMPLED_OBJECT_ALLOC));
	ck_assert_int_eq(fake.interval, DEFAULT_INTERVAL);

	/* The other agent has taken it, and its interval stays. */
	fake_bit_set(fake.elsewhere, CAP_SAMPLED_OBJECT_ALLOC, true);
	fake.interval = 4096;
	ck_assert_uint_eq(recorder_choose(&r, &allocations), 0);
	ck_assert_int_eq(fake.interval, 4096);
	ck_assert_uint_eq(recorder_choose(&r, &none), 0);
	ck_assert_int_eq(fake.interval, 4096);

	/* The other agent has returned it. */
	fake_bit_set(fake.elsewhere, CAP_SAMPLED_OBJECT_ALLOC, false);
	ck_assert_uint_eq(recorder_choose(&r, &allocations), BRAID_EVENT_TYPE(ALLOC));
	ck_assert_int_eq(fake.interval, 1 << 20);
	recorder_stop(&r);
	ck_assert_int_eq(fake.interval, DEFAULT_INTERVAL);
	recorder_close(&r);
}
END_TEST

/* After a recording the JVM is as it was before, however the recording ended. */
static void nothing_is_left(void)
{
	ck_assert_uint_eq(fake.capabilities[0] | fake.capabilities[1], 0);
	ck_assert_uint_eq(atomic_load(&fake.events), 0);
	ck_assert_ptr_null(fake.on_class_unload);
	ck_assert_int_eq(fake.interval, DEFAULT_INTERVAL);
	ck_assert_int_eq(atomic_load(&fake.weak), 0);
	ck_assert_int_eq(atomic_load(&fake.allocated), 0);
}

START_TEST(everything_is_given_back)
{
	fake_jvm_start();
	fake.thread_count = 5;
	fake.class_count = 50;
	for (int i = 0; i < 3; i++) {
		struct recorder r;

		begin(&r, BRAID_START_ATTACH, &all);
		ck_assert(recorder_hears(&r, BRAID_MSG_CONFIGURED, NULL));
		fake_send_named("SampledObjectAlloc");
		ck_assert_int_eq(atomic_load(&fake.weak), 1);
		recorder_stop(&r);
		nothing_is_left();
		ck_assert_int_eq(atomic_load(&fake.environments), 0);
		recorder_close(&r);
	}
}
END_TEST

/* A JVM that refuses the events or the agent's thread: the agent keeps nothing. */
START_TEST(a_refused_start_gives_it_back_too)
{
	struct recorder r;

	fake_jvm_start();
	fake.errors[FAKE_TI(SetEventCallbacks)] = JVMTI_ERROR_INTERNAL;
	begin(&r, BRAID_START_ONLOAD, &all);
	ck_assert(!recorder_hears(&r, 0, NULL));
	nothing_is_left();
	recorder_close(&r);

	fake.errors[FAKE_TI(SetEventCallbacks)] = JVMTI_ERROR_NONE;
	fake.errors[FAKE_TI(RunAgentThread)] = JVMTI_ERROR_OUT_OF_MEMORY;
	begin(&r, BRAID_START_ATTACH, &all);
	ck_assert(!recorder_hears(&r, 0, NULL));
	nothing_is_left();
	recorder_close(&r);

	fake.errors[FAKE_TI(RunAgentThread)] = JVMTI_ERROR_NONE;
	begin(&r, BRAID_START_ATTACH, &all);
	ck_assert(recorder_hears(&r, BRAID_MSG_CONFIGURED, NULL));
	recorder_stop(&r);
	nothing_is_left();
	recorder_close(&r);
}
END_TEST

/* Before 11, JVM TI's table ends before SetHeapSamplingInterval: what follows the table is no function. */
START_TEST(an_old_table_has_an_end)
{
	struct recorder r;

	fake_jvm_start();
	fake.version = JVMTI_VERSION_1_2;
	begin(&r, BRAID_START_ONLOAD, &all);
	ck_assert_uint_eq(fake.ti_calls[FAKE_TI(SetHeapSamplingInterval)], 0);
	fake.phase = JVMTI_PHASE_LIVE;
	fake_send_named("ClassLoad");
	fake_send_named("MonitorContendedEnter");
	fake_send_named("MonitorContendedEntered");
	ck_assert_uint_eq(fake.ti_calls[FAKE_TI(GetNamedModule)], 0);
	ck_assert_uint_eq(fake.jni_calls[FAKE_JNI_IS_VIRTUAL_THREAD], 0);
	recorder_close(&r);
}
END_TEST

Suite *test_caps(void)
{
	Suite *s = suite_create("agent capabilities");
	TCase *t = tcase_create("capabilities");

	tcase_add_test(t, one_refusal_costs_no_other);
	tcase_add_test(t, all_refused);
	tcase_add_test(t, no_answer_is_a_refusal);
	tcase_add_test(t, later_is_not_missed);
	tcase_add_test(t, nothing_unwanted_is_taken);
	tcase_add_test(t, allocations_go_from_hand_to_hand);
	tcase_add_test(t, everything_is_given_back);
	tcase_add_test(t, a_refused_start_gives_it_back_too);
	tcase_add_test(t, an_old_table_has_an_end);
	suite_add_tcase(s, t);
	return s;
}
