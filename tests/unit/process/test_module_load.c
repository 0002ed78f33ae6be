// SPDX-License-Identifier: Apache-2.0
/* Tests of reading files on a thread: whose turn it is, what is left out, and what is read at the end. */
#include "process/module_load.h"
#include "process/processes.h"
#include "sink/sources.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Suite *test_module_load(void);

#define STRANGER 65534U
#define OTHER 65533U
#define FLOOD 200

static char path[64];
static struct sink sink;
static struct pools pools;
static struct sources sources;
static struct modules *modules;
static struct threads *threads;
static struct processes *processes;
static struct loader *loader;
static uint64_t lost;

static void tap(void *ctx, const struct trace_rec *rec)
{
	(void)ctx;
	if (rec->kind == TRACE_LOSS)
		lost += rec->loss.count;
}

static void setup(void)
{
	static const struct record_options options;
	int fd = mkstemp(strcpy(path, "/tmp/braid-module-load-XXXXXX"));

	ck_assert_int_ge(fd, 0);
	close(fd);
	lost = 0;
	pools_open(&pools, &(struct pool_room){0});
	sink = (struct sink){.pools = &pools};
	ck_assert_int_eq(trace_writer_open(&sink.writer, path), 0);
	trace_writer_tap(sink.writer, tap, NULL);
	ck_assert_int_eq(sources_open(&sources), 0);
	ck_assert_int_eq(modules_new(&modules, &sink, NULL, false), 0);
	ck_assert_int_eq(threads_new(&threads, &sink), 0);
	ck_assert_int_eq(processes_new(&processes, &sink, NULL, modules, threads, &options), 0);
	ck_assert_int_eq(loader_new(&loader, &sink, NULL, false), 0);
	loader_count_for(loader, processes);
}

static void teardown(void)
{
	loader_free(loader);
	processes_free(processes);
	threads_free(threads);
	modules_free(modules);
	pools_close(&pools);
	sources_close(&sources);
	ck_assert_int_eq(trace_writer_close(sink.writer), 0);
	unlink(path);
}

/* This program, as a file of its own that a process of the user has mapped. */
static struct module module_of(uid_t user, pid_t pid)
{
	struct share *share = pools_share(&pools, user);

	return (struct module){.path = (char *)"/proc/self/exe",
			       .fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
			       .debug_fd = -1,
			       .share = user ? share : NULL,
			       .foreign = user != 0,
			       .seen_in = pid};
}

static void module_drop(struct module *m)
{
	symbols_free(m->symbols);
	if (m->fd >= 0)
		close(m->fd);
}

static unsigned int read_of(const struct module *m, unsigned int count)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < count; i++)
		n += !m[i].wants_symbols;
	return n;
}

/* Reads until that one is read. */
static void until_read(const struct module *m)
{
	while (m->wants_symbols)
		ck_assert_int_eq(sources_dispatch(&sources, 1000), 0);
}

START_TEST(at_once_before_the_loop_runs)
{
	struct module m = module_of(STRANGER, 1);

	loader_symbols(loader, &m);
	ck_assert(!m.wants_symbols);
	ck_assert_ptr_nonnull(m.symbols);
	ck_assert_int_lt(m.fd, 0);
	ck_assert_uint_gt(pools.strangers.used[POOL_FILE_TIME], 0);
	ck_assert_uint_eq(pools.strangers.used[POOL_SYMBOLS], symbols_bytes(m.symbols));
	module_drop(&m);
}
END_TEST

/* However many files a user's process maps, at most one of them is read before one that root's process maps then. */
START_TEST(a_flood_of_files_does_not_delay_others)
{
	struct module flood[FLOOD], root = module_of(0, 2), other = module_of(OTHER, 3);
	unsigned int before;

	loader_start(loader, &sources);
	for (int i = 0; i < FLOOD; i++) {
		flood[i] = module_of(STRANGER, 1);
		loader_symbols(loader, &flood[i]);
	}
	ck_assert_uint_lt(read_of(flood, FLOOD), FLOOD); /* the loop does not wait for all */
	before = read_of(flood, FLOOD);
	loader_symbols(loader, &other);
	loader_symbols(loader, &root);
	until_read(&root);
	ck_assert(other.wants_symbols);
	ck_assert_uint_le(read_of(flood, FLOOD), before + 1);
	until_read(&other);
	ck_assert_uint_le(read_of(flood, FLOOD), before + 1);
	until_read(&flood[FLOOD - 1]);
	ck_assert_uint_eq(read_of(flood, FLOOD), FLOOD);
	for (int i = 0; i < FLOOD; i++)
		module_drop(&flood[i]);
	module_drop(&root);
	module_drop(&other);
}
END_TEST

