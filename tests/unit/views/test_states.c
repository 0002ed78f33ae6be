// SPDX-License-Identifier: Apache-2.0
/* Tests of what the threads of JVMs do: by stack for Java threads, by stack and then by name for the JVM's own. */
#include <check.h>

#include <views/views.h>

#include "unit/run.h"

Suite *test_states(void);

#define LIBZ 0x7c0000000000ULL
#define LIBJVM 0x7b0000000000ULL

/* Nodes: 3 is Main.work. */
enum { IN_LIBRARY = 40, IN_JVM, IN_KERNEL, GC, COMPILER, VM, LIKE_GC, NAMELESS };

static const struct trace_rec recs[] = {
	REC(TRACE_THREAD, thread, 40, 1, 140, 140, 0, 0, S("java"), S("")),
	REC(TRACE_THREAD, thread, 41, 1, 141, 141, 0, 0, S("C2 CompilerThre"), S("")),
	REC(TRACE_THREAD, thread, 42, 1, 142, 142, 0, 0, S("C2 CompilerThread0"), S("")),
	REC(TRACE_THREAD, thread, 43, 1, 143, 143, 0, 0, S("C2 Comp..hread0"), S("")),
	REC(TRACE_THREAD, thread, 44, 1, 144, 144, 0, 0, S("Gang worker#0 (Parallel GC Threads)"), S("")),
	REC(TRACE_MODULE, module, 40, TRACE_MODULE_ELF, S("/usr/lib/libz.so"), S("")),
	REC(TRACE_MODULE, module, 41, TRACE_MODULE_ELF, S("/usr/lib/libjvm.so"), S("")),
	REC(TRACE_SYMBOL, symbol, 40, 41, 0x1000, 64, S("GangWorker::loop()")),
	REC(TRACE_SYMBOL, symbol, 41, 41, 0x2000, 64, S("CompileBroker::compiler_thread_loop()")),
	REC(TRACE_SYMBOL, symbol, 42, 41, 0x3000, 64, S("VMThread::run()")),
	REC(TRACE_SYMBOL, symbol, 43, 40, 0x1000, 64, S("WorkerThread::run()")),
	REC(TRACE_FRAME, frame, 40, BRAID_FRAME_NATIVE, 1, 0, LIBZ + 0x100, 40, 0, 0, 0, NULL),
	REC(TRACE_FRAME, frame, 41, BRAID_FRAME_NATIVE, 1, 0, LIBJVM + 0x100, 41, 0, 0, 0, NULL),
	REC(TRACE_FRAME, frame, 42, BRAID_FRAME_NATIVE, 1, 0, LIBJVM + 0x1000, 41, 40, 0, 0, NULL),
	REC(TRACE_FRAME, frame, 43, BRAID_FRAME_NATIVE, 1, 0, LIBJVM + 0x2000, 41, 41, 0, 0, NULL),
	REC(TRACE_FRAME, frame, 44, BRAID_FRAME_NATIVE, 1, 0, LIBJVM + 0x3000, 41, 42, 0, 0, NULL),
	REC(TRACE_FRAME, frame, 45, BRAID_FRAME_NATIVE, 1, 0, LIBZ + 0x1000, 40, 43, 0, 0, NULL),
	REC(TRACE_NODE, node, IN_LIBRARY, 3, 40),
	REC(TRACE_NODE, node, IN_JVM, IN_LIBRARY, 41),
	REC(TRACE_NODE, node, IN_KERNEL, IN_JVM, 5),
	REC(TRACE_NODE, node, GC, 0, 42),
	REC(TRACE_NODE, node, COMPILER, 0, 43),
	REC(TRACE_NODE, node, VM, 0, 44),
	REC(TRACE_NODE, node, LIKE_GC, 0, 45),
	REC(TRACE_NODE, node, NAMELESS, 0, 41),
};

