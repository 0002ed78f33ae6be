// SPDX-License-Identifier: Apache-2.0
/* Tests of the tables of `report --wall`: who woke whom, what was waited for, who is idle; and of wakers' stacks. */
#include <analyze/idle.h>
#include <export/export.h>

#include "unit/wall_fixture.h"
#include "unit/many.h"

Suite *test_wall_tables(void);

#define PARKED_LOCK(at, ms)                                                                                            \
	JVM(AT(at), .kind = BRAID_JVM_LOCK, .thread = 1, .node = PARKED, .name = C_QUEUE, .flags = BRAID_LOCK_PARKED,  \
	    .source = BRAID_SOURCE_KERNEL, .duration_ns = (ms)*MS)

/* ---- who woke whom ---- */

START_TEST(chains_of_waits)
{
	const struct trace_rec recs[] = {
		LIFE(1, 0, 200, 0),
		LIFE(2, 0, 200, 0),
		LIFE(3, 0, 200, 0),
		/* 1 waits for 2, which waited for 3, which ran; and again for 2, which then had not waited */
		OFF(1, 10, 40, PARKED, CLASS(FUTEX), .value = MS, .other = 2, .other_node = ON_SCRIPT),
		OFF(2, 5, 38, MONITOR, CLASS(FUTEX), .other = 3, .other_node = 10),
		OFF(1, 50, 60, PARKED, CLASS(FUTEX), .other = 2, .other_node = ON_SCRIPT),
		/* an interrupt, by its name */
		OFF(3, 70, 90, 10, CLASS(BLOCK), .text = S("nvme0q1")),
		/* each wakes the other at the same time */
		OFF(1, 100, 110, PARKED, CLASS(FUTEX), .other = 2),
		OFF(2, 100, 110, PARKED, CLASS(FUTEX), .other = 1),
	};
	struct walled x = wall_of(recs, COUNT(recs), NULL);
	struct wall_view *v;

	ck_assert_int_eq(wall_view_new(&v, x.w, true), 0);
	ck_assert_str_eq(v->wakes.at[0].text, "main [parked] in demo.Util.inline <- http nio * in "
					      "<script>alert(1)</script>.run");
	ck_assert_uint_eq(v->wakes.at[0].ns, 39 * MS);
	ck_assert_uint_eq(v->wakes.at[0].count, 2);
	ck_assert_uint_eq(v->wakes.at[0].max_ns, 29 * MS);
	ck_assert_str_eq(v->wakes.at[1].text, "http nio * [monitor] in demo.Util.inline <- worker;x in foo::bar");
	ck_assert_str_eq(v->wakes.at[2].text, "worker;x [block] in foo::bar <- nvme0q1");
	ck_assert_str_eq(v->chains.at[0].text, "main [parked] in demo.Util.inline <- http nio * in "
					       "<script>alert(1)</script>.run, after [monitor] in demo.Util.inline <- "
					       "worker;x in foo::bar [running]");
	ck_assert_uint_eq(v->chains.at[0].ns, 29 * MS);
	wall_view_free(v);
	wall_end(&x);
}
END_TEST

START_TEST(what_was_waited_for)
{
	const struct trace_rec recs[] = {
		LIFE(1, 0, 200, 0),
		OFF(1, 10, 20, ON_INLINE, CLASS(SOCKET), .name = PATH),
		OFF(1, 30, 60, ON_INLINE, CLASS(SOCKET), .name = PATH),
		/* the agent knows the monitor's class; the times off the CPU are said to begin too early */
		JVM(AT(81), .kind = BRAID_JVM_LOCK, .thread = 1, .node = ON_INLINE, .name = C_LOCK,
		    .duration_ns = 30 * MS),
		OFF(1, 80, 100, MONITOR, CLASS(FUTEX)),
		OFF(1, 110, 115, MONITOR, CLASS(FUTEX)),
		/* a parked thread's lock: its time off the CPU was too short for a row; and one with a row */
		PARKED_LOCK(120, 2),
		COUNTED(1, 2 * MS, CLASS(FUTEX)),
		/* of a thread whose life is not recorded, it is all that is known */
		JVM(AT(120), .kind = BRAID_JVM_LOCK, .thread = 2, .node = SLEEPING, .name = C_HTML,
		    .flags = BRAID_LOCK_PARKED, .source = BRAID_SOURCE_KERNEL, .duration_ns = MS / 2),
		PARKED_LOCK(130, 1),
		OFF(1, 130, 131, PARKED, CLASS(FUTEX), .value = MS / 4),
	};
	struct walled x = wall_of(recs, COUNT(recs), NULL);
	struct wall_view *v;

	ck_assert_int_eq(wall_view_new(&v, x.w, true), 0);
	ck_assert_uint_eq(v->waits.count, 5);
	ck_assert_int_eq(v->waits.at[4].state, WALL_PARKED);
	ck_assert_uint_eq(v->waits.at[4].ns, MS / 2);
	ck_assert_int_eq(v->waits.at[0].state, WALL_SOCKET);
	ck_assert_str_eq(v->waits.at[0].object, "10.0.0.1:80");
	ck_assert_uint_eq(v->waits.at[0].ns, 40 * MS);
	ck_assert_uint_eq(v->waits.at[0].count, 2);
	ck_assert_uint_eq(v->waits.at[0].max_ns, 30 * MS);
	ck_assert_str_eq(v->waits.at[1].object, "demo.Lock");
	ck_assert_str_eq(v->waits.at[2].object, "");
	ck_assert_int_eq(v->waits.at[3].state, WALL_PARKED);
	ck_assert_str_eq(v->waits.at[3].object, "demo.Queue");
	ck_assert_uint_eq(v->waits.at[3].ns, MS * 3 / 4);
	ck_assert_uint_eq(v->all.ns[WALL_FUTEX], 2 * MS);
	ck_assert_uint_eq(v->all.ns[WALL_RUNNABLE], MS / 4);
	wall_view_free(v);
	wall_end(&x);
}
END_TEST

