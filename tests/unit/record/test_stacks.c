// SPDX-License-Identifier: Apache-2.0
/* Tests of frames whose files are read later: what their process is charged for them, and until when. */
#include "record/session.h"
#include "record/stacks.h"

#include <braid/frame.h>

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Suite *test_stacks(void);

#define BATCH 2000U
#define CODE 0x100000U

static char path[64];
static struct session session;
static struct stacks *stacks;
static struct module module;
static struct process_mapping mapping;
static struct process process;
static uint64_t stack;

static void setup(void)
{
	static const struct record_options options;
	int fd = mkstemp(strcpy(path, "/tmp/braid-stacks-XXXXXX"));

	ck_assert_int_ge(fd, 0);
	close(fd);
	session = (struct session){.options = &options};
	ck_assert_int_eq(trace_writer_open(&session.sink.writer, path), 0);
	ck_assert_int_eq(modules_new(&session.modules, &session.sink, NULL, false), 0);
	ck_assert_int_eq(stacks_new(&stacks, &session), 0);
	module = (struct module){.id = 1, .symbols_tried = true, .segment_count = 1};
	mapping = (struct process_mapping){.fact = {.start = CODE, .end = CODE << 8}, .module = &module};
	process = (struct process){.id = 7, .pid = getpid(), .mappings = {.at = &mapping, .count = 1}};
	stack = 0;
}

static void teardown(void)
{
	stacks_free(stacks);
	modules_free(session.modules);
	ck_assert_int_eq(trace_writer_close(session.sink.writer), 0);
	unlink(path);
}

/* Samples in functions that no sample has hit before. */
static void sample(unsigned int count)
{
	struct {
		struct braid_event_sample sample;
		uint64_t frames[1];
	} e = {.sample = {.hdr = {.kind = BRAID_EVENT_SAMPLE, .size = sizeof(e), .time_ns = 1}, .frame_count = 1}};
	bool complete;

	for (unsigned int i = 0; i < count; i++) {
		e.sample.stack = ++stack;
		e.frames[0] = (CODE + stack * 16) | BRAID_FRAME_EXACT;
		ck_assert_uint_ne(stacks_node(stacks, &process, &e.sample, &complete), 0);
	}
}

START_TEST(any_number_by_and_by)
{
	for (int i = 0; i < 10; i++) {
		module.wants_symbols = true;
		sample(BATCH);
		stacks_name_read(stacks);
		ck_assert_int_eq(process.account.used[BUDGET_LATE_FRAMES], BATCH);
		module.wants_symbols = false;
		stacks_name_read(stacks);
		ck_assert_int_eq(process.account.used[BUDGET_LATE_FRAMES], 0);
	}
	ck_assert_uint_eq(process.account.refused[BUDGET_LATE_FRAMES], 0);
}
END_TEST

START_TEST(of_a_process_that_is_forgotten)
{
	struct process other;

	module.wants_symbols = true;
	sample(1);
	stacks_forget(stacks, &process);
	other = process;
	memset(&process, 0xff, sizeof(process));
	module.wants_symbols = false;
	stacks_name_read(stacks);
	for (size_t i = 0; i < sizeof(process); i++)
		ck_assert_uint_eq(((const unsigned char *)&process)[i], 0xff);
	process = other;
}
END_TEST

Suite *test_stacks(void)
{
	Suite *s = suite_create("stacks");
	TCase *t = tcase_create("late names");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, any_number_by_and_by);
	tcase_add_test(t, of_a_process_that_is_forgotten);
	suite_add_tcase(s, t);
	return s;
}
