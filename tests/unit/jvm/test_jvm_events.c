// SPDX-License-Identifier: Apache-2.0
/* Tests of an agent's records of threads, classes and other events, including records that no agent would send. */
#include "unit/jvm_fixture.h"

#include "analyze/events.h"
#include "jvm/gc.h"
#include "jvm/jvm_events.h"
#include "jvm/parked.h"

#include <braid/hit.h>

Suite *test_jvm_events(void);

static void thread_start(uint64_t java_thread, uint32_t tid, uint32_t flags, uint16_t rec_flags)
{
	const struct braid_rec_thread r = {
		.hdr = {.kind = BRAID_REC_THREAD, .flags = rec_flags, .tid = tid, .time_ns = 100},
		.java_thread = java_thread,
		.thread_tid = tid,
		.flags = flags,
		.priority = 5,
		.name_len = 4,
		.group_len = 5,
		.cpu_ns = 1000,
		.system_ns = 100,
	};

	send(&r, sizeof(r), "nameGROUP");
}

static void thread_end(uint64_t java_thread, uint32_t tid, const char *name)
{
	const struct braid_rec_thread_end r = {
		.hdr = {.kind = BRAID_REC_THREAD_END, .tid = tid, .time_ns = 200},
		.java_thread = java_thread,
		.cpu_ns = 5000,
		.system_ns = 9000,
		.name_len = (uint16_t)strlen(name),
	};

	send(&r, sizeof(r), name);
}

START_TEST(thread_told_twice_starts_once)
{
	thread_start(0x1000, TID, 0, BRAID_REC_REPLAY);
	thread_start(0x1000, TID, 0, 0);
	ck_assert_uint_eq(count[BRAID_JVM_THREAD_START], 1);
	ck_assert_uint_eq(last[BRAID_JVM_THREAD_START].process, 7);
	ck_assert_uint_eq(last[BRAID_JVM_THREAD_START].value, 5);
	ck_assert_str_eq(names[last[BRAID_JVM_THREAD_START].name], "name");
	ck_assert_str_eq(names[last[BRAID_JVM_THREAD_START].detail], "GROUP");

	thread_end(0x1000, TID, "other");
	ck_assert_uint_eq(count[BRAID_JVM_THREAD_END], 1);
	ck_assert_uint_eq(count[BRAID_JVM_THREAD_RENAME], 1);
	ck_assert_str_eq(names[last[BRAID_JVM_THREAD_END].name], "other");
	ck_assert_str_eq(last_thread, "other");
	ck_assert_uint_eq(last[BRAID_JVM_THREAD_END].thread, last[BRAID_JVM_THREAD_START].thread);
	ck_assert_uint_eq(last[BRAID_JVM_THREAD_END].value, 4000);
	ck_assert_uint_eq(last[BRAID_JVM_THREAD_END].weight, 4000); /* at most all of it */
}
END_TEST

START_TEST(older_threads_have_no_start)
{
	thread_start(0x1000, TID, BRAID_THREAD_INITIAL, BRAID_REC_REPLAY);
	thread_start(0x1000, TID, BRAID_THREAD_AGAIN, BRAID_REC_REPLAY);
	ck_assert_uint_eq(count[BRAID_JVM_THREAD_START], 0);
	ck_assert_uint_eq(count[BRAID_JVM_THREAD_RENAME], 0);
	thread_end(0x1000, TID, "name");
	thread_end(0x2000, TID + 1, "unknown");
	ck_assert_uint_eq(count[BRAID_JVM_THREAD_END], 2);
	ck_assert_uint_eq(last[BRAID_JVM_THREAD_END].value, 5000);
	ck_assert_str_eq(last_thread, "unknown");
}
END_TEST

START_TEST(a_thread_after_another)
{
	uint32_t first;

	thread_start(0x1000, TID, 0, 0);
	first = last[BRAID_JVM_THREAD_START].thread;
	thread_end(0x1000, TID, "name");
	thread_start(0x2000, TID, 0, 0); /* the OS thread is a Java thread again */
	ck_assert_uint_eq(count[BRAID_JVM_THREAD_START], 2);
	ck_assert_uint_eq(last[BRAID_JVM_THREAD_START].thread, first);
	ck_assert_uint_eq(count[BRAID_JVM_THREAD_RENAME], 0);
}
END_TEST