START_TEST(stacks_of_wakers)
{
	const struct trace_rec recs[] = {
		LIFE(1, 0, 200, 0),
		LIFE(2, 0, 200, 0),
		OFF(1, 10, 40, PARKED, CLASS(FUTEX), .value = MS, .other = 2, .other_node = ON_SCRIPT),
		OFF(2, 5, 38, 10, CLASS(BLOCK), .name = PATH, .text = S("irq nvme0q1")),
		OFF(2, 50, 52, 10, CLASS(BLOCK), .name = PATH, .text = S("irq nvme0q1")),
	};
	struct walled x = wall_of(recs, COUNT(recs), NULL);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	ck_assert_int_eq(wakers_write(out, x.w, true, &(struct collapsed_options){.threads = true}), 0);
	fclose(out);
	ck_assert_str_eq(text, "[http nio 8080 tid=102];__libc_start_main;foo::bar(int);[block 10.0.0.1:80];--;"
			       "[irq nvme0q1] 35000000\n"
			       "[main tid=101];__libc_start_main;demo.Main.main;demo.Main.work;demo.Util.inline;"
			       "jdk.internal.misc.Unsafe.park;[parked];--;<script>alert(1)</script>.run;demo.Main.main;"
			       "__libc_start_main;[http nio *];--;[irq nvme0q1] 29000000\n");
	free(text);
	wall_end(&x);
}
END_TEST

/* ---- idle threads ---- */

static bool idle_stack(const struct filter *f, const char *const *names, size_t count)
{
	struct idle_state s = {0};

	for (size_t i = 0; i < count; i++)
		idle_add(&s, idle_frame(f, names[i]),
			 strchr(names[i], '.') && strncmp(names[i], "java.", 5) != 0 && strncmp(names[i], "sun.", 4));
	return idle_is(&s);
}

#define IDLE(f, ...) idle_stack(f, (const char *const[]){__VA_ARGS__}, COUNT(((const char *const[]){__VA_ARGS__})))

START_TEST(who_waits_for_work_is_idle)
{
	struct filter f = {0};

	ck_assert(IDLE(&f, "java.util.concurrent.ThreadPoolExecutor.getTask", "java.util.Queue.take"));
	ck_assert(!IDLE(&f, "java.util.concurrent.ThreadPoolExecutor.runWorker"));
	ck_assert(IDLE(&f, "CompileQueue::get(CompilerThread*)"));
	/* a timer's thread, and a task of it */
	ck_assert(IDLE(&f, "java.util.TimerThread.mainLoop", "java.lang.Object.wait"));
	ck_assert(!IDLE(&f, "java.util.TimerThread.mainLoop", "demo.Task.run", "java.lang.Object.wait"));
	/* an event loop, and what it runs */
	ck_assert(IDLE(&f, "io.netty.channel.nio.NioEventLoop.run", "io.netty.channel.nio.NioEventLoop.select",
		       "sun.nio.ch.SelectorImpl.lockAndDoSelect"));
	ck_assert(!IDLE(&f, "io.netty.channel.nio.NioEventLoop.run", "demo.Handler.read", "java.lang.Object.wait"));
	/* a worker of io_uring, and what it does in a request */
	ck_assert(IDLE(&f, "ret_from_fork_asm", "io_wq_worker", "schedule_timeout"));
	ck_assert(IDLE(&f, "ret_from_fork", "io_wqe_worker", "schedule_timeout"));
	ck_assert(!IDLE(&f, "ret_from_fork_asm", "io_wq_worker", "io_worker_handle_work", "io_wq_submit_work",
			"io_read", "io_schedule_timeout"));
	/* a client that waits for an answer */
	ck_assert(!IDLE(&f, "demo.Main.main", "org.apache.kafka.clients.consumer.KafkaConsumer.poll",
			"sun.nio.ch.SelectorImpl.lockAndDoSelect"));
	ck_assert(!IDLE(&f, "com.acme.Pool.take", "java.lang.Object.wait"));
	ck_assert_int_eq(filter_add_idle(&f, "com.acme.Pool."), 0);
	ck_assert(IDLE(&f, "com.acme.Pool.take", "java.lang.Object.wait"));
	filter_free(&f);
	ck_assert(idle_thread("VM Thread", false));
	ck_assert(!idle_thread("VM Thread", true));
	ck_assert(idle_thread("Reference Handler", true));
	ck_assert(!idle_thread("Reference Handler 2", true));
}
END_TEST

