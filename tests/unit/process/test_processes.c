// SPDX-License-Identifier: Apache-2.0
/* Tests of what the side-band reports of processes: who a pid means when it is used again. */
#include "process/processes.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

Suite *test_processes(void);

#define STRANGER 65534U

static char path[64];
static struct sink sink;
static struct pools pools;
static struct modules *modules;
static struct threads *threads;
static struct processes *processes;
static pid_t child;
static bool is_stranger; /* the child has become another user's; otherwise the test has no right to that */

static void setup(void)
{
	static const struct record_options options = {.system_wide = true};
	int fd = mkstemp(strcpy(path, "/tmp/braid-processes-XXXXXX")), fds[2];
	bool changed;

	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_ge(fd, 0);
	close(fd);
	pools_open(&pools, &(struct pool_room){.memory = 1ULL << 32});
	sink = (struct sink){.pools = &pools};
	ck_assert_int_eq(trace_writer_open(&sink.writer, path), 0);
	ck_assert_int_eq(modules_new(&modules, &sink, NULL, false), 0);
	ck_assert_int_eq(threads_new(&threads, &sink), 0);
	ck_assert_int_eq(processes_new(&processes, &sink, NULL, modules, threads, &options), 0);
	processes_exec(processes, getpid(), "self", now_ns());
	child = fork();
	if (child == 0) {
		changed = setuid(STRANGER) == 0;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)!write(fds[1], &changed, 1);
		for (;;)
			pause();
	}
	ck_assert_int_gt(child, 0);
	ck_assert_int_eq(read(fds[0], &is_stranger, 1), 1);
	close(fds[0]);
	close(fds[1]);
}

static void teardown(void)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	processes_free(processes);
	threads_free(threads);
	modules_free(modules);
	pools_close(&pools);
	ck_assert_int_eq(trace_writer_close(sink.writer), 0);
	unlink(path);
}

static struct process *forked(void)
{
	processes_fork(processes, child, getpid(), now_ns());
	return processes_latest(processes, child);
}

/* An exec is the same process, which has not got younger. */
START_TEST(exec_of_a_process)
{
	struct process *first = forked(), *second;

	ck_assert(process_is_there(first));
	first->start_ticks++; /* so that it is known again */
	account_spend(&first->account, BUDGET_RENAMES, 7);
	processes_exec(processes, child, "program", now_ns());
	second = processes_latest(processes, child);
	ck_assert_ptr_ne(second, first);
	ck_assert_ptr_eq(second->older, first);
	ck_assert_uint_ne(first->ended_ns, 0);
	ck_assert_uint_eq(second->start_ticks, first->start_ticks);
	ck_assert_int_eq(second->account.used[BUDGET_RENAMES], 7);
}
END_TEST

/* The end of its pid's earlier process was lost. */
START_TEST(fork_of_a_pid_that_is_used_again)
{
	struct process *first = forked(), *second;

	first->start_ticks--; /* it was another process */
	account_spend(&first->account, BUDGET_RENAMES, 7);
	ck_assert(!process_is_there(first));
	second = forked();
	ck_assert_ptr_ne(second, first);
	ck_assert_uint_ne(first->ended_ns, 0);
	ck_assert(process_is_there(second));
	ck_assert_int_eq(second->account.used[BUDGET_RENAMES], 0);
}
END_TEST

/* It has its parent's user until it maps code. */
START_TEST(child_of_another_user)
{
	static const struct mapping_fact fact = {.start = 0x1000, .end = 0x2000, .path = ""};
	struct process *pr = forked();
	uint64_t before = pools.known.used[POOL_MEMORY];

	ck_assert(share_known(pr->account.share));
	ck_assert(account_reserve(&pr->account, &sink, BUDGET_VTHREADS, 5));
	ck_assert_uint_gt(pools.known.used[POOL_MEMORY], before);
	processes_map(processes, child, &fact, now_ns());
	ck_assert_uint_eq(pr->mappings.count, 1);
	ck_assert_int_eq(share_known(pr->account.share), !is_stranger);
	if (!is_stranger)
		return;
	ck_assert_uint_eq(pr->account.share->user, STRANGER);
	ck_assert_uint_eq(pools.known.used[POOL_MEMORY], before);
	ck_assert_uint_eq(pools.strangers.used[POOL_MEMORY], pr->account.taken[POOL_MEMORY]);
	ck_assert_uint_gt(pr->account.taken[POOL_MEMORY], 0);
}
END_TEST

Suite *test_processes(void)
{
	Suite *s = suite_create("processes");
	TCase *t = tcase_create("pids");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, exec_of_a_process);
	tcase_add_test(t, fork_of_a_pid_that_is_used_again);
	tcase_add_test(t, child_of_another_user);
	suite_add_tcase(s, t);
	return s;
}