START_TEST(processes_of_a_user_take_turns)
{
	struct module many[FLOOD], one[2] = {module_of(STRANGER, 2), module_of(STRANGER, 2)};
	unsigned int before;

	loader_start(loader, &sources);
	for (int i = 0; i < FLOOD; i++) {
		many[i] = module_of(STRANGER, 1);
		loader_symbols(loader, &many[i]);
	}
	before = read_of(many, FLOOD);
	ck_assert_uint_lt(before, FLOOD);
	for (int i = 0; i < 2; i++)
		loader_symbols(loader, &one[i]);
	until_read(&one[1]);
	ck_assert(!one[0].wants_symbols);
	ck_assert_uint_le(read_of(many, FLOOD), before + 4);
	until_read(&many[FLOOD - 1]);
	for (int i = 0; i < FLOOD; i++)
		module_drop(&many[i]);
	module_drop(&one[0]);
	module_drop(&one[1]);
}
END_TEST

/* What a user's processes have no room for is read when another user's process maps it. */
START_TEST(what_is_left_out_is_tried_for_others)
{
	struct process theirs = {.pid = 1, .account.share = pools_share(&pools, STRANGER)},
		       root = {.pid = 2, .account.share = pools_share(&pools, 0)};
	struct module m = module_of(STRANGER, 1);

	m.foreign = false;
	m.table = 0; /* it has one */
	share_add(m.share, POOL_SYMBOLS, 60 << 20);
	loader_symbols(loader, &m);
	sink_losses(&sink);
	ck_assert_ptr_null(m.symbols);
	ck_assert_uint_eq(lost, 1);
	ck_assert_int_ge(m.fd, 0);
	loader_again(loader, &m, &theirs);
	loader_symbols(loader, &m);
	ck_assert_ptr_null(m.symbols);
	loader_again(loader, &m, &root);
	loader_symbols(loader, &m);
	ck_assert_ptr_nonnull(m.symbols);
	module_drop(&m);
}
END_TEST

START_TEST(a_queue_that_is_full)
{
	struct module m = module_of(STRANGER, 1), other = module_of(OTHER, 2);

	loader_start(loader, &sources);
	share_add(m.share, POOL_QUEUED, 2731); /* two thirds */
	loader_symbols(loader, &m);
	sink_losses(&sink);
	ck_assert(!m.wants_symbols);
	ck_assert_ptr_null(m.symbols);
	ck_assert_uint_eq(lost, 1);
	loader_symbols(loader, &other);
	until_read(&other);
	ck_assert_ptr_nonnull(other.symbols);
	ck_assert_uint_eq(pools.strangers.used[POOL_QUEUED], 2731);
	module_drop(&m);
	module_drop(&other);
}
END_TEST

/* What waits is read, and nothing more is read by the thread. */
START_TEST(the_end)
{
	struct module flood[FLOOD], late = module_of(0, 1);

	loader_start(loader, &sources);
	for (int i = 0; i < FLOOD; i++) {
		flood[i] = module_of(STRANGER, 1);
		loader_symbols(loader, &flood[i]);
	}
	loader_finish(loader);
	sink_losses(&sink);
	ck_assert_uint_eq(read_of(flood, FLOOD), FLOOD);
	for (int i = 0; i < FLOOD; i++) {
		lost -= !flood[i].symbols;
		module_drop(&flood[i]);
	}
	ck_assert_uint_eq(lost, 0); /* what was not read is counted */
	ck_assert(!loader_works(loader));
	loader_symbols(loader, &late);
	ck_assert_ptr_nonnull(late.symbols);
	module_drop(&late);
}
END_TEST

/* The thread is at work. */
START_TEST(an_end_without_warning)
{
	struct module flood[FLOOD];

	loader_start(loader, &sources);
	for (int i = 0; i < FLOOD; i++) {
		flood[i] = module_of(STRANGER, 1);
		loader_symbols(loader, &flood[i]);
	}
	ck_assert(loader_works(loader));
	loader_free(loader);
	loader = NULL;
	for (int i = 0; i < FLOOD; i++)
		module_drop(&flood[i]);
}
END_TEST

Suite *test_module_load(void)
{
	Suite *s = suite_create("module_load");
	TCase *t = tcase_create("module_load");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, at_once_before_the_loop_runs);
	tcase_add_test(t, a_flood_of_files_does_not_delay_others);
	tcase_add_test(t, processes_of_a_user_take_turns);
	tcase_add_test(t, what_is_left_out_is_tried_for_others);
	tcase_add_test(t, a_queue_that_is_full);
	tcase_add_test(t, the_end);
	tcase_add_test(t, an_end_without_warning);
	suite_add_tcase(s, t);
	return s;
}