START_TEST(unwanted_is_not_told)
{
	jvm_configure(jvm, ALL_TYPES & ~BRAID_EVENT_TYPE(THREAD));
	thread_start(0x1000, TID, 0, 0);
	thread_end(0x1000, TID, "name");
	ck_assert_uint_eq(count[BRAID_JVM_THREAD_START] + count[BRAID_JVM_THREAD_END], 0);
	ck_assert_str_eq(last_thread, "name"); /* the name that samples get */
}
END_TEST

START_TEST(class_with_all_its_parts)
{
	struct braid_rec_class r = {
		.hdr = {.kind = BRAID_REC_CLASS, .tid = TID, .time_ns = 100},
		.modifiers = 0x21,
		.class_len = 7,
		.loader_len = 7,
		.loader_name_len = 3,
		.module_len = 3,
		.source_len = 6,
	};

	send(&r, sizeof(r), "La/B$C;Lx/Ldr;appmodB.java");
	ck_assert_uint_eq(count[BRAID_JVM_CLASS_LOAD], 1);
	ck_assert_str_eq(names[last[BRAID_JVM_CLASS_LOAD].name], "a.B$C");
	ck_assert_str_eq(names[last[BRAID_JVM_CLASS_LOAD].detail], "x.Ldr 'app'");
	ck_assert_str_eq(last_text, "mod/B.java");
	ck_assert_uint_eq(last[BRAID_JVM_CLASS_LOAD].value, 0x21);

	r.loader_len = r.loader_name_len = r.module_len = r.source_len = 0;
	send(&r, sizeof(r), "La/B$C;");
	ck_assert_str_eq(names[last[BRAID_JVM_CLASS_LOAD].detail], "boot");
	ck_assert_str_eq(last_text, "");

	r.prepared = 1;
	send(&r, sizeof(r), "La/B$C;");
	ck_assert_uint_eq(count[BRAID_JVM_CLASS_LOAD], 2);
	ck_assert_uint_eq(count[BRAID_JVM_CLASS_PREPARE], 1);
}
END_TEST

START_TEST(told_event)
{
	const struct braid_rec_named_event r = {
		.hdr = {.kind = BRAID_REC_NAMED_EVENT, .tid = TID, .time_ns = 100},
		.event = BRAID_JVM_VTHREAD_START,
		.value = 1,
		.number = 44,
		.name_len = 2,
		.detail_len = 1,
		.text_len = 3,
	};

	send(&r, sizeof(r), "v1dtxt");
	ck_assert_uint_eq(last[BRAID_JVM_VTHREAD_START].number, 44);
	ck_assert_str_eq(names[last[BRAID_JVM_VTHREAD_START].name], "v1");
	ck_assert_str_eq(names[last[BRAID_JVM_VTHREAD_START].detail], "d");
	ck_assert_str_eq(last_text, "txt");
}
END_TEST

START_TEST(event_without_a_stack)
{
	const struct braid_rec_type t = {.hdr = {.kind = BRAID_REC_TYPE}, .type = 3, .name_len = 5};
	struct braid_rec_jvm_event r = {
		.hdr = {.kind = BRAID_REC_JVM_EVENT, .tid = TID, .time_ns = 1000},
		.event = {.kind = BRAID_JVM_LOCK, .name = 3, .start_ns = 100, .end_ns = 400, .number = 77},
	};

	send(&t, sizeof(t), "La/B;");
	send(&r, sizeof(r), NULL);
	ck_assert_uint_eq(count[BRAID_JVM_LOCK], 1);
	ck_assert_str_eq(names[last[BRAID_JVM_LOCK].name], "a.B");
	ck_assert_uint_eq(last[BRAID_JVM_LOCK].time_ns, 100);
	ck_assert_uint_eq(last[BRAID_JVM_LOCK].duration_ns, 300);
	ck_assert_uint_eq(last[BRAID_JVM_LOCK].number, 77);
	ck_assert_uint_eq(last[BRAID_JVM_LOCK].node, 0);

	r.event.name = 4;      /* never defined */
	r.event.end_ns = 5000; /* later than the record */
	send(&r, sizeof(r), NULL);
	ck_assert_uint_eq(count[BRAID_JVM_LOCK], 2);
	ck_assert_uint_eq(last[BRAID_JVM_LOCK].name, 0);
	ck_assert_uint_eq(last[BRAID_JVM_LOCK].duration_ns, 900);

	r.event.kind = BRAID_JVM_EVENTS;
	send(&r, sizeof(r), NULL);
	ck_assert_uint_eq(count[BRAID_JVM_LOCK], 2);
}
END_TEST

