// SPDX-License-Identifier: Apache-2.0
/* Tests of histograms of the heap: what is counted and published, when, and what is refused. */
#include "agent.h"
#include "fake_jvmti.h"
#include "recorder.h"
#include "core/config.h"
#include "events/handlers.h"

#include <string.h>

Suite *test_histogram(void);

#define SECOND_NS 1000000000ULL

/* No test takes an hour, however slow the machine is. */
static struct braid_event_config histograms(void)
{
	return (struct braid_event_config){.enabled = BRAID_EVENT_TYPE(HEAP),
					   .heap_interval_ns = 3600 * SECOND_NS,
					   .heap_max_pause_ns = 3600 * SECOND_NS};
}

static void begin(struct recorder *r, const struct braid_event_config *c)
{
	recorder_begin(r, c);
	fake.total_memory = 3000;
	fake.free_memory = 2000;
}

/* The next record, which must be a row. */
static const struct braid_rec_heap_class *row(struct recorder *r)
{
	const struct braid_rec *rec = recorder_read(r);

	ck_assert_ptr_nonnull(rec);
	ck_assert_uint_eq(rec->kind, BRAID_REC_HEAP_CLASS);
	return (const void *)rec;
}

static void row_is(const struct braid_rec_heap_class *c, uint64_t objects, uint64_t bytes, const char *strings)
{
	ck_assert_uint_eq(c->objects, objects);
	ck_assert_uint_eq(c->bytes, bytes);
	ck_assert_uint_eq((size_t)c->class_len + c->loader_len + c->loader_name_len, strlen(strings));
	ck_assert_mem_eq(c + 1, strings, strlen(strings));
}

static const struct braid_jvm_event *event(struct recorder *r, uint32_t kind)
{
	const struct braid_rec_jvm_event *e = recorder_find(r, BRAID_REC_JVM_EVENT);

	ck_assert_ptr_nonnull(e);
	ck_assert_uint_eq(e->event.kind, kind);
	return &e->event;
}

/* Rows come between the estimate and the result, the largest first; nothing stays in the JVM. */
START_TEST(counted_by_class)
{
	const struct braid_event_config c = histograms();
	const struct braid_rec_heap_class *one;
	const struct braid_jvm_event *e;
	struct recorder r;

	begin(&r, &c);
	fake.class_count = 5;
	fake.objects[2] = 100;
	fake.objects[4] = 3;
	fake.objects[5] = 1;
	fake.objects[0] = 2;
	histogram_kind.tick(&fake_jni);
	e = event(&r, BRAID_JVM_HEAP_ESTIMATE);
	ck_assert_uint_eq(e->value, 1000);
	ck_assert_uint_eq(e->weight, 1000 / 24 * 120 + 1000 % 24 * 5);
	ck_assert_uint_eq(e->flags, BRAID_HEAP_AT_MOST);
	one = row(&r);
	row_is(one, 100, 3200, "LC2;LC7;text");
	ck_assert_uint_eq(one->which, BRAID_HEAP_ROW_CLASS);
	ck_assert_uint_eq(one->loader_hash, 1007);
	ck_assert_uint_eq(one->number, 1);
	row_is(row(&r), 3, 192, "LC4;LC7;text");
	row_is(row(&r), 1, 80, "LC5;LC7;text");
	one = row(&r);
	row_is(one, 2, 32, "");
	ck_assert_uint_eq(one->which, BRAID_HEAP_ROW_LATER);
	e = event(&r, BRAID_JVM_HEAP);
	ck_assert_uint_eq(e->value, 3200 + 192 + 80 + 32);
	ck_assert_uint_eq(e->weight, 106);
	ck_assert_uint_eq(e->number, 1);
	ck_assert_uint_eq(e->flags, 0);
	ck_assert_uint_ge(e->end_ns, e->start_ns);
	ck_assert_int_eq(fake.environments, 1);
	ck_assert_int_eq(fake.allocated, 0);
	ck_assert_uint_eq(fake.ti_calls[FAKE_TI(ForceGarbageCollection)], 0);
	recorder_close(&r);
}
END_TEST

