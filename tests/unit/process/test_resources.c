// SPDX-License-Identifier: Apache-2.0
/* Tests of when a process's context is read: here that of the test's own process. */
#include "process/modules.h"
#include "process/processes.h"
#include "process/resources.h"
#include "process/spans.h"
#include "util/clock.h"

#include <braid/context.h>

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

Suite *test_resources(void);

static char path[] = "/tmp/braid-test-resources-XXXXXX";
static struct sink sink;
static struct names *names;
static struct resources *resources;
static struct modules *modules;
static struct processes *processes; /* none: `process` is asked for its keys, not looked at */
static struct process process;
static struct braid_process_context *header;
static uint8_t payload[256];

static void setup(void)
{
	static const struct record_options options;
	int fd = mkstemp(path), memory = memfd_create(BRAID_PROCESS_CONTEXT, MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(trace_writer_open(&sink.writer, path), 0);
	ck_assert_int_eq(names_new(&names, &sink), 0);
	ck_assert_int_eq(resources_new(&resources, &sink, names), 0);
	ck_assert_int_eq(modules_new(&modules, &sink, NULL, false), 0);
	ck_assert_int_eq(processes_new(&processes, &sink, NULL, modules, NULL, &options), 0);
	process = (struct process){.id = 1, .pid = getpid()};
	ck_assert_int_eq(ftruncate(memory, 4096), 0);
	header = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, memory, 0);
	ck_assert_ptr_ne(header, MAP_FAILED);
	close(memory);
}

static void teardown(void)
{
	munmap(header, 4096);
	free(process.resource);
	processes_free(processes);
	modules_free(modules);
	resources_free(resources);
	names_free(names);
	ck_assert_int_eq(trace_writer_close(sink.writer), 0);
	unlink(path);
}

/* A field that contains what follows `at`, whose length is known when it is written. */
static size_t wrap(uint8_t *at, unsigned field, size_t size)
{
	memmove(at + 2, at, size);
	at[0] = (uint8_t)(field << 3 | 2);
	at[1] = (uint8_t)size;
	return size + 2;
}

/* Publishes `keys` keys, "a", "b", ...: an attribute of the context whose value is the array of their names. */
static void publish(unsigned keys)
{
	static const char name[] = "threadlocal.attribute_key_map";
	uint8_t *value = payload + 2 * 2 + sizeof(name) - 1, *at = value;
	size_t size;

	for (unsigned i = 0; i < keys; i++, at += 5)
		memcpy(at, (uint8_t[]){1 << 3 | 2, 3, 1 << 3 | 2, 1, (uint8_t)('a' + i)}, 5);
	size = wrap(value, 2, wrap(value, 5, (size_t)(at - value)));
	payload[0] = 1 << 3 | 2;
	payload[1] = sizeof(name) - 1;
	memcpy(payload + 2, name, sizeof(name) - 1);
	memmove(payload + 2 + sizeof(name) - 1, value, size);
	size = wrap(payload, 2, 2 + sizeof(name) - 1 + size);
	*header = (struct braid_process_context){.signature = BRAID_PROCESS_CONTEXT,
						 .version = BRAID_PROCESS_CONTEXT_VERSION,
						 .payload_bytes = (uint32_t)size,
						 .published_ns = header->published_ns + 1,
						 .payload = (uintptr_t)payload};
}

/* Keys that are used at once after they were published, one after the other. */
START_TEST(keys_that_come_one_after_the_other)
{
	for (unsigned i = 0; i < 6; i++) {
		publish(i + 1);
		ck_assert_uint_ne(resources_key(resources, &process, (uint8_t)i), 0);
	}
	ck_assert_uint_eq(resources_key(resources, &process, 6), 0);
}
END_TEST

/* Who publishes without end is not read without end. */
START_TEST(one_that_publishes_all_the_time)
{
	uint64_t began = now_ns(), read = 0;

	for (unsigned i = 0; i < 16; i++) {
		publish(i + 1);
		read += resources_key(resources, &process, (uint8_t)i) != 0;
	}
	ck_assert_uint_ge(read, 8);
	ck_assert_uint_le(read, 9 + (now_ns() - began) / 10000000);
}
END_TEST

static struct trace_attribute got[4];
static unsigned gots;
static char text[64][8]; /* names by id */

static void tap(void *ctx, const struct trace_rec *rec)
{
	(void)ctx;
	if (rec->kind == TRACE_NAME && rec->name.name < 64)
		snprintf(text[rec->name.name], sizeof(text[0]), "%.*s", (int)rec->name.text.len, rec->name.text.str);
	if (rec->kind == TRACE_ATTRIBUTE && gots < 4)
		got[gots++] = rec->attribute;
}

/*
 * Attributes of a span that is seen before the context of its process: those with a key are in the trace when that is
 * read.
 */
START_TEST(attributes_before_the_context)
{
	static const uint8_t bytes[] = {0, 2, 'o', 'n', 7, 3, 't', 'w', 'o', 1, 1, 'x'};
	struct {
		struct braid_event_span event;
		uint8_t bytes[sizeof(bytes)];
	} e = {.event = {.hdr.size = sizeof(e.event) + sizeof(bytes),
			 .key = 1,
			 .attrs_size = sizeof(bytes),
			 .span = {1}}};
	uint64_t began = now_ns();
	struct spans *spans;
	uint32_t span;

	gots = 0;
	memcpy(e.bytes, bytes, sizeof(bytes));
	trace_writer_tap(sink.writer, tap, NULL);
	ck_assert_int_eq(spans_new(&spans, &sink, NULL, names, resources), 0);
	span = spans_seen(spans, &process, &e.event);
	ck_assert_uint_ne(span, 0);
	ck_assert(!gots && process.account.used[BUDGET_LATE_ATTRIBUTES] == 3);
	publish(2);
	while (!gots && now_ns() - began < 60000000000ULL) {
		resources_tick(resources, processes); /* a tick's time for scans may be used up by one */
		resources_key(resources, &process, 0);
		usleep(1000);
	}
	ck_assert_uint_eq(gots, 2);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert(got[i].span == span && got[i].key < 64 && got[i].value < 64);
		ck_assert_str_eq(text[got[i].key], i ? "b" : "a");
		ck_assert_str_eq(text[got[i].value], i ? "x" : "on");
	}
	ck_assert(!sink.lost && process.account.used[BUDGET_LATE_ATTRIBUTES] == 1);
	spans_forget(spans, &process);
	ck_assert(sink.lost == 1 && process.account.used[BUDGET_LATE_ATTRIBUTES] == 0);
	free(process.late_attributes.at);
	spans_free(spans);
}
END_TEST

Suite *test_resources(void)
{
	Suite *s = suite_create("resources");
	TCase *t = tcase_create("resources");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, keys_that_come_one_after_the_other);
	tcase_add_test(t, one_that_publishes_all_the_time);
	tcase_add_test(t, attributes_before_the_context);
	suite_add_tcase(s, t);
	return s;
}