/* The record of a call comes before its event, and is used once. */
START_TEST(what_a_call_had)
{
	struct braid_rec_call r = {.hdr = {.kind = BRAID_REC_CALL, .tid = TID, .time_ns = 900},
				   .number = 5,
				   .exception_len = 5,
				   .values_len = 9};
	struct braid_rec_jvm_event e = {
		.hdr = {.kind = BRAID_REC_JVM_EVENT, .tid = TID, .time_ns = 1000},
		.event = {.kind = BRAID_JVM_METHOD, .start_ns = 100, .end_ns = 400, .number = 5},
	};
	const struct trace_jvm_event *got = &last[BRAID_JVM_METHOD];

	send(&r, sizeof(r), "La/B;arg1=\"\033\"x");
	send(&e, sizeof(e), NULL);
	ck_assert_uint_eq(count[BRAID_JVM_METHOD], 1);
	ck_assert_str_eq(names[got->detail], "a.B");
	ck_assert_str_eq(last_text, "arg1=\"?\"x");
	ck_assert_uint_eq(got->number, 0);

	send(&e, sizeof(e), NULL);
	ck_assert_uint_eq(count[BRAID_JVM_METHOD], 2);
	ck_assert_uint_eq(got->detail, 0);
	ck_assert_str_eq(last_text, "");

	r.exception_len = 0;
	r.number = UINT64_MAX;
	send(&r, sizeof(r), "arg1=1234");
	r.number = UINT64_MAX - 4096; /* the same place */
	send(&r, sizeof(r), "arg1=5678");
	e.event.number = UINT64_MAX;
	send(&e, sizeof(e), NULL);
	ck_assert_str_eq(last_text, "");
	e.event.number = UINT64_MAX - 4096;
	send(&e, sizeof(e), NULL);
	ck_assert_str_eq(last_text, "arg1=5678");
}
END_TEST

/* Records with any sizes, lengths and numbers. */
START_TEST(records_that_lie)
{
	static const uint16_t kinds[] = {BRAID_REC_THREAD,     BRAID_REC_THREAD_END, BRAID_REC_NAMED_EVENT,
					 BRAID_REC_CLASS,      BRAID_REC_TYPE,	     BRAID_REC_CLASS_UNLOAD,
					 BRAID_REC_HEAP_CLASS, BRAID_REC_CALL,	     BRAID_REC_LOSS,
					 BRAID_REC_REPLAYED,   BRAID_REC_GC_START,   BRAID_REC_JVM_EVENT,
					 BRAID_REC_PATTERN,    BRAID_REC_KINDS,	     0xffff};
	unsigned seed = 4;

	for (int i = 0; i < 20000; i++) {
		uint8_t bytes[160];
		struct braid_rec hdr = {.kind = kinds[(unsigned)rand_r(&seed) % (sizeof(kinds) / sizeof(kinds[0]))],
					.tid = TID + (uint32_t)rand_r(&seed) % 8,
					.time_ns = (uint64_t)i + 1};
		size_t size = sizeof(hdr) + (unsigned)rand_r(&seed) % (sizeof(bytes) - sizeof(hdr));
		int small = rand_r(&seed) % 4;

		for (size_t at = 0; at < sizeof(bytes); at++)
			bytes[at] = (uint8_t)(small && rand_r(&seed) % 4 ? rand_r(&seed) % 3 : rand_r(&seed));
		memcpy(bytes, &hdr, sizeof(hdr));
		if (hdr.kind == BRAID_REC_THREAD && size >= sizeof(struct braid_rec_thread))
			((struct braid_rec_thread *)(void *)bytes)->thread_tid = hdr.tid;
		send(bytes, size, NULL);
	}
	ck_assert_uint_gt(count[BRAID_JVM_CLASS_LOAD] + count[BRAID_JVM_THREAD_START], 10);
}
END_TEST

