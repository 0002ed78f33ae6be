// SPDX-License-Identifier: Apache-2.0
/* Tests of native methods whose functions get their names while they are recorded. */
#include "unit/jvm_fixture.h"

#include "symbol/symbol.h"

#include <fcntl.h>

#define BIAS 0x100000

extern char __executable_start[]; /* the linker's */
Suite *test_native_binds(void);

static struct module module;
static struct process_mapping mapping;

/* The JVM has the method `Main.bound`, and a file in which this program's own functions are. */
static void setup_file(void)
{
	const struct braid_rec_method method = {
		.hdr = {.kind = BRAID_REC_METHOD}, .method = 1, .class_len = 6, .name_len = 5, .sig_len = 3};

	setup();
	module = (struct module){.id = 3, .fd = -1, .debug_fd = -1, .symbols_tried = true, .wants_symbols = true};
	mapping = (struct process_mapping){
		.fact = {.start = BIAS, .end = BIAS + (1 << 28)}, .module = &module, .bias = BIAS};
	process.mappings.at = &mapping;
	process.mappings.count = 1;
	send(&method, sizeof(method), "LMain;bound()V");
}

static void teardown_file(void)
{
	symbols_free(module.symbols);
	process.mappings.at = NULL;
	process.mappings.count = 0;
	teardown();
}

static void bind(void)
{
	const struct braid_rec_named_event e = {.hdr = {.kind = BRAID_REC_NAMED_EVENT, .time_ns = 100},
						.event = BRAID_JVM_NATIVE_BIND,
						.method = 1,
						.number = BIAS + (uintptr_t)test_native_binds -
							  (uintptr_t)__executable_start};

	send(&e, sizeof(e), NULL);
}

static void read_symbols(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(symbols_open_with(&module.symbols, fd, -1), 0);
	close(fd);
	module.wants_symbols = false;
}

/* Files are read one after the other, which can take seconds: the event comes when its file was read. */
START_TEST(an_event_waits_for_its_name)
{
	const struct trace_jvm_event *e = &last[BRAID_JVM_NATIVE_BIND];

	bind();
	jvm_tick(jvm, 200, false);
	ck_assert_uint_eq(count[BRAID_JVM_NATIVE_BIND], 0);
	read_symbols();
	jvm_tick(jvm, 300, false);
	ck_assert_uint_eq(count[BRAID_JVM_NATIVE_BIND], 1);
	ck_assert_str_eq(last_text, "test_native_binds");
	ck_assert_str_eq(names[e->name], "Main.bound");
	ck_assert_uint_eq(e->time_ns, 100);
	ck_assert_uint_eq(e->process, process.id);

	bind(); /* now it is known at once */
	ck_assert_uint_eq(count[BRAID_JVM_NATIVE_BIND], 2);
	ck_assert_str_eq(last_text, "test_native_binds");
	jvm_tick(jvm, 400, true);
	ck_assert_uint_eq(count[BRAID_JVM_NATIVE_BIND], 2);
}
END_TEST

/* The kernel may report the mapping of the function's file after the agent has reported the method. */
START_TEST(a_mapping_that_is_known_later)
{
	process.mappings.count = 0;
	read_symbols();
	bind();
	jvm_tick(jvm, 200, false);
	ck_assert_uint_eq(count[BRAID_JVM_NATIVE_BIND], 0);
	process.mappings.count = 1;
	jvm_tick(jvm, 300, false);
	ck_assert_uint_eq(count[BRAID_JVM_NATIVE_BIND], 1);
	ck_assert_str_eq(last_text, "test_native_binds");
}
END_TEST

START_TEST(a_mapping_that_never_comes)
{
	process.mappings.count = 0;
	bind();
	jvm_tick(jvm, 2000000100, false);
	ck_assert_uint_eq(count[BRAID_JVM_NATIVE_BIND], 0);
	jvm_tick(jvm, 2000000101, false);
	ck_assert_uint_eq(count[BRAID_JVM_NATIVE_BIND], 1);
	ck_assert_str_eq(last_text, "");

	bind();
	jvm_tick(jvm, 3000000000, true);
	jvms_tick(&jvms, false);
	ck_assert_uint_eq(count[BRAID_JVM_NATIVE_BIND], 2);
}
END_TEST

START_TEST(at_the_end_it_comes_without)
{
	bind();
	bind();
	jvm_tick(jvm, 200, true);
	jvms_tick(&jvms, true);
	ck_assert_uint_eq(count[BRAID_JVM_NATIVE_BIND], 2);
	ck_assert_str_eq(last_text, "");
}
END_TEST

START_TEST(it_waits_when_its_jvm_has_ended)
{
	bind();
	jvm_tick(jvm, 200, true);
	jvm_free(jvm);
	jvm = process.jvm = NULL;
	jvms_tick(&jvms, false);
	ck_assert_uint_eq(count[BRAID_JVM_NATIVE_BIND], 0);
	read_symbols();
	jvms_tick(&jvms, false);
	ck_assert_uint_eq(count[BRAID_JVM_NATIVE_BIND], 1);
	ck_assert_str_eq(last_text, "test_native_binds");
	ck_assert_uint_eq(last[BRAID_JVM_NATIVE_BIND].process, process.id);
	jvms_tick(&jvms, true);
	ck_assert_uint_eq(count[BRAID_JVM_NATIVE_BIND], 1);
}
END_TEST

/* A JVM that binds without end: what finds no room comes without a name, too. */
START_TEST(no_more_wait_than_there_is_room_for)
{
	for (int i = 0; i < 20000; i++)
		bind();
	ck_assert_uint_eq(count[BRAID_JVM_NATIVE_BIND], 20000 - 16384);
	jvm_tick(jvm, 200, true);
	ck_assert_uint_eq(count[BRAID_JVM_NATIVE_BIND], 20000 - 16384);
	jvms_tick(&jvms, true);
	ck_assert_uint_eq(count[BRAID_JVM_NATIVE_BIND], 20000);
}
END_TEST

Suite *test_native_binds(void)
{
	Suite *suite = suite_create("native binds");
	TCase *tc = tcase_create("names");

	tcase_add_checked_fixture(tc, setup_file, teardown_file);
	tcase_add_test(tc, an_event_waits_for_its_name);
	tcase_add_test(tc, a_mapping_that_is_known_later);
	tcase_add_test(tc, a_mapping_that_never_comes);
	tcase_add_test(tc, at_the_end_it_comes_without);
	tcase_add_test(tc, it_waits_when_its_jvm_has_ended);
	tcase_add_test(tc, no_more_wait_than_there_is_room_for);
	suite_add_tcase(suite, tc);
	return suite;
}
