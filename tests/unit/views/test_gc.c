// SPDX-License-Identifier: Apache-2.0
/*
 * Tests of pauses and cycles from the agent's records and the probes, which come through different rings and may be
 * false.
 */
#include "jvm/gc.h"
#include "sink/names.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Suite *test_gc(void);

#define SECOND 1000000000ULL

static struct sink sink;
static struct jvms jvms;
static struct process process;
static struct jvm *jvm;
static char path[] = "/tmp/braid-gc-XXXXXX";
static struct trace_jvm_event told[16];
static char names[64][64], text[16][64];
static unsigned count;

static void copy(char to[64], struct trace_str from)
{
	snprintf(to, 64, "%.*s", (int)from.len, from.str ? from.str : "");
}

static void tap(void *ctx, const struct trace_rec *rec)
{
	(void)ctx;
	if (rec->kind == TRACE_NAME && rec->name.name < 64)
		copy(names[rec->name.name], rec->name.text);
	if (rec->kind != TRACE_JVM_EVENT || count == 16)
		return;
	told[count] = rec->jvm_event;
	copy(text[count++], rec->jvm_event.text);
}

static void setup(void)
{
	int fd = mkstemp(strcpy(path, "/tmp/braid-gc-XXXXXX"));

	ck_assert_int_ge(fd, 0);
	close(fd);
	sink = (struct sink){0};
	jvms = (struct jvms){.sink = &sink, .config.enabled = BRAID_EVENT_TYPE(GC)};
	process = (struct process){.id = 7, .pid = getpid()};
	count = 0;
	ck_assert_int_eq(trace_writer_open(&sink.writer, path), 0);
	trace_writer_tap(sink.writer, tap, NULL);
	ck_assert_int_eq(modules_new(&jvms.modules, &sink, NULL, false), 0);
	ck_assert_int_eq(threads_new(&jvms.threads, &sink), 0);
	ck_assert_int_eq(processes_new(&jvms.processes, &sink, NULL, jvms.modules, jvms.threads, jvms.options), 0);
	ck_assert_int_eq(names_new(&jvms.names, &sink), 0);
	jvm = process.jvm = jvm_new(&jvms, &process, 0, 1);
	ck_assert_ptr_nonnull(jvm);
	jvm_joined(jvm, 0);
	count = 0;
}

static void teardown(void)
{
	jvm_free(jvm);
	names_free(jvms.names);
	processes_free(jvms.processes);
	threads_free(jvms.threads);
	modules_free(jvms.modules);
	ck_assert_int_eq(trace_writer_close(sink.writer), 0);
	unlink(path);
}

static void agent(uint16_t kind, uint64_t number, uint64_t start_ns, uint64_t time_ns)
{
	static const char strings[] = "PSMarkSweepAllocation Failure";
	const struct braid_rec_gc r = {
		.hdr = {.kind = kind, .time_ns = time_ns, .size = sizeof(r) + sizeof(strings) - 1},
		.sequence = number,
		.start_ns = start_ns,
		.used_before = 300,
		.used_after = 100,
		.collector_len = 11,
		.cause_len = 18,
	};
	uint8_t record[sizeof(r) + sizeof(strings) - 1] __attribute__((aligned(8)));

	memcpy(record, &r, sizeof(r));
	memcpy(record + sizeof(r), strings, sizeof(strings) - 1);
	jvm_record(jvm, (const struct braid_rec *)(const void *)record, sizeof(record));
}

/* A probe's hit by the first thread of the process, which is called as that is. */
static void probe(enum braid_probe probe, uint64_t object, uint64_t time_ns, const char *said)
{
	struct braid_event_jvm_event e = {
		.hdr = {.kind = BRAID_EVENT_JVM_EVENT, .size = sizeof(e), .time_ns = time_ns},
		.pid = (uint32_t)getpid(),
		.tid = (uint32_t)getpid(),
		.source = BRAID_SOURCE_PROBE,
		.event = {.kind = BRAID_JVM_GC_CYCLE, .name = probe, .number = object},
	};

	strncpy(e.text, said, sizeof(e.text) - 1);
	gc_on_probe(&process, &e);
}

static void heap(uint64_t object, uint32_t when, uint64_t used)
{
	struct braid_event_jvm_event e = {
		.hdr = {.size = sizeof(e)},
		.tid = (uint32_t)getpid(),
		.event = {.name = BRAID_PROBE_GC_HEAP, .number = object, .detail = when, .value = used},
	};

	gc_on_probe(&process, &e);
}

START_TEST(pause_of_the_agent_alone)
{
	agent(BRAID_REC_GC_START, 1, 1000, 1000);
	agent(BRAID_REC_GC_FINISH, 1, 1000, 1500);
	ck_assert_uint_eq(count, 0); /* probes may report more */
	gc_settle(jvm, 2000);
	ck_assert_uint_eq(count, 1);
	ck_assert_uint_eq(told[0].kind, BRAID_JVM_GC_PAUSE);
	ck_assert_uint_eq(told[0].duration_ns, 500);
	ck_assert_uint_eq(told[0].value, 300);
	ck_assert_uint_eq(told[0].weight, 100);
	ck_assert_str_eq(names[told[0].name], "Parallel full");
	ck_assert_str_eq(names[told[0].detail], "Allocation Failure");
	ck_assert_str_eq(text[0], "Pause Full");
}
END_TEST