/* Times in the future, in the past, and durations longer than the agent's connection. */
START_TEST(times_that_cannot_be)
{
	struct braid_rec_named_event r = {.hdr = {.kind = BRAID_REC_NAMED_EVENT, .tid = TID, .time_ns = UINT64_MAX},
					  .event = BRAID_JVM_VTHREAD_START};
	struct braid_rec_jvm_event d = {.hdr = {.kind = BRAID_REC_JVM_EVENT, .tid = TID},
					.event = {.kind = BRAID_JVM_LOCK, .start_ns = 1, .end_ns = UINT64_MAX}};
	struct braid_rec_gc g = {.hdr = {.kind = BRAID_REC_GC_FINISH, .tid = TID, .time_ns = UINT64_MAX},
				 .start_ns = 1};
	uint64_t since = now_ns(), until;

	jvm_joined(jvm, since);
	send(&r, sizeof(r), NULL);
	ck_assert_uint_ge(last[BRAID_JVM_VTHREAD_START].time_ns, since);
	ck_assert_uint_le(last[BRAID_JVM_VTHREAD_START].time_ns, now_ns());
	r.hdr.time_ns = 1;
	send(&r, sizeof(r), NULL);
	ck_assert_uint_eq(last[BRAID_JVM_VTHREAD_START].time_ns, since);
	ck_assert_uint_eq(count[BRAID_JVM_VTHREAD_START], 2);

	d.hdr.time_ns = until = now_ns();
	send(&d, sizeof(d), NULL);
	ck_assert_uint_eq(last[BRAID_JVM_LOCK].time_ns, since);
	ck_assert_uint_eq(last[BRAID_JVM_LOCK].duration_ns, until - since);
	d.event.end_ns = 2;
	send(&d, sizeof(d), NULL);
	ck_assert_uint_eq(last[BRAID_JVM_LOCK].time_ns, since);
	ck_assert_uint_eq(last[BRAID_JVM_LOCK].duration_ns, 0);

	send(&g, sizeof(g), NULL);
	gc_settle(jvm, now_ns());
	ck_assert_uint_eq(count[BRAID_JVM_GC_PAUSE], 1);
	ck_assert_uint_ge(last[BRAID_JVM_GC_PAUSE].time_ns, since);
	ck_assert_uint_le(last[BRAID_JVM_GC_PAUSE].time_ns + last[BRAID_JVM_GC_PAUSE].duration_ns, now_ns());
}
END_TEST

static void code_load(uint64_t address, uint32_t size)
{
	const struct braid_rec_code_load r = {
		.hdr = {.kind = BRAID_REC_CODE_LOAD}, .address = address, .code_size = size, .compile_id = 1};

	send(&r, sizeof(r), NULL);
}

/* A valid layout is used; an impossible one changes nothing. */
START_TEST(layouts_that_cannot_be)
{
	struct braid_rec_layout r = {.hdr = {.kind = BRAID_REC_LAYOUT}, .layout.heap_count = 1};
	struct braid_code_heap *h = &r.layout.heaps[0];
	const struct braid_code_heap fine = {.low = 1 << 20, .high = 1 << 22, .segmap = 1 << 23, .log2_segment = 7};

	*h = fine;
	h->high = h->low + (1ULL << 43);
	send(&r, sizeof(r), NULL);
	ck_assert(!jvm_layout_known(jvm));
	*h = fine;
	h->log2_segment = 64;
	send(&r, sizeof(r), NULL);
	ck_assert(!jvm_layout_known(jvm));
	*h = fine;
	r.layout.heap_count = BRAID_CODE_HEAPS + 1;
	send(&r, sizeof(r), NULL);
	ck_assert(!jvm_layout_known(jvm));

	r.layout.heap_count = 1;
	send(&r, sizeof(r), NULL);
	ck_assert(jvm_layout_known(jvm));
	h->high = h->low;
	send(&r, sizeof(r), NULL);
	ck_assert_uint_eq(jvm_layout(jvm)->heaps[0].high, fine.high);
}
END_TEST

