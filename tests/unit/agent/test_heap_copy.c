// SPDX-License-Identifier: Apache-2.0
/* Tests of copies of the heap: what the copy has, what is published, and that no copy stays. */
#include "agent.h"
#include "fake_jvmti.h"
#include "recorder.h"
#include "events/handlers.h"
#include "vm/layout.h"

#include <braid/heap_roots.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

Suite *test_heap_copy(void);

#define SECOND_NS 1000000000ULL

static const struct braid_event_config copies = {
	.enabled = BRAID_EVENT_TYPE(HEAP), .heap_copy = BRAID_HEAP_COPY_DUMP, .heap_max_pause_ns = 3600 * SECOND_NS};

/* With `known`, as if the JVM's objects had been found. */
static void begin(struct recorder *r, const struct braid_event_config *c, bool known)
{
	recorder_begin(r, c);
	layout_objects_set(&(struct braid_objects){.flags = known ? BRAID_OBJECTS_THREADS : 0});
}

static const struct braid_jvm_event *event(struct recorder *r, uint32_t kind)
{
	const struct braid_rec_jvm_event *e = recorder_find(r, BRAID_REC_JVM_EVENT);

	ck_assert_ptr_nonnull(e);
	ck_assert_uint_eq(e->event.kind, kind);
	return &e->event;
}

static void read_copy(pid_t pid, uint64_t address, void *to, size_t size)
{
	struct iovec local = {.iov_base = to, .iov_len = size};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};

	ck_assert_int_eq(process_vm_readv(pid, &local, 1, &remote, 1, 0), (ssize_t)size);
}

static void root_is(const struct braid_heap_root *r, uint64_t object, uint32_t kind, uint64_t thread, uint32_t depth)
{
	ck_assert_uint_eq(r->object, object);
	ck_assert_uint_eq(r->bytes, 16 * object);
	ck_assert_uint_eq(r->kind, kind);
	ck_assert_uint_eq(r->thread, thread);
	ck_assert_uint_eq(r->depth, depth);
}

/* The JVM walks until the first root only; the copy has all of them, and ends with the recording. */
START_TEST(the_copy_has_the_roots)
{
	const struct braid_jvm_event *e;
	struct braid_heap_root roots[4];
	struct braid_heap_roots head;
	struct recorder r;
	pid_t pid;

	begin(&r, &copies, true);
	histogram_kind.tick(&fake_jni);
	ck_assert_uint_eq(fake.ti_calls[FAKE_TI(IterateThroughHeap)], 0);
	heap_copy_kind.tick(&fake_jni);
	e = event(&r, BRAID_JVM_HEAP_ESTIMATE);
	ck_assert_uint_eq(e->flags, BRAID_HEAP_COPIED);
	ck_assert_uint_gt(e->value, 0);
	ck_assert_uint_gt(e->weight, 0);
	e = event(&r, BRAID_JVM_HEAP_COPY);
	ck_assert_uint_eq(e->flags, 0);
	ck_assert_uint_ge(e->end_ns, e->start_ns);
	pid = (pid_t)e->number;
	do
		read_copy(pid, e->value, &head, sizeof(head));
	while (head.state == BRAID_ROOTS_COLLECTING);
	ck_assert_uint_eq(head.magic, BRAID_ROOTS_MAGIC);
	ck_assert_uint_eq(head.state, BRAID_ROOTS_COMPLETE);
	ck_assert_uint_eq(head.count, 4);
	ck_assert_uint_eq(head.layout.objects.flags, BRAID_OBJECTS_THREADS);
	read_copy(pid, e->value + sizeof(head), roots, sizeof(roots));
	root_is(&roots[0], 1, BRAID_ROOT_JNI_GLOBAL, 0, 0);
	root_is(&roots[1], 2, BRAID_ROOT_SYSTEM_CLASS, 0, 0);
	root_is(&roots[2], 3, BRAID_ROOT_THREAD, 0, 0);
	root_is(&roots[3], 4, BRAID_ROOT_STACK_LOCAL, 77, 3);
	ck_assert_int_eq(fake.environments, 1);
	heap_copy_kind.tick(&fake_jni);
	ck_assert_uint_eq(fake.ti_calls[FAKE_TI(FollowReferences)], 1);
	ck_assert_int_eq(kill(pid, 0), 0);
	heap_copy_kind.stop(&fake_jni);
	ck_assert(kill(pid, 0) && errno == ESRCH);
	recorder_close(&r);
}
END_TEST

