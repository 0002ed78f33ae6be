// SPDX-License-Identifier: Apache-2.0
/* Tests of JNI functions that are hooked: what is counted, what is published, and whose functions are in the table. */
#include "agent.h"
#include "fake_jvmti.h"
#include "recorder.h"
#include "core/config.h"
#include "core/jni_table.h"
#include "events/handlers.h"

#include <string.h>
#include <time.h>

Suite *test_jni(void);

static const struct braid_event_config both = {
	.enabled = BRAID_EVENT_TYPES_JNI, .jni_max = 4, .critical_min_ns = 1000000};

/* A copy, to be compared and to be freed by JVM TI. */
static void **table(void)
{
	jniNativeInterface *copy;

	ck_assert_int_eq((*&fake_env)->GetJNIFunctionTable(&fake_env, &copy), JVMTI_ERROR_NONE);
	return (void **)copy;
}

static void set_table(void **to)
{
	ck_assert_int_eq((*&fake_env)->SetJNIFunctionTable(&fake_env, (jniNativeInterface *)to), JVMTI_ERROR_NONE);
}

static void release(void **table)
{
	(*&fake_env)->Deallocate(&fake_env, (unsigned char *)table);
}

/* What the two kinds do when a configuration with and without them arrives. */
static void on(void)
{
	jni_refs_kind.on_enabled(&fake_jni);
	jni_critical_kind.on_enabled(&fake_jni);
}

static void off(void)
{
	jni_refs_kind.stop(&fake_jni);
	jni_critical_kind.stop(&fake_jni);
}

static const struct braid_jvm_event *next(struct recorder *r, uint32_t kind)
{
	const struct braid_rec_jvm_event *d;

	while ((d = recorder_find(r, BRAID_REC_JVM_EVENT)))
		if (d->event.kind == kind)
			return &d->event;
	return NULL;
}

static void sums_are(struct recorder *r, uint64_t created, uint64_t deleted, uint64_t unwatched, uint32_t others)
{
	const struct braid_jvm_event *d = next(r, BRAID_JVM_JNI_REFS);

	ck_assert_ptr_nonnull(d);
	ck_assert_uint_eq(d->value, created);
	ck_assert_uint_eq(d->weight, deleted);
	ck_assert_uint_eq(d->number, unwatched);
	ck_assert_uint_eq(d->flags, others);
}

static jobject global(uintptr_t object)
{
	return fake_jni->NewGlobalRef(&fake_jni, (jobject)object);
}

START_TEST(references_that_are_there)
{
	jobject older, one, other;
	const struct braid_jvm_event *d;
	struct recorder r;

	recorder_begin(&r, &both);
	older = global(1);
	on();
	one = global(1);
	other = global(1);
	(void)fake_jni->NewWeakGlobalRef(&fake_jni, (jobject)2);
	fake_jni->DeleteGlobalRef(&fake_jni, other);
	fake_jni->DeleteGlobalRef(&fake_jni, older);
	fake_jni->DeleteGlobalRef(&fake_jni, NULL);
	fake.gone = 1 << 2;
	recorder_skip(&r);
	jni_refs_kind.publish(&fake_jni);
	for (int i = 0; i < 2; i++) {
		d = next(&r, BRAID_JVM_JNI_REF);
		ck_assert_ptr_nonnull(d);
		ck_assert_uint_eq(d->value, 1);
		ck_assert(d->start_ns && d->start_ns <= d->end_ns);
		ck_assert(d->flags == 0 || d->flags == (BRAID_JNI_WEAK | BRAID_JNI_CLEARED));
	}
	sums_are(&r, 3, 1, 0, 1);
	fake_jni->DeleteGlobalRef(&fake_jni, one);
	jni_refs_kind.publish(&fake_jni);
	d = next(&r, BRAID_JVM_JNI_REF);
	ck_assert_ptr_nonnull(d);
	ck_assert_uint_eq(d->flags, BRAID_JNI_WEAK | BRAID_JNI_CLEARED);
	sums_are(&r, 3, 2, 0, 1);
	jni_refs_kind.forget(&fake_jni);
	jni_refs_kind.publish(&fake_jni);
	sums_are(&r, 0, 0, 0, 0);
	off();
	recorder_close(&r);
}
END_TEST