/* Code outside of its heap is refused. */
START_TEST(code_that_cannot_be)
{
	struct braid_rec_layout r = {.hdr = {.kind = BRAID_REC_LAYOUT}, .layout.heap_count = 1};
	unsigned before;

	r.layout.heaps[0] =
		(struct braid_code_heap){.low = 1 << 20, .high = 1 << 22, .segmap = 1 << 23, .log2_segment = 7};
	send(&r, sizeof(r), NULL);
	before = loads;
	code_load(1 << 21, UINT32_MAX);
	code_load(1 << 21, (1 << 21) + 1);
	code_load(1ULL << 47, 1);
	code_load(1 << 21, 0);
	ck_assert_uint_eq(loads, before);
	code_load(1 << 21, 1 << 21);
	ck_assert_uint_eq(loads, before + 1);
}
END_TEST

START_TEST(only_what_somebody_owns_is_a_lock)
{
	ck_assert(parked_is_lock("java.util.concurrent.locks.ReentrantLock$FairSync", false));
	ck_assert(parked_is_lock("java.util.concurrent.locks.ReentrantReadWriteLock$NonfairSync", false));
	ck_assert(parked_is_lock("java.util.concurrent.locks.StampedLock", false));
	ck_assert(!parked_is_lock("java.util.concurrent.Semaphore$NonfairSync", false));
	ck_assert(!parked_is_lock("java.util.concurrent.CountDownLatch$Sync", false));
	ck_assert(!parked_is_lock("my.own.Lock$Sync", false));
	ck_assert(parked_is_lock("my.own.Lock$Sync", true));
}
END_TEST

/* However many LOSS records an agent sends, the trace has one for each kind. */
START_TEST(losses_are_summed)
{
	struct {
		struct braid_rec_loss fixed;
		struct braid_loss pairs[500];
	} r = {.fixed.hdr.kind = BRAID_REC_LOSS, .fixed.count = 500};

	for (uint32_t i = 0; i < r.fixed.count; i++)
		r.pairs[i] = (struct braid_loss){.kind = BRAID_REC_METHOD, .lost = UINT32_MAX};
	losses = 0;
	for (int i = 0; i < 1000; i++)
		send(&r, sizeof(r), NULL);
	ck_assert_uint_eq(losses, 0);
	sink_flush(&sink);
	ck_assert_uint_eq(losses, 1);
	ck_assert_uint_eq(last_loss.count, 500000ULL * UINT32_MAX);
	ck_assert_uint_eq(last_loss.process, process.id);
	ck_assert_uint_eq(sink.lost, last_loss.count);

	/* Each kind is written, even if there are more kinds than the sink has room for. */
	r.fixed.count = BRAID_REC_KINDS;
	for (uint32_t i = 0; i < r.fixed.count; i++)
		r.pairs[i] = (struct braid_loss){.kind = i, .lost = 1};
	for (uint32_t p = 0; p < 8; p++) {
		process.id = 100 + p;
		send(&r, sizeof(r), NULL);
	}
	sink_losses(&sink);
	ck_assert_uint_ge(losses, 1 + 8 * 20U);
	ck_assert_uint_eq(sink.lost, 500000ULL * UINT32_MAX + 8 * BRAID_REC_KINDS);
}
END_TEST

/* ---- kernel events ---- */

static void receive_kernel(const struct braid_event_kernel *e)
{
	jvm_events_receive(&jvms, &process, &e->jvm, &(struct event_nodes){0});
}

static struct braid_event_kernel kernel_event(uint32_t kind)
{
	return (struct braid_event_kernel){.jvm = {.hdr = {.size = sizeof(struct braid_event_kernel), .time_ns = 9000},
						   .source = BRAID_SOURCE_KERNEL,
						   .event = {.kind = kind, .start_ns = 2000, .end_ns = 8000}}};
}

static void is_about(struct braid_event_kernel *e, enum braid_object kind, const char *text, size_t bytes)
{
	e->jvm.sleep = (uint32_t)kind << BRAID_SLEEP_OBJECT_SHIFT;
	memset(e->jvm.text, 0, sizeof(e->jvm.text));
	memcpy(e->jvm.text, text, bytes);
}
#define IS_ABOUT(e, kind, text) is_about(e, BRAID_OBJECT_##kind, text, sizeof(text) - 1)

