// SPDX-License-Identifier: Apache-2.0
/* Tests of naming generated code: a file is read within the time that its user has for files, or is a loss. */
#include "process/module_budget.h"
#include "process/perf_maps.h"
#include "proc/jvm_proc.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Suite *test_perf_maps(void);

#define STRANGER 65534U

static char path[64], map[64];
static struct sink sink;
static struct pools pools;
static struct modules *modules;
static struct perf_maps *maps;
static struct process process;
static struct module module;
static char named[64];

static void tap(void *ctx, const struct trace_rec *rec)
{
	(void)ctx;
	if (rec->kind == TRACE_SYMBOL)
		snprintf(named, sizeof(named), "%.*s", (int)rec->symbol.name.len, rec->symbol.name.str);
}

static void setup(void)
{
	struct proc_status status;
	int fd = mkstemp(strcpy(path, "/tmp/braid-perf-maps-XXXXXX"));
	FILE *f;

	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(proc_status_read(getpid(), &status), 0);
	snprintf(map, sizeof(map), "/tmp/perf-%d.map", (int)status.ns_pid);
	f = fopen(map, "wx");
	ck_assert_ptr_nonnull(f);
	fputs("1000 100 generated\n", f);
	fclose(f);
	named[0] = '\0';
	pools_open(&pools, &(struct pool_room){0});
	sink = (struct sink){.pools = &pools};
	ck_assert_int_eq(trace_writer_open(&sink.writer, path), 0);
	trace_writer_tap(sink.writer, tap, NULL);
	ck_assert_int_eq(modules_new(&modules, &sink, NULL, false), 0);
	ck_assert_int_eq(perf_maps_new(&maps, &sink, modules), 0);
	module = (struct module){.id = 1};
	process = (struct process){
		.id = 7, .pid = getpid(), .account = {.process = 7, .share = pools_share(&pools, STRANGER)}};
	perf_maps_request(maps, &process, &(struct process_mapping){.module = &module},
			  &(struct trace_frame){.frame = 1, .process = 7, .exact = 1, .address = 0x1010});
}

static void teardown(void)
{
	perf_maps_free(maps);
	modules_free(modules);
	account_close(&process.account);
	pools_close(&pools);
	ck_assert_int_eq(trace_writer_close(sink.writer), 0);
	unlink(path);
	unlink(map);
}

START_TEST(read_at_the_end)
{
	perf_maps_forget(maps, &process);
	ck_assert_str_eq(named, "generated");
	ck_assert_uint_eq(sink.lost, 0);
	ck_assert_uint_gt(pools.strangers.used[POOL_FILE_TIME], 0);
}
END_TEST

START_TEST(no_time_left)
{
	module_spent(process.account.share, 3600000000000);
	perf_maps_name(maps);
	ck_assert_str_eq(named, "");
	ck_assert_uint_eq(sink.lost, 1);
}
END_TEST

Suite *test_perf_maps(void)
{
	Suite *s = suite_create("perf maps");
	TCase *t = tcase_create("time");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, read_at_the_end);
	tcase_add_test(t, no_time_left);
	suite_add_tcase(s, t);
	return s;
}