/* The program does not notice a copy that ends: it has no child and gets no signal. */
START_TEST(the_program_does_not_see_it)
{
	const struct braid_jvm_event *e;
	struct recorder r;
	pid_t pid;

	begin(&r, &copies, true);
	heap_copy_kind.tick(&fake_jni);
	event(&r, BRAID_JVM_HEAP_ESTIMATE);
	e = event(&r, BRAID_JVM_HEAP_COPY);
	pid = (pid_t)e->number;
	ck_assert(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
	kill(pid, SIGKILL);
	while (!kill(pid, 0)) /* the next tick notices that it is gone */
		heap_copy_kind.tick(&fake_jni);
	heap_copy_kind.stop(&fake_jni);
	recorder_close(&r);
}
END_TEST

/* Objects are watched for a time, and are in the table by the slots of their references. */
START_TEST(watched_objects)
{
	struct braid_event_config c = copies;
	const struct braid_jvm_event allocation = {.value = 48, .weight = 4096};
	struct braid_heap_watched watched;
	const struct braid_jvm_event *e;
	struct braid_heap_roots head;
	uint64_t number;
	struct recorder r;

	c.enabled |= BRAID_EVENT_TYPE(ALLOC) | BRAID_EVENT_TYPE(LIVE);
	c.live_max = 8;
	c.heap_watch_s = 3600;
	begin(&r, &c, true);
	live_kind.start(&c);
	number = live_watch(&fake_jni, (jobject)(uintptr_t)0x1001, NULL, &allocation);
	ck_assert_uint_ne(number, 0);
	heap_copy_kind.tick(&fake_jni);
	ck_assert_uint_eq(fake.ti_calls[FAKE_TI(FollowReferences)], 0);

	c.heap_watch_s = 0;
	heap_copy_kind.start(&c);
	heap_copy_kind.tick(&fake_jni);
	event(&r, BRAID_JVM_HEAP_ESTIMATE);
	e = event(&r, BRAID_JVM_HEAP_COPY);
	read_copy((pid_t)e->number, e->value, &head, sizeof(head));
	ck_assert_uint_eq(head.watched_count, 1);
	read_copy((pid_t)e->number, head.watched, &watched, sizeof(watched));
	ck_assert_uint_eq(watched.number, number);
	ck_assert_uint_eq(watched.bytes, 48);
	ck_assert_uint_eq(watched.weight, 4096);
	ck_assert_uint_eq(watched.slot, 0x1000); /* without the tag */
	heap_copy_kind.stop(&fake_jni);
	live_kind.stop(&fake_jni);
	recorder_close(&r);
}
END_TEST

/* The estimate of a copy that is counted is that of a histogram. */
START_TEST(copies_to_count)
{
	struct braid_event_config c = copies;
	struct recorder r;

	c.heap_copy = BRAID_HEAP_COPY_COUNT;
	begin(&r, &c, true);
	histogram_kind.tick(&fake_jni);
	ck_assert_uint_eq(fake.ti_calls[FAKE_TI(IterateThroughHeap)], 0);
	heap_copy_kind.tick(&fake_jni);
	ck_assert_uint_eq(event(&r, BRAID_JVM_HEAP_ESTIMATE)->number, BRAID_HEAP_COUNTED);
	ck_assert_uint_eq(event(&r, BRAID_JVM_HEAP_COPY)->flags, 0);
	heap_copy_kind.stop(&fake_jni);
	recorder_close(&r);
}
END_TEST

/* A heap that cannot be copied is counted by the JVM. */
START_TEST(counts_without_a_copy)
{
	struct braid_event_config c = copies;
	struct recorder r;

	c.heap_copy = BRAID_HEAP_COPY_COUNT;
	begin(&r, &c, false);
	for (int i = 0; i < 3; i++) {
		ck_assert_uint_eq(fake.ti_calls[FAKE_TI(IterateThroughHeap)], 0);
		heap_copy_kind.tick(&fake_jni);
		histogram_kind.tick(&fake_jni);
	}
	ck_assert_uint_eq(event(&r, BRAID_JVM_HEAP_ESTIMATE)->flags, BRAID_HEAP_AT_MOST);
	ck_assert_uint_eq(fake.ti_calls[FAKE_TI(IterateThroughHeap)], 1);
	ck_assert_uint_eq(fake.ti_calls[FAKE_TI(FollowReferences)], 0);
	recorder_close(&r);
}
END_TEST

/* What the machine takes for a page is in the estimate. */
START_TEST(estimates)
{
	struct braid_event_config c = copies;
	struct recorder r;
	uint64_t known, slow;

	c.heap_max_pause_ns = 1;
	c.heap_page_ps = 1000;
	begin(&r, &c, true);
	heap_copy_kind.tick(&fake_jni);
	known = event(&r, BRAID_JVM_HEAP_ESTIMATE)->weight;
	heap_copy_kind.stop(&fake_jni);
	c.heap_page_ps = 1000000000;
	heap_copy_kind.start(&c);
	heap_copy_kind.tick(&fake_jni);
	slow = event(&r, BRAID_JVM_HEAP_ESTIMATE)->weight;
	ck_assert_uint_gt(slow, known + 10 * 1000000); /* ten pages */
	recorder_close(&r);
}
END_TEST

START_TEST(refusals)
{
	struct braid_event_config c = copies;
	struct recorder r;

	c.heap_max_pause_ns = 1;
	begin(&r, &c, true);
	heap_copy_kind.tick(&fake_jni);
	ck_assert_uint_eq(event(&r, BRAID_JVM_HEAP_ESTIMATE)->flags, BRAID_HEAP_COPIED | BRAID_HEAP_REFUSED);
	ck_assert_ptr_null(recorder_read(&r));
	ck_assert_uint_eq(fake.ti_calls[FAKE_TI(FollowReferences)], 0);

	heap_copy_kind.stop(&fake_jni);
	heap_copy_kind.start(&copies);
	fake.errors[FAKE_TI(FollowReferences)] = JVMTI_ERROR_OUT_OF_MEMORY;
	heap_copy_kind.tick(&fake_jni);
	event(&r, BRAID_JVM_HEAP_ESTIMATE);
	ck_assert_uint_eq(recorder_notices(&r, "does not let its heap be walked"), 1);
	ck_assert_int_eq(fake.environments, 1);
	recorder_close(&r);
}
END_TEST

START_TEST(unknown_objects)
{
	struct recorder r;

	begin(&r, &copies, false);
	for (int i = 0; i < 3; i++)
		heap_copy_kind.tick(&fake_jni);
	ck_assert_uint_eq(recorder_notices(&r, "does not know where this JVM keeps its objects"), 1);
	ck_assert_uint_eq(fake.ti_calls[FAKE_TI(FollowReferences)], 0);
	recorder_close(&r);
}
END_TEST

/* Where objects are can become known a moment later. */
START_TEST(known_later)
{
	struct recorder r;

	begin(&r, &copies, false);
	heap_copy_kind.tick(&fake_jni);
	ck_assert_ptr_null(recorder_find(&r, BRAID_REC_JVM_EVENT));
	layout_objects_set(&(struct braid_objects){.flags = BRAID_OBJECTS_THREADS});
	heap_copy_kind.tick(&fake_jni);
	event(&r, BRAID_JVM_HEAP_ESTIMATE);
	ck_assert_uint_eq(event(&r, BRAID_JVM_HEAP_COPY)->flags, 0);
	heap_copy_kind.stop(&fake_jni);
	recorder_close(&r);
}
END_TEST

Suite *test_heap_copy(void)
{
	Suite *s = suite_create("heap_copy");
	TCase *c = tcase_create("all");

	tcase_add_test(c, the_copy_has_the_roots);
	tcase_add_test(c, the_program_does_not_see_it);
	tcase_add_test(c, watched_objects);
	tcase_add_test(c, copies_to_count);
	tcase_add_test(c, counts_without_a_copy);
	tcase_add_test(c, estimates);
	tcase_add_test(c, refusals);
	tcase_add_test(c, unknown_objects);
	tcase_add_test(c, known_later);
	suite_add_tcase(s, c);
	return s;
}