static const struct {
	uint32_t thread, node;
	enum run_state state;
	bool kernel;
} cases[] = {
	{1, 3, RUN_JAVA, false},
	{1, 4, RUN_JAVA, true},
	{1, 8, RUN_JAVA, false},
	{1, IN_LIBRARY, RUN_NATIVE, false},
	{1, IN_JVM, RUN_VM, false},
	{1, IN_KERNEL, RUN_VM, true},
	{1, LIKE_GC, RUN_NATIVE, false},
	{1, NAMELESS, RUN_VM, false},
	{1, 0, RUN_UNKNOWN, false},
	{40, GC, RUN_GC, false},
	{40, COMPILER, RUN_COMPILER, false},
	{40, VM, RUN_VM_THREAD, false},
	{40, LIKE_GC, RUN_OTHER, false},
	{40, NAMELESS, RUN_OTHER, false},
	{40, 3, RUN_JAVA, false},
	{41, NAMELESS, RUN_COMPILER, false},
	{41, 0, RUN_COMPILER, false},
	{42, NAMELESS, RUN_COMPILER, false},
	{43, NAMELESS, RUN_COMPILER, false},
	{44, NAMELESS, RUN_GC, false},
};

START_TEST(one)
{
	struct run before = run_begin(NULL), after = run_begin(NULL);
	const struct trace_rec sample[] = {SAMPLE(191, cases[_i].thread, 0, cases[_i].node)};

	run_feed(&before, recs, sizeof(recs) / sizeof(recs[0]));
	run_analyze(&before, NULL);
	run_feed(&after, recs, sizeof(recs) / sizeof(recs[0]));
	run_feed(&after, sample, 1);
	run_analyze(&after, NULL);
	for (int i = 0; i < RUN_STATES; i++) {
		bool it = i == (int)cases[_i].state;

		ck_assert_msg(after.v->states[i].samples == before.v->states[i].samples + it &&
				      after.v->states[i].kernel ==
					      before.v->states[i].kernel + (it && cases[_i].kernel),
			      "case %d: %s", _i, run_state_title((enum run_state)i));
	}
	run_free(&before);
	run_free(&after);
}
END_TEST

/* A JVM whose agent is missing shows as one by its methods. */
START_TEST(without_agent)
{
	static const struct trace_rec some[] = {
		REC(TRACE_PROCESS, process, 1, 100, 0, 5, S("java"), S("/usr/bin/java")),
		REC(TRACE_PROCESS, process, 2, 200, 0, 5, S("cat"), S("/usr/bin/cat")),
		REC(TRACE_THREAD, thread, 1, 1, 101, 101, 0, 0, S("java"), S("")),
		REC(TRACE_THREAD, thread, 2, 2, 201, 201, 0, 0, S("cat"), S("")),
		REC(TRACE_METHOD, method, 1, 1, 9, S("demo.Main"), S("main"), S("()V"), S("")),
		REC(TRACE_FRAME, frame, 1, BRAID_FRAME_INTERPRETED, 1, 0, 0x800, 0, 0, 0, 1, main_scope),
		REC(TRACE_NODE, node, 1, 0, 1),
		SAMPLE(1, 1, 0, 1),
		SAMPLE(2, 2, 0, 0),
	};
	struct run r = {0};
	uint64_t all = 0;

	ck_assert_int_eq(analyzer_new(&r.a), 0);
	run_feed(&r, some, sizeof(some) / sizeof(some[0]));
	run_analyze(&r, NULL);
	for (int i = 0; i < RUN_STATES; i++)
		all += r.v->states[i].samples;
	ck_assert_uint_eq(all, 1);
	ck_assert_uint_eq(r.v->states[RUN_JAVA].samples, 1);
	run_free(&r);
}
END_TEST

Suite *test_states(void)
{
	Suite *s = suite_create("states");
	TCase *t = tcase_create("states");

	tcase_add_loop_test(t, one, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(t, without_agent);
	suite_add_tcase(s, t);
	return s;
}