START_TEST(system_calls_have_names)
{
	struct braid_event_kernel e = kernel_event(BRAID_JVM_SYSCALL);
	const struct trace_jvm_event *got = &last[BRAID_JVM_SYSCALL];

	IS_ABOUT(&e, PATH, "app.log\0var\0");
	e.jvm.event.value = 4096;
	memcpy(e.value, (uint64_t[8]){3, 0x7f0012345678, 4096, 9, 9, 9, 1, 4096}, sizeof(e.value));
	receive_kernel(&e);
	ck_assert_uint_eq(got->time_ns, 2000);
	ck_assert_uint_eq(got->duration_ns, 6000);
	ck_assert_uint_eq(got->value, 4096);
	ck_assert_str_eq(names[got->name], "/var/app.log");
	ck_assert_str_eq(names[got->detail], "write");
	ck_assert_str_eq(last_text, "(3, 0x7f0012345678, 4096) = 4096");

	e = kernel_event(BRAID_JVM_SYSCALL);
	memcpy(e.value, (uint64_t[8]){0xffffff9c, 0, 0, 0, 0, 0, 257, (uint64_t)-2}, sizeof(e.value));
	receive_kernel(&e);
	ck_assert_str_eq(names[got->name], "[openat]");
	ck_assert_str_eq(last_text, "(-100, 0, 0, 0) = -2");

	/* a call that this version does not know, with the largest numbers */
	memset(e.value, 0xab, sizeof(e.value));
	e.value[BRAID_SYSCALL_CALL] = 4000000000;
	receive_kernel(&e);
	ck_assert_str_eq(names[got->detail], "syscall_4000000000");
	ck_assert_uint_eq(strlen(last_text), 2 + 6 * 18 + 5 * 2 + 3 + 18);
}
END_TEST

START_TEST(page_faults_have_mappings)
{
	struct braid_event_kernel e = kernel_event(BRAID_JVM_FAULT);
	const struct trace_jvm_event *got = &last[BRAID_JVM_FAULT];

	IS_ABOUT(&e, NAME, "[heap]");
	e.jvm.event.number = 0x5000;
	e.value[BRAID_FAULT_MAJOR] = 1;
	receive_kernel(&e);
	ck_assert_str_eq(names[got->name], "[heap]");
	ck_assert_str_eq(names[got->detail], "major");
	ck_assert_uint_eq(got->number, 0x5000);
	ck_assert_uint_eq(got->duration_ns, 6000);
	e.value[BRAID_FAULT_MAJOR] = 0;
	IS_ABOUT(&e, NONE, ""); /* the mapping was not known */
	receive_kernel(&e);
	ck_assert_str_eq(names[got->detail], "minor");
	ck_assert_uint_eq(got->name, 0);
}
END_TEST

START_TEST(block_requests_have_operations)
{
	struct braid_event_kernel e = kernel_event(BRAID_JVM_BLOCK);
	const struct trace_jvm_event *got = &last[BRAID_JVM_BLOCK];

	IS_ABOUT(&e, NAME, "nvme0n1");
	e.jvm.event.weight = 50;
	e.value[BRAID_BLOCK_OPERATION] = 1;
	receive_kernel(&e);
	ck_assert_str_eq(names[got->name], "nvme0n1");
	ck_assert_str_eq(names[got->detail], "write");
	ck_assert_uint_eq(got->weight, 50);
	e.value[BRAID_BLOCK_OPERATION] = 77;
	receive_kernel(&e);
	ck_assert_str_eq(names[got->detail], "operation_77");
}
END_TEST

START_TEST(connections_have_peers)
{
	static const struct {
		bool retransmit;
		uint32_t error;
		const char *what;
	} is[] = {{false, 0, "connect"}, {false, 111, "failed connect"}, {true, 0, "retransmit"}};
	struct braid_event_kernel e = kernel_event(BRAID_JVM_TCP);

	IS_ABOUT(&e, INET, "\x0a\0\0\x02\0\0\0\0\0\0\0\0\0\0\0\0\x01\xbb");
	for (int i = 0; i < 3; i++) {
		e.jvm.event.flags = is[i].error;
		e.value[BRAID_TCP_RETRANSMIT] = is[i].retransmit;
		receive_kernel(&e);
		ck_assert_str_eq(names[last[BRAID_JVM_TCP].name], "10.0.0.2:443");
		ck_assert_str_eq(names[last[BRAID_JVM_TCP].detail], is[i].what);
	}
}
END_TEST

