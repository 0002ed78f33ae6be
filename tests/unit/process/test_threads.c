// SPDX-License-Identifier: Apache-2.0
/* Tests of threads: the names that they have in the trace, and what their process pays for being named. */
#include "unit/other_thread.h"
#include "process/processes.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

Suite *test_threads(void);

#define MANY (1U << 17) /* the budget */

static struct sink sink;
static struct threads *threads;
static struct process process;
static char path[] = "/tmp/braid-threads-XXXXXX";
static char names[128]; /* of defined threads, in order */

static void tap(void *ctx, const struct trace_rec *rec)
{
	size_t used = strlen(names);

	(void)ctx;
	if (rec->kind == TRACE_THREAD)
		snprintf(names + used, sizeof(names) - used, "%.*s,", (int)rec->thread.name.len, rec->thread.name.str);
}

/* A process that has ended: nothing can be looked up of its threads. */
static pid_t ended(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	return pid;
}

static void setup(void)
{
	int fd = mkstemp(strcpy(path, "/tmp/braid-threads-XXXXXX"));

	ck_assert_int_ge(fd, 0);
	close(fd);
	sink = (struct sink){0};
	names[0] = '\0';
	ck_assert_int_eq(trace_writer_open(&sink.writer, path), 0);
	trace_writer_tap(sink.writer, tap, NULL);
	ck_assert_int_eq(threads_new(&threads, &sink), 0);
	process = (struct process){.id = 7, .pid = ended(), .comm = "java"};
}

static void teardown(void)
{
	threads_forget(threads, &process);
	ck_assert_int_eq(process.account.used[BUDGET_THREADS], 0);
	threads_free(threads);
	ck_assert_int_eq(trace_writer_close(sink.writer), 0);
	unlink(path);
}

START_TEST(a_thread_that_is_met_after_its_end_has_the_name_it_had)
{
	pid_t tid = process.pid + 1;
	struct thread *thread;

	threads_comm(threads, &process, tid, "G1 Main Marker");
	threads_ended(threads, process.pid, tid);
	ck_assert_str_eq(names, "");
	thread = threads_now(threads, &process, tid);
	ck_assert_ptr_nonnull(thread);
	ck_assert(thread->named);
	ck_assert_str_eq(names, "G1 Main Marker,");
	ck_assert_ptr_eq(threads_now(threads, &process, tid), thread);
	ck_assert_str_eq(names, "G1 Main Marker,");
}
END_TEST

START_TEST(the_last_name_counts)
{
	threads_comm(threads, &process, process.pid + 1, "java");
	threads_comm(threads, &process, process.pid + 1, "first");
	threads_comm(threads, &process, process.pid + 1, "second");
	ck_assert_ptr_nonnull(threads_now(threads, &process, process.pid + 1));
	threads_comm(threads, &process, process.pid + 1, "third");
	ck_assert_str_eq(names, "second,third,");
}
END_TEST

static bool call_whole(struct thread *thread, const char *name)
{
	return threads_call_whole(threads, thread, name, strlen(name));
}

/* The kernel keeps 15 bytes of a name. Only a name of which they are a part is the whole one. */
START_TEST(a_name_that_was_cut)
{
	pid_t tid = process.pid + 1;
	struct thread *thread;

	threads_comm(threads, &process, tid, "C2 CompilerThre");
	ck_assert(process.names_cut);
	ck_assert_ptr_null(threads_met(threads, &process, tid + 1));
	thread = threads_met(threads, &process, tid);
	ck_assert_ptr_nonnull(thread);
	ck_assert_uint_ne(thread->cut_ns, 0);
	ck_assert(call_whole(thread, "C2 CompilerThread0"));
	ck_assert_uint_eq(thread->cut_ns, 0);
	ck_assert_str_eq(names, "");
	threads_define(threads, thread);
	threads_comm(threads, &process, tid, "C2 CompilerThre"); /* said again, it is the same name */
	ck_assert(!call_whole(thread, "C2 CompilerThread1"));
	ck_assert_str_eq(names, "C2 CompilerThread0,");
	threads_comm(threads, &process, tid, "C2 Comp..hread1");
	ck_assert(call_whole(thread, "C2 CompilerThread1"));
	ck_assert_str_eq(names, "C2 CompilerThread0,C2 Comp..hread1,C2 CompilerThread1,");
}
END_TEST