START_TEST(probes_complete_a_pause)
{
	strcpy(process.comm, "VM Thread");
	probe(BRAID_PROBE_GC_BEGIN, 0x10, 1100, "Ergonomics");
	heap(0x10, 0, 3000);
	heap(0x10, 1, 1000);
	heap(0x10, 7, 1);
	probe(BRAID_PROBE_GC_PAUSE, 0x20, 1110, "Pause Remark");
	agent(BRAID_REC_GC_FINISH, 1, 1000, 1500);
	gc_settle(jvm, 2000);
	ck_assert_uint_eq(count, 0);
	probe(BRAID_PROBE_GC_PAUSE_END, 0x20, 1480, "");
	probe(BRAID_PROBE_GC_END, 0x10, 1490, "");
	gc_settle(jvm, 2000);
	ck_assert_uint_eq(count, 1);
	ck_assert_str_eq(names[told[0].detail], "Ergonomics");
	ck_assert_str_eq(text[0], "Pause Remark");
	ck_assert_uint_eq(told[0].value, 3000);
	ck_assert_uint_eq(told[0].weight, 1000);
}
END_TEST

/* A lost end does not hold pauses back for ever. */
START_TEST(pause_waits_not_for_ever)
{
	strcpy(process.comm, "VM Thread");
	probe(BRAID_PROBE_GC_BEGIN, 0x10, 1100, "");
	agent(BRAID_REC_GC_FINISH, 1, 1000, 1500);
	gc_settle(jvm, 2000);
	ck_assert_uint_eq(count, 0);
	gc_settle(jvm, 60 * SECOND);
	ck_assert_uint_eq(count, 1);
}
END_TEST

START_TEST(cycle_with_phases)
{
	strcpy(process.comm, "ZDriverMinor");
	probe(BRAID_PROBE_GC_BEGIN, 0x10, 1000, "Warmup");
	probe(BRAID_PROBE_GC_PHASE, 0x20, 1100, "Concurrent Mark");
	probe(BRAID_PROBE_GC_PHASE, 0x20, 1150, "Concurrent Mark Follow");
	probe(BRAID_PROBE_GC_PHASE_END, 0x20, 1200, "");
	probe(BRAID_PROBE_GC_PHASE_END, 0x20, 1300, "");
	probe(BRAID_PROBE_GC_END, 0x10, 1500, "");
	ck_assert_uint_eq(count, 3);
	ck_assert_str_eq(names[told[0].name], "Concurrent Mark Follow");
	ck_assert_uint_eq(told[0].duration_ns, 50);
	ck_assert_str_eq(names[told[1].name], "Concurrent Mark");
	ck_assert_uint_eq(told[1].duration_ns, 200);
	ck_assert_uint_eq(told[2].kind, BRAID_JVM_GC_CYCLE);
	ck_assert_str_eq(names[told[2].name], "ZGC minor");
	ck_assert_str_eq(names[told[2].detail], "Warmup");
	ck_assert_uint_eq(told[2].duration_ns, 500);
	ck_assert_uint_eq(told[2].number, told[1].number);
}
END_TEST

START_TEST(what_has_not_ended)
{
	strcpy(process.comm, "ZDriver");
	probe(BRAID_PROBE_GC_BEGIN, 0x10, 1000, "Warmup");
	agent(BRAID_REC_GC_START, 5, 1200, 1200);
	gc_end(jvm);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(told[0].kind, BRAID_JVM_GC_PAUSE);
	ck_assert_uint_eq(told[0].number, 5);
	ck_assert_uint_eq(told[0].flags, BRAID_GC_NOT_ENDED);
	ck_assert_uint_eq(told[1].kind, BRAID_JVM_GC_CYCLE);
	ck_assert_uint_eq(told[1].flags, BRAID_GC_NOT_ENDED);
}
END_TEST

START_TEST(what_begins_after_the_end_is_not_told)
{
	jvms.stopped_ns = 1100;
	agent(BRAID_REC_GC_FINISH, 1, 1000, 1500);
	agent(BRAID_REC_GC_FINISH, 2, 1200, 1500);
	probe(BRAID_PROBE_GC_BEGIN, 0x10, 1300, "");
	probe(BRAID_PROBE_GC_END, 0x10, 1400, "");
	gc_end(jvm);
	ck_assert_uint_eq(count, 1);
	ck_assert_uint_eq(told[0].number, 1);
}
END_TEST

START_TEST(lies)
{
	struct braid_rec_gc r = {.hdr = {.kind = BRAID_REC_GC_FINISH, .size = sizeof(r), .time_ns = 5}, .cause_len = 1};

	jvm_record(jvm, &r.hdr, sizeof(r) - 1);
	jvm_record(jvm, &r.hdr, sizeof(r)); /* a string that does not exist */
	r.cause_len = 0;
	r.start_ns = 6; /* ends before it begins */
	jvm_record(jvm, &r.hdr, sizeof(r));
	for (uint64_t i = 1; i < 20000; i++) {
		probe(BRAID_PROBE_GC_PAUSE, i, i, "Pause");
		probe(BRAID_PROBE_GC_BEGIN, 1, i, "\xff\x1b[2J");
		probe(BRAID_PROBE_GC_END, UINT64_MAX, i, "");
		probe((enum braid_probe)(1000 + i), i, i, "");
	}
	count = 0;
	gc_settle(jvm, UINT64_MAX);
	gc_end(jvm);
	for (unsigned i = 0; i < count; i++)
		ck_assert_uint_ne(told[i].kind, BRAID_JVM_GC_PAUSE);
}
END_TEST

Suite *test_gc(void)
{
	Suite *suite = suite_create("gc");
	TCase *c = tcase_create("gc");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, pause_of_the_agent_alone);
	tcase_add_test(c, probes_complete_a_pause);
	tcase_add_test(c, pause_waits_not_for_ever);
	tcase_add_test(c, cycle_with_phases);
	tcase_add_test(c, what_has_not_ended);
	tcase_add_test(c, what_begins_after_the_end_is_not_told);
	tcase_add_test(c, lies);
	suite_add_tcase(suite, c);
	return suite;
}
