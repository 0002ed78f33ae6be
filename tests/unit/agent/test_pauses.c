// SPDX-License-Identifier: Apache-2.0
/*
 * Tests of the handlers of pauses: what they publish and which functions they call. Inside a pause they may use no JNI,
 * no memory, no lock, and only a few functions of JVM TI; the fake JVM checks that at each event.
 */
#include "agent.h"
#include "fake_jvmti.h"
#include "fake_vm.h"
#include "recorder.h"

#include <string.h>

Suite *test_pauses(void);

static const struct braid_event_config pauses = {.enabled = BRAID_EVENT_TYPE(GC)};

/* Starts a test with a JVM that has performance counters. */
static void begin(struct recorder *r, const char *young, const char *full)
{
	fake_vm_count(young, full);
	fake_vm_heap(1000);
	recorder_begin(r, &pauses);
}

/* The counters of a collection that ends now. */
static void collects(enum fake_counter runs)
{
	(*fake_vm_number(runs))++;
	*fake_vm_number(runs + 1) = *fake_vm_number(runs + 2) + 1000;
	*fake_vm_number(runs + 2) = clock_ns();
}

static const struct braid_rec_gc *finish(struct recorder *r)
{
	const struct braid_rec_gc *f = recorder_find(r, BRAID_REC_GC_FINISH);

	ck_assert_ptr_nonnull(f);
	return f;
}

static void is_called(const struct braid_rec_gc *f, const char *collector, const char *cause)
{
	const char *text = (const char *)(f + 1);

	ck_assert_uint_eq(f->collector_len, strlen(collector));
	ck_assert_mem_eq(text, collector, f->collector_len);
	ck_assert_uint_eq(f->cause_len, strlen(cause));
	ck_assert_mem_eq(text + f->collector_len, cause, f->cause_len);
}

START_TEST(one_collection)
{
	const struct braid_rec_gc *f;
	struct recorder r;

	begin(&r, "G1 young collection pauses", "G1 full collection pauses");
	for (uint64_t i = 1; i <= 3; i++) {
		fake_vm_text(FAKE_CAUSE, "Allocation Failure");
		fake_vm_heap(5000);
		fake_send_named("GarbageCollectionStart");
		collects(FAKE_YOUNG_RUNS);
		fake_vm_heap(3000);
		fake_send_named("GarbageCollectionFinish");
		f = finish(&r);
		ck_assert_uint_eq(f->sequence, i);
		ck_assert_uint_eq(f->used_before, 5000);
		ck_assert_uint_eq(f->used_after, 3000);
		ck_assert(f->start_ns && f->start_ns <= f->hdr.time_ns);
		is_called(f, "G1 young collection pauses", "Allocation Failure");
	}
	recorder_close(&r);
}
END_TEST

/* A young collection that has not freed enough, then a full one: two consecutive pauses in one stop. */
START_TEST(two_in_one_stop)
{
	const struct braid_rec_gc *f;
	struct recorder r;
	uint64_t ends;

	begin(&r, "Copy", "MSC");
	fake_send_named("GarbageCollectionStart");
	collects(FAKE_YOUNG_RUNS);
	collects(FAKE_FULL_RUNS);
	fake_vm_text(FAKE_LAST_CAUSE, "System.gc()");
	fake_send_named("GarbageCollectionFinish");
	f = finish(&r);
	is_called(f, "Copy", "System.gc()");
	ck_assert_uint_eq(f->sequence, 1);
	ends = f->hdr.time_ns;
	f = finish(&r);
	is_called(f, "MSC", "System.gc()");
	ck_assert_uint_eq(f->sequence, 2);
	ck_assert_uint_ge(f->start_ns, ends);
	ck_assert_ptr_null(recorder_find(&r, BRAID_REC_GC_FINISH));
	recorder_close(&r);
}
END_TEST