/* What does not agree with the kernel is no name: the memory that says it may be of any process, and of any moment. */
START_TEST(a_name_of_something_else)
{
	pid_t tid = process.pid + 1;
	struct thread *thread;

	threads_comm(threads, &process, tid, "pool-1-thread-1");
	thread = threads_now(threads, &process, tid);
	ck_assert(!call_whole(thread, "VM Periodic Task Thread"));
	ck_assert_uint_eq(thread->cut_ns, 0);
	threads_comm(threads, &process, tid, "pool-2-thread-1");
	ck_assert_uint_ne(thread->cut_ns, 0);
	ck_assert(!call_whole(thread, "pool-2-thread-1")); /* whole already */
	ck_assert_uint_eq(thread->cut_ns, 0);
	threads_comm(threads, &process, tid, "short");
	ck_assert_uint_eq(thread->cut_ns, 0);
	ck_assert(!call_whole(thread, "shorter than it could be"));
	ck_assert_str_eq(names, "pool-1-thread-1,pool-2-thread-1,short,");
}
END_TEST

START_TEST(without_a_name_it_has_the_process_s)
{
	struct thread *thread = threads_now(threads, &process, process.pid + 1);

	ck_assert_ptr_nonnull(thread);
	ck_assert(!thread->named);
	ck_assert_str_eq(names, "java,");
	ck_assert(threads_now(threads, &process, process.pid)->named);
}
END_TEST

/* Numbers of an earlier image of the same pid are no names of this one. */
START_TEST(names_belong_to_an_image)
{
	struct process next = {.id = 8, .pid = process.pid, .comm = "next"};

	threads_comm(threads, &process, process.pid + 1, "old");
	ck_assert_ptr_nonnull(threads_now(threads, &next, process.pid + 1));
	ck_assert_str_eq(names, "next,");
	threads_forget(threads, &next);
}
END_TEST

/* The process's first thread is called as the process is; /proc knows this program's name only. */
START_TEST(the_first_thread_has_the_image_s_name)
{
	struct process next = {.id = 8, .pid = process.pid, .comm = "next"};

	ck_assert_ptr_nonnull(threads_now(threads, &next, process.pid));
	ck_assert_ptr_nonnull(threads_now(threads, &process, process.pid));
	ck_assert_str_eq(names, "next,java,");
	threads_comm(threads, &next, process.pid, "renamed");
	ck_assert_str_eq(names, "next,java,renamed,");
	threads_forget(threads, &next);
}
END_TEST

/* What /proc says of a thread is a name in the program that runs, and in none that its process executed before. */
START_TEST(an_image_that_ended_has_no_new_names)
{
	struct other_thread o;

	other_thread_start(&o, "other");
	process.pid = getpid();
	ck_assert(threads_now(threads, &process, o.tid)->named);
	threads_forget(threads, &process);
	process.gone_ns = 1;
	ck_assert(!threads_now(threads, &process, o.tid)->named);
	ck_assert_str_eq(names, "other,java,");
	other_thread_end(&o);
}
END_TEST

START_TEST(named_threads_are_bounded)
{
	for (pid_t i = 1; i <= (pid_t)MANY + 9; i++)
		threads_comm(threads, &process, process.pid + i, "thread");
	ck_assert_int_eq(process.account.used[BUDGET_THREADS], MANY);
	ck_assert_uint_eq(process.account.refused[BUDGET_THREADS], 9);
	ck_assert_str_eq(names, "");
}
END_TEST

Suite *test_threads(void)
{
	Suite *s = suite_create("threads");
	TCase *t = tcase_create("names");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_thread_that_is_met_after_its_end_has_the_name_it_had);
	tcase_add_test(t, the_last_name_counts);
	tcase_add_test(t, a_name_that_was_cut);
	tcase_add_test(t, a_name_of_something_else);
	tcase_add_test(t, without_a_name_it_has_the_process_s);
	tcase_add_test(t, names_belong_to_an_image);
	tcase_add_test(t, the_first_thread_has_the_image_s_name);
	tcase_add_test(t, an_image_that_ended_has_no_new_names);
	tcase_add_test(t, named_threads_are_bounded);
	suite_add_tcase(s, t);
	return s;
}