/* Nobody else sends them, and no part of one is believed. */
START_TEST(kernel_events_are_the_kernels)
{
	struct braid_event_kernel e = kernel_event(BRAID_JVM_SYSCALL);

	e.jvm.source = BRAID_SOURCE_AGENT;
	receive_kernel(&e);
	e.jvm.source = BRAID_SOURCE_KERNEL;
	e.jvm.hdr.size = sizeof(e.jvm);
	receive_kernel(&e);
	ck_assert_uint_eq(count[BRAID_JVM_SYSCALL], 0);
}
END_TEST

/* The writer is the text of a record, as the field is; the values are those of a CALL. */
START_TEST(a_write_has_its_writer)
{
	const struct braid_rec_type field = {.hdr = {.kind = BRAID_REC_TYPE}, .type = 3, .name_len = 5, .is_text = 1};
	const struct braid_rec_type writer = {.hdr = {.kind = BRAID_REC_TYPE}, .type = 4, .name_len = 7, .is_text = 1};
	const struct braid_rec_call values = {.hdr = {.kind = BRAID_REC_CALL}, .number = 5, .values_len = 5};
	struct braid_rec_jvm_event e = {
		.hdr = {.kind = BRAID_REC_JVM_EVENT, .tid = TID, .time_ns = 1000},
		.event = {.kind = BRAID_JVM_FIELD, .name = 3, .weight = 4, .start_ns = 400, .end_ns = 400, .number = 5},
	};
	const struct trace_jvm_event *got = &last[BRAID_JVM_FIELD], *sum = &last[BRAID_JVM_FIELD_WRITES];

	send(&field, sizeof(field), "a.B.f");
	send(&writer, sizeof(writer), "a.B.set");
	send(&values, sizeof(values), "new=1");
	send(&e, sizeof(e), NULL);
	ck_assert_uint_eq(count[BRAID_JVM_FIELD], 1);
	ck_assert_str_eq(names[got->name], "a.B.f");
	ck_assert_str_eq(names[got->detail], "a.B.set");
	ck_assert_str_eq(last_text, "new=1");
	ck_assert_uint_eq(got->weight, 0);
	ck_assert_uint_eq(got->number, 0);

	e.event.kind = BRAID_JVM_FIELD_WRITES;
	e.event.number = 0;
	e.event.value = 7;
	send(&e, sizeof(e), NULL);
	ck_assert_uint_eq(sum->value, 7);
	ck_assert_str_eq(names[sum->detail], "a.B.set");
	e.event.weight = UINT64_MAX; /* no such record */
	send(&e, sizeof(e), NULL);
	ck_assert_uint_eq(count[BRAID_JVM_FIELD_WRITES], 2);
	ck_assert_uint_eq(sum->detail, 0);
}
END_TEST

Suite *test_jvm_events(void)
{
	Suite *suite = suite_create("jvm events");
	TCase *tc = tcase_create("records");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, thread_told_twice_starts_once);
	tcase_add_test(tc, older_threads_have_no_start);
	tcase_add_test(tc, a_thread_after_another);
	tcase_add_test(tc, unwanted_is_not_told);
	tcase_add_test(tc, class_with_all_its_parts);
	tcase_add_test(tc, told_event);
	tcase_add_test(tc, event_without_a_stack);
	tcase_add_test(tc, what_a_call_had);
	tcase_add_test(tc, a_write_has_its_writer);
	tcase_add_test(tc, records_that_lie);
	tcase_add_test(tc, times_that_cannot_be);
	tcase_add_test(tc, losses_are_summed);
	tcase_add_test(tc, layouts_that_cannot_be);
	tcase_add_test(tc, code_that_cannot_be);
	tcase_add_test(tc, only_what_somebody_owns_is_a_lock);
	tcase_add_test(tc, system_calls_have_names);
	tcase_add_test(tc, page_faults_have_mappings);
	tcase_add_test(tc, block_requests_have_operations);
	tcase_add_test(tc, connections_have_peers);
	tcase_add_test(tc, kernel_events_are_the_kernels);
	suite_add_tcase(suite, tc);
	return suite;
}