START_TEST(more_than_are_watched)
{
	const struct braid_jvm_event *d;
	struct recorder r;
	jobject refs[7];

	recorder_begin(&r, &both);
	on();
	for (int i = 0; i < 7; i++)
		refs[i] = global(1);
	jni_refs_kind.publish(&fake_jni);
	d = next(&r, BRAID_JVM_JNI_REF);
	ck_assert_uint_eq(d->value, 4);
	sums_are(&r, 7, 0, 3, 0);
	for (int i = 0; i < 7; i++)
		fake_jni->DeleteGlobalRef(&fake_jni, refs[i]);
	jni_refs_kind.publish(&fake_jni);
	ck_assert_ptr_null(next(&r, BRAID_JVM_JNI_REF));
	off();
	recorder_close(&r);
}
END_TEST

/* References that are deleted where no hook sees it: one is invalid, and the other one's place is used again. */
START_TEST(deleted_elsewhere)
{
	struct recorder r;

	recorder_begin(&r, &both);
	on();
	fake.invalid = (uintptr_t)global(1);
	(void)fake_jni->NewWeakGlobalRef(&fake_jni, (jobject)2);
	(void)fake_jni->NewWeakGlobalRef(&fake_jni, (jobject)2);
	jni_refs_kind.publish(&fake_jni);
	ck_assert_uint_eq(next(&r, BRAID_JVM_JNI_REF)->value, 1);
	sums_are(&r, 3, 2, 0, 0);
	off();
	recorder_close(&r);
}
END_TEST

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* Sections inside of others are none; one that began before the hooks has no begin. */
START_TEST(critical_sections)
{
	const struct braid_jvm_event *d;
	struct recorder r;
	char elements;

	recorder_begin(&r, &both);
	on();
	fake_jni->ReleasePrimitiveArrayCritical(&fake_jni, NULL, &elements, 0);
	(void)fake_jni->GetPrimitiveArrayCritical(&fake_jni, (jarray)1, NULL);
	(void)fake_jni->GetPrimitiveArrayCritical(&fake_jni, (jarray)1, NULL);
	fake_jni->ReleasePrimitiveArrayCritical(&fake_jni, NULL, &elements, 0);
	sleep_ms(2);
	fake_jni->ReleasePrimitiveArrayCritical(&fake_jni, NULL, &elements, 0);
	d = next(&r, BRAID_JVM_JNI_CRITICAL);
	ck_assert_ptr_nonnull(d);
	ck_assert_uint_ge(d->end_ns - d->start_ns, 2000000);
	ck_assert_uint_ne(d->name, 0);
	atomic_store(&config.critical_min_ns, UINT64_MAX);
	(void)fake_jni->GetPrimitiveArrayCritical(&fake_jni, (jarray)1, NULL);
	fake_jni->ReleasePrimitiveArrayCritical(&fake_jni, NULL, &elements, 0);
	jvm_event_publish_counted();
	d = next(&r, BRAID_JVM_COUNTED);
	ck_assert_ptr_nonnull(d);
	ck_assert_uint_eq(d->value, 1);
	ck_assert_uint_eq(d->number, BRAID_JVM_JNI_CRITICAL);

	/* It goes on while nothing is recorded. */
	atomic_store(&config.critical_min_ns, 0);
	(void)fake_jni->GetPrimitiveArrayCritical(&fake_jni, (jarray)1, NULL);
	off();
	fake_jni->ReleasePrimitiveArrayCritical(&fake_jni, NULL, &elements, 0);
	on();
	fake_jni->ReleasePrimitiveArrayCritical(&fake_jni, NULL, &elements, 0);
	ck_assert_ptr_null(next(&r, BRAID_JVM_JNI_CRITICAL));
	off();
	recorder_close(&r);
}
END_TEST

static jobject(JNICALL *others_former)(JNIEnv *, jobject);
static int others_calls;

static jobject JNICALL others(JNIEnv *jni, jobject object)
{
	others_calls++;
	return others_former(jni, object);
}