/* A thousand classes have rows; the others are a sum, which says how many. */
START_TEST(rows_are_bounded)
{
	const struct braid_event_config c = histograms();
	const struct braid_rec_heap_class *one;
	struct recorder r;
	uint64_t rest = 0;

	begin(&r, &c);
	fake.class_count = 1200;
	for (uint32_t i = 1; i <= 1200; i++)
		fake.objects[i] = 1;
	for (uint32_t i = 1; i <= 200; i++)
		rest += 16 * i;
	histogram_kind.tick(&fake_jni);
	event(&r, BRAID_JVM_HEAP_ESTIMATE);
	for (int i = 0; i < 1000; i++)
		ck_assert_uint_eq(row(&r)->which, BRAID_HEAP_ROW_CLASS);
	one = row(&r);
	row_is(one, 200, rest, "");
	ck_assert_uint_eq(one->which, BRAID_HEAP_ROW_REST);
	ck_assert_uint_eq(one->classes, 200);
	event(&r, BRAID_JVM_HEAP);
	recorder_close(&r);
}
END_TEST

/* 1 s is enough for 200 MB, not for 1 GB; when how small objects are is not known. */
START_TEST(too_long_is_refused)
{
	struct braid_event_config c = histograms();
	struct recorder r;

	c.heap_max_pause_ns = SECOND_NS;
	begin(&r, &c);
	fake.total_memory = 1100000000;
	fake.free_memory = 100000000;
	histogram_kind.tick(&fake_jni);
	ck_assert_uint_eq(event(&r, BRAID_JVM_HEAP_ESTIMATE)->flags, BRAID_HEAP_REFUSED | BRAID_HEAP_AT_MOST);
	ck_assert_ptr_null(recorder_read(&r));
	ck_assert_uint_eq(fake.ti_calls[FAKE_TI(IterateThroughHeap)], 0);
	c.heap_max_pause_ns = 6 * SECOND_NS;
	histogram_kind.start(&c);
	histogram_kind.stop(&fake_jni);
	histogram_kind.start(&c);
	histogram_kind.tick(&fake_jni);
	ck_assert_uint_eq(event(&r, BRAID_JVM_HEAP_ESTIMATE)->flags, BRAID_HEAP_AT_MOST);
	event(&r, BRAID_JVM_HEAP);
	recorder_close(&r);
}
END_TEST

/* An estimate can be wrong: counting ends at the limit. */
START_TEST(given_up)
{
	struct braid_event_config c = histograms();
	const struct braid_jvm_event *e;
	struct recorder r;

	c.heap_max_pause_ns = 1;
	begin(&r, &c);
	fake.free_memory = fake.total_memory;
	fake.class_count = 1;
	fake.objects[1] = 1000000;
	histogram_kind.tick(&fake_jni);
	event(&r, BRAID_JVM_HEAP_ESTIMATE);
	e = event(&r, BRAID_JVM_HEAP);
	ck_assert_uint_eq(e->flags, BRAID_HEAP_ABORTED);
	ck_assert_uint_lt(e->weight, 1000000);
	recorder_close(&r);
}
END_TEST

/* The JVM remembers how fast it was, for recordings to come. */
START_TEST(estimated_as_measured)
{
	struct braid_event_config c = histograms();
	const struct braid_jvm_event *e;
	double rate;
	struct recorder r;

	begin(&r, &c);
	fake.class_count = 1;
	fake.objects[1] = 1000000;
	histogram_kind.tick(&fake_jni);
	event(&r, BRAID_JVM_HEAP_ESTIMATE);
	(void)row(&r);
	e = event(&r, BRAID_JVM_HEAP);
	rate = (double)e->value / (double)(e->end_ns - e->start_ns < 1000000 ? 1000000 : e->end_ns - e->start_ns);
	histogram_kind.stop(&fake_jni);
	fake.total_memory = 1000000000;
	fake.free_memory = 0;
	histogram_kind.start(&c);
	histogram_kind.tick(&fake_jni);
	e = event(&r, BRAID_JVM_HEAP_ESTIMATE);
	ck_assert_uint_eq(e->flags & BRAID_HEAP_AT_MOST, 0);
	ck_assert_double_eq_tol((double)e->weight, 1e9 / rate, 1e9 / rate / 1000);
	recorder_close(&r);
}
END_TEST

/* The first one is due at once, the next one after the interval; an interval of 0 means one only. */
START_TEST(when_it_is_due)
{
	struct braid_event_config c = histograms();
	struct recorder r;

	begin(&r, &c);
	for (int i = 0; i < 3; i++)
		histogram_kind.tick(&fake_jni);
	ck_assert_uint_eq(fake.ti_calls[FAKE_TI(IterateThroughHeap)], 1);
	c.heap_interval_ns = 1;
	histogram_kind.stop(&fake_jni);
	histogram_kind.start(&c);
	for (int i = 0; i < 3; i++)
		histogram_kind.tick(&fake_jni);
	ck_assert_uint_eq(fake.ti_calls[FAKE_TI(IterateThroughHeap)], 4);
	c.heap_interval_ns = 0;
	histogram_kind.stop(&fake_jni);
	histogram_kind.start(&c);
	for (int i = 0; i < 3; i++)
		histogram_kind.tick(&fake_jni);
	ck_assert_uint_eq(fake.ti_calls[FAKE_TI(IterateThroughHeap)], 5);
	recorder_close(&r);
}
END_TEST

