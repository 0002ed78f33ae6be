// SPDX-License-Identifier: Apache-2.0
/*
 * Sends every event in every phase in which a JVM sends it, with and without a pending exception of the application.
 * The fake JVM checks each call of a handler, and that the exception stays.
 */
#include "agent.h"
#include "fake_jvmti.h"
#include "recorder.h"

#include <string.h>

#define PENDING 77 /* the application's exception */

Suite *test_phases(void);

void JNICALL Agent_OnUnload(JavaVM *vm);

static const struct braid_event_config all = {
	.enabled = (1U << BRAID_EVENT_TYPES) - 1, .alloc_interval = 1 << 20, .live_max = 10, .exception_rate = 1};

static uint32_t send_all(uintptr_t pending)
{
	uint32_t sent = 0;

	for (size_t i = 0; i < fake_event_count; i++)
		if (fake_events[i].phases >> fake.phase & 1) {
			fake_send(&fake_events[i], pending);
			sent++;
		}
	return sent;
}

/* A JVM's life from Agent_OnLoad on. */
START_TEST(every_event_in_every_phase)
{
	struct recorder r;

	fake_jvm_start();
	fake.thread_count = 3;
	recorder_open(&r);
	recorder_let_in(&r, BRAID_START_ONLOAD, &all);
	fake.phase = JVMTI_PHASE_PRIMORDIAL;
	ck_assert_uint_eq(send_all(0), 2);
	fake.phase = JVMTI_PHASE_START;
	ck_assert_uint_gt(send_all(0), 10);
	ck_assert_uint_gt(send_all(PENDING), 10);
	fake.phase = JVMTI_PHASE_LIVE;
	fake_enter(FAKE_ANYTHING, 0);
	fake.callbacks.VMInit(&fake_env, &fake_jni, (jthread)1);
	fake_leave();
	ck_assert(recorder_hears(&r, BRAID_MSG_CONFIGURED, NULL));
	ck_assert_uint_gt(send_all(0), 15);
	ck_assert_uint_gt(send_all(PENDING), 15);
	fake_enter(FAKE_ANYTHING, 0);
	fake.callbacks.VMDeath(&fake_env, &fake_jni);
	fake_leave();
	fake.phase = JVMTI_PHASE_DEAD;
	Agent_OnUnload(&fake_vm);
	ck_assert(!recorder_hears(&r, 0, NULL));
	recorder_close(&r);
}
END_TEST

/* Every event with a pending exception, while JNI functions fail with another one: the first exception stays. */
START_TEST(exceptions_stay)
{
	static const size_t failing[] = {
		FAKE_JNI(NewWeakGlobalRef),
		FAKE_JNI(GetFieldID),
		FAKE_JNI(PushLocalFrame),
		FAKE_JNI(EnsureLocalCapacity),
	};
	struct recorder r;

	recorder_begin(&r, &all);
	(void)send_all(PENDING);
	ck_assert_uint_gt(fake.jni_calls[FAKE_JNI(Throw)], 0); /* some exceptions were cleared meanwhile */
	for (size_t i = 0; i < sizeof(failing) / sizeof(failing[0]); i++) {
		fake.throws[failing[i]] = true;
		(void)send_all(0);
		(void)send_all(PENDING);
		fake.throws[failing[i]] = false;
	}
	recorder_close(&r);
}
END_TEST

/* No failing function of JVM TI makes a handler break the rules. */
START_TEST(errors_are_borne)
{
	struct recorder r;

	recorder_begin(&r, &all);
	for (size_t slot = 0; slot < FAKE_TI_SLOTS; slot++) {
		fake.errors[slot] = slot == FAKE_TI(Deallocate) ? JVMTI_ERROR_NONE : JVMTI_ERROR_OUT_OF_MEMORY;
		(void)send_all(PENDING);
		recorder_skip(&r);
		fake.errors[slot] = JVMTI_ERROR_NONE;
	}
	recorder_close(&r);
}
END_TEST