/* The table is as it was, however often it is changed; other slots keep what others put there. */
START_TEST(table_as_it_was)
{
	void **before, **during, **after;
	size_t slot = JNI_SLOT(NewStringUTF);
	struct recorder r;

	recorder_begin(&r, &both);
	before = table();
	for (int i = 0; i < 3; i++) {
		on();
		on();
		during = table();
		ck_assert_ptr_ne(during[JNI_SLOT(NewGlobalRef)], before[JNI_SLOT(NewGlobalRef)]);
		before[slot] = during[slot] = (void *)(uintptr_t)(i + 1);
		set_table(during);
		release(during);
		off();
		off();
		after = table();
		ck_assert_mem_eq(after, before, FAKE_JNI_SLOTS * sizeof(*after));
		release(after);
	}
	ck_assert_uint_eq(recorder_notices(&r, "agent"), 0);
	release(before);
	recorder_close(&r);
}
END_TEST

/* Another agent's function comes during a recording, stays during the next one, and goes. */
START_TEST(table_of_two)
{
	void **before, **now;
	struct recorder r;

	recorder_begin(&r, &both);
	before = table();
	on();
	now = table();
	memcpy(&others_former, &now[JNI_SLOT(NewGlobalRef)], sizeof(others_former));
	now[JNI_SLOT(NewGlobalRef)] = (void *)(uintptr_t)others;
	set_table(now);
	release(now);
	off();
	ck_assert_uint_eq(recorder_notices(&r, "another agent has replaced JNI functions (1)"), 1);
	now = table();
	ck_assert_ptr_eq(now[JNI_SLOT(NewGlobalRef)], (void *)(uintptr_t)others);
	release(now);
	(void)global(1);
	ck_assert_int_eq(others_calls, 1);

	on();
	(void)global(1);
	ck_assert_int_eq(others_calls, 2);
	jni_refs_kind.publish(&fake_jni);
	sums_are(&r, 1, 0, 0, 0);
	now = table();
	memcpy(&now[JNI_SLOT(NewGlobalRef)], &others_former, sizeof(others_former));
	set_table(now);
	release(now);
	off();
	now = table();
	ck_assert_mem_eq(now, before, FAKE_JNI_SLOTS * sizeof(*now));
	release(now);
	release(before);
	recorder_close(&r);
}
END_TEST

/* What the agent creates for itself is no reference of the program. */
START_TEST(own_references)
{
	struct recorder r;

	recorder_begin(&r, &both);
	on();
	jni_weak_delete(&fake_jni, jni_weak_new(&fake_jni, (jobject)1));
	(void)jni_global_new(&fake_jni, (jobject)1);
	ck_assert_int_eq(atomic_load(&fake.global), 1);
	jni_refs_kind.publish(&fake_jni);
	sums_are(&r, 0, 0, 0, 0);
	off();
	recorder_close(&r);
}
END_TEST

/* The JVM refuses: nothing is watched, and a notice says so. */
START_TEST(refused)
{
	struct recorder r;

	recorder_begin(&r, &both);
	fake.errors[FAKE_TI(SetJNIFunctionTable)] = JVMTI_ERROR_NOT_AVAILABLE;
	on();
	ck_assert_uint_eq(recorder_notices(&r, "does not change its JNI functions"), 2);
	fake.errors[FAKE_TI(GetJNIFunctionTable)] = JVMTI_ERROR_NOT_AVAILABLE;
	on();
	ck_assert_uint_eq(recorder_notices(&r, "does not show its JNI functions"), 2);
	recorder_close(&r);
}
END_TEST

Suite *test_jni(void)
{
	Suite *s = suite_create("agent JNI");
	TCase *t = tcase_create("hooks");

	tcase_add_test(t, references_that_are_there);
	tcase_add_test(t, more_than_are_watched);
	tcase_add_test(t, deleted_elsewhere);
	tcase_add_test(t, critical_sections);
	tcase_add_test(t, table_as_it_was);
	tcase_add_test(t, table_of_two);
	tcase_add_test(t, own_references);
	tcase_add_test(t, refused);
	suite_add_tcase(s, t);
	return s;
}