/* Only the helper takes one at the end: a thread of the application does not wait for it. */
START_TEST(not_by_a_thread_of_the_program)
{
	const struct braid_event_config c = histograms();
	struct recorder r;

	begin(&r, &c);
	histogram_kind.publish(&fake_jni);
	ck_assert_uint_eq(fake.ti_calls[FAKE_TI(IterateThroughHeap)], 0);
	recorder_close(&r);
}
END_TEST

START_TEST(garbage_is_collected_on_request)
{
	struct braid_event_config c = histograms();
	struct recorder r;

	c.heap_live = 1;
	begin(&r, &c);
	histogram_kind.tick(&fake_jni);
	ck_assert_uint_eq(fake.ti_calls[FAKE_TI(ForceGarbageCollection)], 1);
	event(&r, BRAID_JVM_HEAP_ESTIMATE);
	ck_assert_uint_eq(event(&r, BRAID_JVM_HEAP)->flags, BRAID_HEAP_LIVE);
	recorder_close(&r);
}
END_TEST

/* A JVM that ends while its heap is counted has refused nothing. */
START_TEST(jvm_ends_meanwhile)
{
	const struct braid_event_config c = histograms();
	struct recorder r;

	begin(&r, &c);
	fake.errors[FAKE_TI(GetLoadedClasses)] = JVMTI_ERROR_WRONG_PHASE;
	histogram_kind.tick(&fake_jni);
	event(&r, BRAID_JVM_HEAP_ESTIMATE);
	ck_assert_ptr_null(recorder_read(&r));
	recorder_close(&r);
}
END_TEST

/* A JVM that refuses, or has no memory, is left as it was. */
START_TEST(refusals)
{
	static const size_t functions[] = {FAKE_TI(GetLoadedClasses), FAKE_TI(AddCapabilities), FAKE_TI(SetTag),
					   FAKE_TI(IterateThroughHeap)};
	struct braid_event_config c = histograms();
	struct recorder r;

	begin(&r, &c);
	fake.class_count = 2;
	fake.objects[1] = 1;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		histogram_kind.stop(&fake_jni);
		histogram_kind.start(&c);
		fake.errors[functions[i]] = JVMTI_ERROR_OUT_OF_MEMORY;
		histogram_kind.tick(&fake_jni);
		fake.errors[functions[i]] = JVMTI_ERROR_NONE;
		event(&r, BRAID_JVM_HEAP_ESTIMATE);
		ck_assert_uint_eq(recorder_notices(&r, "does not let its heap be counted"), 1);
		ck_assert_int_eq(fake.environments, 1);
		ck_assert_int_eq(fake.allocated, 0);
	}
	fake.throws[FAKE_JNI(PushLocalFrame)] = true;
	histogram_kind.stop(&fake_jni);
	histogram_kind.start(&c);
	histogram_kind.tick(&fake_jni);
	ck_assert_uint_eq(event(&r, BRAID_JVM_HEAP)->flags, BRAID_HEAP_FAILED);
	fake.throws[FAKE_JNI(PushLocalFrame)] = false;
	fake.throws[FAKE_JNI(CallLongMethod)] = true;
	histogram_kind.stop(&fake_jni);
	histogram_kind.start(&c);
	histogram_kind.tick(&fake_jni);
	ck_assert_uint_eq(event(&r, BRAID_JVM_HEAP_ESTIMATE)->value, 0);
	recorder_close(&r);
}
END_TEST

Suite *test_histogram(void)
{
	Suite *s = suite_create("agent histogram");
	TCase *c = tcase_create("all");

	tcase_add_test(c, counted_by_class);
	tcase_add_test(c, rows_are_bounded);
	tcase_add_test(c, too_long_is_refused);
	tcase_add_test(c, given_up);
	tcase_add_test(c, estimated_as_measured);
	tcase_add_test(c, when_it_is_due);
	tcase_add_test(c, not_by_a_thread_of_the_program);
	tcase_add_test(c, garbage_is_collected_on_request);
	tcase_add_test(c, refusals);
	tcase_add_test(c, jvm_ends_meanwhile);
	suite_add_tcase(s, c);
	return s;
}