/* Native methods that are bound before JNI is available get their names once it is, in their order. */
START_TEST(early_binds_are_told_later)
{
	const struct braid_rec_named_event *e;
	const struct braid_rec_method *m;
	struct recorder r;

	fake_jvm_start();
	recorder_open(&r);
	recorder_let_in(&r, BRAID_START_ONLOAD, &all);
	recorder_skip(&r);
	fake.phase = JVMTI_PHASE_PRIMORDIAL;
	for (uintptr_t i = 1; i <= 600; i++) { /* more than are kept */
		void *address = (void *)(i * 16);

		fake_enter(FAKE_NO_JNI, 0);
		fake.callbacks.NativeMethodBind(&fake_env, NULL, NULL, (jmethodID)i, address, &address);
		fake_leave();
	}
	ck_assert_ptr_null(recorder_find(&r, BRAID_REC_NAMED_EVENT));
	fake.phase = JVMTI_PHASE_START;
	fake_send_named("VMStart");
	e = recorder_find(&r, BRAID_REC_NAMED_EVENT);
	ck_assert_uint_eq(e->event, BRAID_JVM_PHASE);
	for (uint32_t i = 1; i <= 512; i++) {
		m = recorder_find(&r, BRAID_REC_METHOD);
		ck_assert_ptr_nonnull(m);
		e = recorder_find(&r, BRAID_REC_NAMED_EVENT);
		ck_assert_uint_eq(e->event, BRAID_JVM_NATIVE_BIND);
		ck_assert_uint_eq(e->number, i * 16);
		ck_assert_uint_eq(e->method, i);
	}
	ck_assert_ptr_null(recorder_find(&r, BRAID_REC_NAMED_EVENT));
	ck_assert(publish_losses());
	ck_assert_uint_eq(recorder_count(&r, BRAID_REC_LOSS), 1);
	recorder_close(&r);
}
END_TEST

/* The replay at the live phase reports a thread that started before. */
START_TEST(early_threads_are_told_later)
{
	struct recorder r;

	fake_jvm_start();
	recorder_open(&r);
	recorder_let_in(&r, BRAID_START_ONLOAD, &all);
	fake.phase = JVMTI_PHASE_START;
	fake_send_named("ThreadStart");
	ck_assert_uint_eq(recorder_count(&r, BRAID_REC_THREAD), 0);
	fake.phase = JVMTI_PHASE_LIVE;
	fake_send_named("ThreadStart");
	ck_assert_uint_eq(recorder_count(&r, BRAID_REC_THREAD), 1);
	recorder_close(&r);
}
END_TEST

/* After VMDeath there are neither records nor calls. */
START_TEST(dead_is_dead)
{
	struct recorder r, second;
	struct load l;
	uint32_t calls = 0, after = 0;

	recorder_begin(&r, &all);
	(void)send_all(0);
	fake_enter(FAKE_ANYTHING, 0);
	fake.callbacks.VMDeath(&fake_env, &fake_jni);
	fake_leave();
	ck_assert_ptr_nonnull(recorder_find(&r, BRAID_REC_VM_DEATH));
	ck_assert_ptr_null(recorder_read(&r));
	for (size_t i = 0; i < FAKE_TI_SLOTS; i++)
		calls += fake.ti_calls[i];
	for (size_t i = 0; i < fake_event_count; i++) { /* some handlers were entered before */
		fake_enter(fake_events[i].rules, 0);
		fake_events[i].send();
		fake_leave();
	}
	recorder_open(&second);
	load_begin(&l, BRAID_START_ATTACH, &second);
	ck_assert_ptr_null(recorder_read(&r));
	load_end(&l);
	ck_assert(!recorder_has_visitor(&second, 0));
	for (size_t i = 0; i < FAKE_TI_SLOTS; i++)
		after += fake.ti_calls[i];
	ck_assert_uint_le(after, calls + fake.ti_calls[FAKE_TI(GetPhase)]);
	recorder_close(&r);
	recorder_close(&second);
}
END_TEST

Suite *test_phases(void)
{
	Suite *s = suite_create("agent phases");
	TCase *t = tcase_create("phases");

	tcase_add_test(t, every_event_in_every_phase);
	tcase_add_test(t, exceptions_stay);
	tcase_add_test(t, errors_are_borne);
	tcase_add_test(t, early_binds_are_told_later);
	tcase_add_test(t, early_threads_are_told_later);
	tcase_add_test(t, dead_is_dead);
	suite_add_tcase(s, t);
	return s;
}