/* Whole, or as the kernel and HotSpot cut them, before JDK 26 and from then on. */
START_TEST(idle_threads_by_a_part_of_their_names)
{
	static const char *const names[] = {"C2 CompilerThread0",
					    "C2 CompilerThre",
					    "C2 Comp..hread0",
					    "VM Periodic Task Thread",
					    "VM Periodic Tas",
					    "VM Peri..Thread",
					    "Monitor Deflation Thread",
					    "Monitor Deflati",
					    "Monitor..Thread",
					    "Notification Thread",
					    "Notification Th",
					    "Notific..Thread",
					    "G1 Refinement Workers#0",
					    "G1 Refi..kers#0",
					    "G1 Refine#0",
					    "Shenandoah Control Thread",
					    "Shenandoah Cont",
					    "Shenand..Thread",
					    "GC task thread#1 (ParallelGC)",
					    "GC task thread#"};

	for (size_t i = 0; i < COUNT(names); i++)
		ck_assert_msg(idle_thread(names[i], false), "%s", names[i]);
	ck_assert(!idle_thread("pool-1-thread-1", false));
	ck_assert(!idle_thread("Monitoring", false));
}
END_TEST

/* ---- reports ---- */

START_TEST(reports)
{
	struct walled x = wall_of(life, COUNT(life), NULL);
	char *text = report(&x, true, false);

	ck_assert_ptr_nonnull(strstr(text, "  100.00 ms   50.00%          -           -  running\n"));
	ck_assert_ptr_nonnull(
		strstr(text, "   25.00 ms   12.50%          2    10.00 ms  waited for a CPU (10.00 ms of it only "
			     "counted)\n"));
	ck_assert_ptr_nonnull(strstr(text, "   10.00 ms    5.00%          1    10.00 ms  idle: waited for work\n"));
	ck_assert_ptr_nonnull(strstr(text, "  200.00 ms  100.00%                         the lives of 1 thread\n"));
	ck_assert_ptr_nonnull(
		strstr(text, "   10.00 ms          1    10.00 ms  socket 10.0.0.1:80 in demo.Util.inline\n"));
	free(text);
	text = report(&x, false, false);
	ck_assert_ptr_nonnull(strstr(text, "  190.00 ms  100.00%                         the lives of 1 thread\n"));
	ck_assert_ptr_null(strstr(text, "idle:"));
	free(text);
	text = report(&x, true, true);
	ck_assert_ptr_nonnull(strstr(text, "\"states_s\":{\"running\":0.1,\"runnable\":0.025,"));
	free(text);
	wall_end(&x);
}
END_TEST

#define AGAIN MANY(100000)

/* One thread's number, used again and again: each of its names is not compared with each of its lives. */
START_TEST(a_number_of_many_threads)
{
	struct trace_rec *recs = calloc(4 * AGAIN, sizeof(*recs));
	struct walled x;

	for (uint32_t i = 0; i < AGAIN; i++) {
		recs[4 * i] = (struct trace_rec)REC(TRACE_THREAD, thread, 1000 + i, 1, 900, 900, 0, 0, S("a"), S(""));
		recs[4 * i + 1] = (struct trace_rec)LIFE(1000 + i, 0, 10, 5);
		recs[4 * i + 2] =
			(struct trace_rec)REC(TRACE_THREAD, thread, 1000 + AGAIN + i, 1, 900, 900, 0, 0, S("b"), S(""));
		recs[4 * i + 3] = (struct trace_rec)OFF(1000 + AGAIN + i, 50, 60, PARKED, CLASS(FUTEX));
	}
	x = wall_of(recs, 4 * AGAIN, NULL);
	ck_assert_uint_eq(thread(&x, 1000)->life_ns, 10 * MS);
	ck_assert_uint_eq(thread(&x, 1000 + AGAIN)->life_ns, 10 * MS);
	wall_end(&x);
	free(recs);
}
END_TEST

Suite *test_wall_tables(void)
{
	Suite *s = suite_create("wall_tables");
	TCase *tc = tcase_create("wall_tables");

	tcase_add_test(tc, chains_of_waits);
	tcase_add_test(tc, what_was_waited_for);
	tcase_add_test(tc, stacks_of_wakers);
	tcase_add_test(tc, who_waits_for_work_is_idle);
	tcase_add_test(tc, idle_threads_by_a_part_of_their_names);
	tcase_add_test(tc, reports);
	tcase_add_test(tc, a_number_of_many_threads);
	suite_add_tcase(s, tc);
	return s;
}