/* Some operations report the beginning and the end of a pause twice. */
START_TEST(said_twice)
{
	struct recorder r;

	begin(&r, "PSScavenge", "PSParallelCompact");
	fake_send_named("GarbageCollectionStart");
	fake_send_named("GarbageCollectionStart");
	collects(FAKE_FULL_RUNS);
	fake_send_named("GarbageCollectionFinish");
	ck_assert_ptr_null(recorder_find(&r, BRAID_REC_GC_FINISH));
	fake_send_named("GarbageCollectionFinish");
	is_called(finish(&r), "PSParallelCompact", "");
	ck_assert_ptr_null(recorder_find(&r, BRAID_REC_GC_FINISH));
	recorder_close(&r);
}
END_TEST

/* The agent was loaded during the pause. */
START_TEST(without_a_beginning)
{
	const struct braid_rec_gc *f;
	struct recorder r;

	begin(&r, "PSScavenge", "PSParallelCompact");
	collects(FAKE_YOUNG_RUNS);
	fake_send_named("GarbageCollectionFinish");
	f = finish(&r);
	ck_assert_uint_eq(f->start_ns, 0);
	is_called(f, "", "");
	recorder_close(&r);
}
END_TEST

/* -XX:-UsePerfData, and an unknown kind of heap. */
START_TEST(nothing_is_counted)
{
	const struct braid_rec_gc *f;
	struct recorder r;

	recorder_begin(&r, &pauses);
	fake_send_named("GarbageCollectionStart");
	fake_send_named("GarbageCollectionFinish");
	f = finish(&r);
	ck_assert_uint_eq(f->used_before, 0);
	ck_assert_uint_gt(f->start_ns, 0);
	is_called(f, "", "");
	recorder_close(&r);
}
END_TEST

/* A pause that finds no room in the ring is counted; the unloading of a class goes into the next record of its kind. */
START_TEST(a_full_ring_does_not_hold_it_up)
{
	static uint8_t record[4096];
	const struct braid_rec_class_unload *u;
	const struct braid_rec_loss *l;
	struct recorder r;

	begin(&r, "Copy", "MSC");
	((struct braid_rec *)(void *)record)->kind = BRAID_REC_STUB;
	while (publish_direct((struct iovec[]){PART(record, sizeof(record))}, 1))
		;
	while (publish_direct((struct iovec[]){PART(record, 32)}, 1))
		;
	ck_assert(publish_definition((struct iovec[]){PART(record, sizeof(record))}, 1)); /* it waits */
	for (int i = 0; i < 3; i++) {
		fake_send_named("GarbageCollectionStart");
		collects(FAKE_YOUNG_RUNS);
		fake_send_named("ClassUnload");
		fake_send_named("GarbageCollectionFinish");
	}
	recorder_skip(&r);
	fake_send_named("ClassUnload");
	u = recorder_find(&r, BRAID_REC_CLASS_UNLOAD);
	ck_assert_ptr_nonnull(u);
	ck_assert_uint_eq(u->count, 4);
	ck_assert_uint_eq(u->name_len, 4);
	ck_assert_mem_eq(u + 1, "Gone", 4);
	ck_assert(publish_losses());
	l = recorder_find(&r, BRAID_REC_LOSS);
	ck_assert_uint_eq(l->count, 2);
	for (uint32_t i = 0; i < l->count; i++)
		ck_assert_uint_eq(((const struct braid_loss *)(const void *)(l + 1))[i].lost, 3);
	recorder_close(&r);
}
END_TEST

Suite *test_pauses(void)
{
	Suite *s = suite_create("agent pauses");
	TCase *t = tcase_create("pauses");

	tcase_add_test(t, one_collection);
	tcase_add_test(t, two_in_one_stop);
	tcase_add_test(t, said_twice);
	tcase_add_test(t, without_a_beginning);
	tcase_add_test(t, nothing_is_counted);
	tcase_add_test(t, a_full_ring_does_not_hold_it_up);
	suite_add_tcase(s, t);
	return s;
}
