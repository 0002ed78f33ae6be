// SPDX-License-Identifier: Apache-2.0
/* Tests of thread dumps: cycles, groups, states, deadlocks, and how they are printed. */
#include <dump/dumps.h>
#include <report/dump.h>

#include "unit/events_fixture.h"
#include "unit/run.h"

Suite *test_dump(void);

static size_t cycles(const uint32_t *next, size_t count, const uint32_t *expected)
{
	uint32_t cycle[16];
	size_t found = cycles_find(next, count, cycle);

	for (size_t i = 0; i < count; i++)
		ck_assert_uint_eq(cycle[i], expected[i]);
	return found;
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NO CYCLE_NONE
START_TEST(cycles_are_found_once)
{
	/* 0 and 3 only wait for members of cycles; 8 waits for itself; 9 for nobody known */
	static const uint32_t next[] = {1, 2, 1, 0, 6, 4, 5, NO, 8, 77};
	static const uint32_t in[] = {0, 1, 1, 0, 2, 2, 2, 0, 3, 0};
	static const uint32_t line[] = {1, 2, 3, NO}, none[] = {0, 0, 0, 0};

	ck_assert_uint_eq(cycles(next, COUNT(next), in), 3);
	ck_assert_uint_eq(cycles(line, COUNT(line), none), 0);
	ck_assert_uint_eq(cycles(NULL, 0, NULL), 0);
}
END_TEST

#define FUTEX 202
#define DUMP(t, on, class, f, ...)                                                                                     \
	JVM(AT(50), .kind = BRAID_JVM_DUMP, .thread = t, .node = on, .value = 2 * MS,                                  \
	    .flags = FUTEX | (class) << BRAID_OFFCPU_CLASS_SHIFT | (f), __VA_ARGS__)
#define THREAD(id, tid, flags, name) REC(TRACE_THREAD, thread, id, 1, tid, tid, flags, 0, S(name), S(""))

#define VM_STATE 900

static const struct trace_rec dump[] = {
	THREAD(4, 104, TRACE_THREAD_JAVA, "parked-1"),
	THREAD(5, 105, TRACE_THREAD_JAVA, "parked-2"),
	THREAD(6, 106, 0, "native"),
	/* an earlier dump does not count */
	JVM(AT(40), .kind = BRAID_JVM_DUMP, .thread = 2, .node = PARKED, .flags = BRAID_DUMP_RUNS),
	DUMP(1, MONITOR, BRAID_OFFCPU_FUTEX, BRAID_DUMP_MONITOR | BRAID_DUMP_OWNED, .name = C_LOCK, .number = 7,
	     .other = 2),
	DUMP(2, PARKED, BRAID_OFFCPU_FUTEX, BRAID_DUMP_PARK | BRAID_DUMP_OWNED, .name = C_QUEUE, .number = 8,
	     .other = 1),
	REC(TRACE_NAME, name, VM_STATE, S("in_native")),
	DUMP(4, PARKED, BRAID_OFFCPU_FUTEX, BRAID_DUMP_TIMED, .detail = VM_STATE),
	DUMP(5, PARKED, BRAID_OFFCPU_FUTEX, BRAID_DUMP_TIMED),
	DUMP(6, ON_NATIVE, BRAID_OFFCPU_CALL, BRAID_OFFCPU_UNINTERRUPTIBLE),
	/* of another process, and of a thread that is not known */
	JVM_OF(2, AT(50), .kind = BRAID_JVM_DUMP, .thread = 3),
	DUMP(99, PARKED, BRAID_OFFCPU_FUTEX, 0, .other = 98),
};

static void analyze(struct run *r, const struct trace_rec *recs, size_t count)
{
	ck_assert_int_eq(analyzer_new(&r->a), 0);
	run_feed(r, synthetic, SYNTHETIC_COUNT);
	run_feed(r, more, COUNT(more));
	run_feed(r, recs, count);
	run_analyze(r, NULL);
}

/* The last dump of process 100. */
static struct dump_view *view_of(struct run *r, const struct trace_rec *recs, size_t count)
{
	struct dump_view *v;
	struct dumps dumps;

	analyze(r, recs, count);
	ck_assert_int_eq(dumps_list(&dumps, r->an), 0);
	ck_assert_int_eq(dump_view_new(&v, r->an, dumps_at(&dumps, 100, UINT64_MAX), true), 0);
	dumps_free(&dumps);
	return v;
}

static const struct dump_thread *named(const struct dump_view *v, const char *name)
{
	for (size_t i = 0; i < v->threads.count; i++)
		if (strcmp(v->threads.at[i].name, name) == 0)
			return &v->threads.at[i];
	ck_abort_msg("no thread %s", name);
}

static void check_state(const struct dump_view *v, const char *name, const char *java, const char *kernel,
			const char *reason)
{
	const struct dump_thread *t = named(v, name);

	ck_assert_str_eq(t->java, java);
	ck_assert_str_eq(t->kernel, kernel);
	ck_assert_str_eq(t->reason, reason);
}

START_TEST(states_groups_and_deadlocks)
{
	struct run r = {0};
	struct dump_view *v = view_of(&r, dump, COUNT(dump));

	ck_assert_uint_eq(v->threads.count, 5);
	check_state(v, "main", "BLOCKED", "sleeping", "blocked on a monitor");
	check_state(v, "http nio 8080", "WAITING", "sleeping", "parked");
	check_state(v, "parked-1", "TIMED_WAITING", "sleeping", "parked");
	check_state(v, "native", "", "disk", "futex");
	ck_assert_str_eq(named(v, "main")->class, "demo.Lock");
	ck_assert_ptr_eq(&v->threads.at[named(v, "main")->owner], named(v, "http nio 8080"));

	ck_assert_uint_eq(v->groups.count, 4);
	ck_assert_uint_eq(v->groups.at[0].count, 2);
	ck_assert_str_eq(v->threads.at[v->groups.at[0].first].name, "parked-1");

	ck_assert_uint_eq(v->deadlocks, 1);
	ck_assert_uint_eq(named(v, "main")->deadlock, 1);
	ck_assert_uint_eq(named(v, "http nio 8080")->deadlock, 1);
	ck_assert_uint_eq(named(v, "native")->deadlock, 0);
	dump_view_free(v);
	run_free(&r);
}
END_TEST

/* An owner that may have changed meanwhile, or of what is waited for otherwise, makes no deadlock. */
START_TEST(uncertain_owners_are_no_deadlock)
{
	static const struct trace_rec recs[] = {
		DUMP(1, MONITOR, BRAID_OFFCPU_FUTEX, BRAID_DUMP_MONITOR, .other = 2),
		DUMP(2, PARKED, BRAID_OFFCPU_FUTEX, BRAID_DUMP_PARK | BRAID_DUMP_OWNED, .other = 1),
	};
	static const struct trace_rec waits[] = {
		DUMP(1, WAITING, BRAID_OFFCPU_FUTEX, BRAID_DUMP_WAIT | BRAID_DUMP_OWNED, .other = 2),
		DUMP(2, PARKED, BRAID_OFFCPU_FUTEX, BRAID_DUMP_PARK | BRAID_DUMP_OWNED, .other = 1),
	};
	struct run r = {0};
	struct dump_view *v = view_of(&r, recs, COUNT(recs));

	ck_assert_uint_eq(v->deadlocks, 0);
	ck_assert_uint_ne(named(v, "main")->owner, CYCLE_NONE);
	dump_view_free(v);
	run_free(&r);

	r = (struct run){0};
	v = view_of(&r, waits, COUNT(waits));
	ck_assert_uint_eq(v->deadlocks, 0);
	dump_view_free(v);
	run_free(&r);
}
END_TEST

static char *printed(const struct dump_view *v, bool json, const struct dump_style *style)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	(json ? dump_json : dump_text)(out, v, style);
	fclose(out);
	return text;
}

#define HAS(text, part) ck_assert_msg(strstr(text, part) != NULL, "no '%s' in:\n%s", part, text)
#define LACKS(text, part) ck_assert_msg(strstr(text, part) == NULL, "'%s' in:\n%s", part, text)

START_TEST(dumps_are_printed)
{
	struct run r = {0};
	struct dump_view *v = view_of(&r, dump, COUNT(dump));
	char *text = printed(v, false, &(struct dump_style){0});

	HAS(text, "process 100: 5 threads: 4 sleeping, 1 disk; 1 deadlock\n\nDeadlock of 2 threads:\n");
	HAS(text, "    \"main\" tid 101 waits for the monitor of a demo.Lock, which \"http nio 8080\" tid 102 owns\n");
	HAS(text, "    \"http nio 8080\" tid 102 waits for a demo.Queue, which \"main\" tid 101 owns\n");
	HAS(text,
	    "2 threads, TIMED_WAITING, sleeping: parked:\n    \"parked-1\" tid 104, CPU time 2.00 ms, in native code\n"
	    "    \"parked-2\" tid 105, CPU time 2.00 ms\n        interpreted jdk.internal.misc.Unsafe.park\n");
	HAS(text,
	    "        inlined     demo.Util.inline (Util.java:30)\n        C2          demo.Main.work (Main.java:12)\n");
	free(text);

	text = printed(v, false, &(struct dump_style){.all = true});
	HAS(text, "\"parked-2\" tid 105, CPU time 2.00 ms, TIMED_WAITING, sleeping: parked:\n        interpreted");
	free(text);

	text = printed(v, false, &(struct dump_style){.deadlocks = true});
	HAS(text, "Deadlock of 2 threads:\n");
	LACKS(text, "parked-1");
	free(text);

	text = printed(v, true, &(struct dump_style){0});
	HAS(text, "{\"pid\":100,\"at_s\":0.051,\"deadlocks\":[[{");
	HAS(text, "\"waits_for\":\"monitor\",\"class\":\"demo.Lock\",\"owner_tid\":102");
	HAS(text,
	    "\"java_state\":null,\"kernel_state\":\"disk\",\"mount_state\":null,\"reason\":\"futex\",\"class\":null");
	free(text);
	dump_view_free(v);
	run_free(&r);
}
END_TEST

#define VTHREAD(id, number, name) REC(TRACE_VTHREAD, vthread, id, 1, number, S(name))
#define VIRTUAL(v, on, state, ...)                                                                                     \
	JVM(AT(50), .kind = BRAID_JVM_DUMP_VTHREAD, .vthread = v, .node = on, .flags = (state), .value = 1, __VA_ARGS__)
#define OWNED_LOCK (BRAID_DUMP_PARK | BRAID_DUMP_OWNED)

static const struct trace_rec virtual[] = {
	THREAD(4, 104, TRACE_THREAD_JAVA, "carrier"),
	VTHREAD(1, 31, "v-1"),
	VTHREAD(2, 32, "v-2"),
	VTHREAD(3, 33, ""),
	VTHREAD(4, 34, "v-4"),
	/* v-1 and main wait for each other; v-2, which its carrier runs, and v-4 do, too */
	DUMP(1, PARKED, BRAID_OFFCPU_FUTEX, OWNED_LOCK, .name = C_LOCK, .other_vthread = 1),
	DUMP(4, MONITOR, BRAID_OFFCPU_FUTEX, BRAID_DUMP_MONITOR | BRAID_DUMP_OWNED, .name = C_LOCK, .other_vthread = 4),
	VIRTUAL(1, PARKED, BRAID_VTHREAD_PARKED | OWNED_LOCK, .name = C_LOCK, .other = 1),
	VIRTUAL(2, MONITOR, BRAID_VTHREAD_MOUNTED, .thread = 4),
	VIRTUAL(4, PARKED, BRAID_VTHREAD_PARKED | OWNED_LOCK, .name = C_LOCK, .other = 4),
	VIRTUAL(3, PARKED, BRAID_VTHREAD_PARKED | BRAID_DUMP_TIMED, .name = 0),
	JVM(AT(50), .kind = BRAID_JVM_DUMP_VTHREAD, .node = PARKED, .flags = BRAID_VTHREAD_PARKED | BRAID_DUMP_TIMED,
	    .value = 1000),
};

START_TEST(virtual_threads)
{
	struct run r = {0};
	struct dump_view *v = view_of(&r, virtual, COUNT(virtual));
	char *text;

	ck_assert_uint_eq(dump_view_count(v, false, NULL), 2);
	ck_assert_uint_eq(dump_view_count(v, true, NULL), 1004);
	ck_assert_uint_eq(dump_view_count(v, true, "mounted"), 1);
	check_state(v, "v-2", "BLOCKED", "", "blocked on a monitor");
	check_state(v, "v-1", "WAITING", "", "parked");
	ck_assert_uint_eq(v->groups.at[0].threads, 1001);
	ck_assert_uint_eq(v->deadlocks, 2);
	ck_assert_uint_eq(named(v, "main")->deadlock, named(v, "v-1")->deadlock);
	ck_assert_uint_eq(named(v, "v-2")->deadlock, named(v, "v-4")->deadlock);
	ck_assert_uint_eq(named(v, "carrier")->deadlock, 0);

	text = printed(v, false, &(struct dump_style){0});
	HAS(text, "process 100: 2 threads: 2 sleeping; 1004 virtual threads: 1 mounted, 1003 unmounted; 2 deadlocks\n");
	HAS(text, "\"main\" tid 101 waits for a demo.Lock, which \"v-1\" virtual thread 31 owns\n");
	HAS(text,
	    "\"v-2\" virtual thread 32 waits for the monitor of a demo.Lock, which \"v-4\" virtual thread 34 owns\n");
	HAS(text,
	    "1001 virtual threads, TIMED_WAITING, unmounted: parked:\n    \"\" virtual thread 33\n    and 1000 more\n");
	HAS(text, "\"v-2\" virtual thread 32, mounted on \"carrier\" tid 104\n");
	free(text);

	text = printed(v, true, &(struct dump_style){.all = true});
	HAS(text, "\"kernel_state\":null,\"mount_state\":\"mounted\"");
	HAS(text,
	    "{\"name\":\"v-1\",\"tid\":null,\"vthread\":31,\"waits_for\":\"lock\",\"class\":\"demo.Lock\",\"owner_tid\":101,");
	HAS(text, "\"count\":1000");
	free(text);
	dump_view_free(v);
	run_free(&r);
}
END_TEST

/* Threads of which nothing could be read may be in a deadlock. */
START_TEST(unread_threads)
{
	static const struct trace_rec unread[] = {
		DUMP(1, MONITOR, BRAID_OFFCPU_FUTEX, BRAID_DUMP_UNREAD),
		DUMP(2, PARKED, BRAID_OFFCPU_FUTEX, BRAID_DUMP_UNREAD),
	};
	struct trace_rec some[COUNT(dump)];
	struct run r = {0};
	struct dump_view *v = view_of(&r, unread, COUNT(unread));
	char *text = printed(v, false, &(struct dump_style){0});

	HAS(text, "sleeping; deadlocks not known: what 2 threads wait for could not be read\n");
	free(text);
	text = printed(v, true, &(struct dump_style){0});
	HAS(text, "\"deadlocks\":null,\"threads_unread\":2,");
	free(text);
	dump_view_free(v);
	run_free(&r);

	memcpy(some, dump, sizeof(dump));
	for (size_t i = 0; i < COUNT(some); i++)
		if (some[i].kind == TRACE_JVM_EVENT && some[i].jvm_event.thread == 6)
			some[i].jvm_event.flags |= BRAID_DUMP_UNREAD;
	r = (struct run){0};
	v = view_of(&r, some, COUNT(some));
	text = printed(v, false, &(struct dump_style){0});
	HAS(text, "; 1 deadlock at least: what 1 thread waits for is not known\n");
	free(text);
	dump_view_free(v);
	run_free(&r);
}
END_TEST

/* A later dump: the first deadlock is still there, and another process has one. */
static const struct trace_rec later[] = {
	JVM(AT(90), .kind = BRAID_JVM_DUMP, .thread = 2, .node = PARKED,
	    .flags = FUTEX | BRAID_OFFCPU_FUTEX << BRAID_OFFCPU_CLASS_SHIFT | BRAID_DUMP_PARK | BRAID_DUMP_OWNED,
	    .name = C_QUEUE, .other = 1),
	JVM_OF(2, AT(90), .kind = BRAID_JVM_DUMP, .thread = 3),
	JVM(AT(90), .kind = BRAID_JVM_DUMP, .thread = 1, .node = MONITOR,
	    .flags = FUTEX | BRAID_OFFCPU_FUTEX << BRAID_OFFCPU_CLASS_SHIFT | BRAID_DUMP_MONITOR | BRAID_DUMP_OWNED,
	    .name = C_LOCK, .other = 2),
};

START_TEST(dumps_of_a_trace)
{
	struct trace_rec recs[COUNT(dump) + COUNT(later)];
	struct run r = {0};
	struct dumps d;
	char *text = NULL;
	size_t size = 0;
	FILE *out;

	memcpy(recs, dump, sizeof(dump));
	memcpy(recs + COUNT(dump), later, sizeof(later));
	analyze(&r, recs, COUNT(recs));
	ck_assert_int_eq(dumps_new(&d, r.an), 0);
	ck_assert_uint_eq(d.refs.count, 5);
	ck_assert_ptr_null(dumps_at(&d, 100, BASE_NS + 39 * MS));
	ck_assert_uint_eq(dumps_at(&d, 100, BASE_NS + 49 * MS)->time_ns, BASE_NS + 40 * MS);
	ck_assert_uint_eq(dumps_at(&d, 100, BASE_NS + 50 * MS)->time_ns, BASE_NS + 50 * MS);
	ck_assert_uint_eq(dumps_at(&d, 0, UINT64_MAX)->time_ns, BASE_NS + 90 * MS);
	ck_assert_uint_eq(d.deadlocks.count, 1);
	ck_assert_uint_eq(d.deadlocks.at[0].dumps, 2);
	ck_assert_uint_eq(d.deadlocks.at[0].last_ns, BASE_NS + 90 * MS);
	dumps_free(&d);

	out = open_memstream(&text, &size);
	text_dumps(out, r.v);
	fclose(out);
	HAS(text, "5, first at 41.00 ms, last at 91.00 ms;");
	HAS(text, "  process 100, in 2 of 3 dumps, first at 51.00 ms, last at 91.00 ms:\n    \"main\" tid 101 waits");
	free(text);
	run_free(&r);
}
END_TEST

#define ALONE 500000

/* So many deadlocks are counted without a search for each. */
START_TEST(many_deadlocks)
{
	struct run r = run_begin(NULL);
	struct dumps d;

	run_feed(&r, more, COUNT(more));
	for (uint32_t i = 1000; i < 1000 + ALONE; i++) {
		const struct trace_rec recs[] = {
			THREAD(i, i, 0, "alone"),
			DUMP(i, MONITOR, BRAID_OFFCPU_FUTEX, BRAID_DUMP_MONITOR | BRAID_DUMP_OWNED, .other = i),
		};

		run_feed(&r, recs, COUNT(recs));
	}
	ck_assert_int_eq(analysis_new(&r.an, r.a, NULL), 0);
	ck_assert_int_eq(dumps_new(&d, r.an), 0);
	ck_assert_uint_eq(d.deadlocks.count, DUMPS_DEADLOCKS_MAX);
	ck_assert_uint_eq(d.more, ALONE - DUMPS_DEADLOCKS_MAX);
	ck_assert_uint_eq(dump_deadlock(d.views.at[0], ALONE)->deadlock, ALONE);
	dumps_free(&d);
	analysis_free(r.an);
	analyzer_free(r.a);
}
END_TEST

/* Whatever a trace says, a dump ends and is printed. */
START_TEST(hostile_dumps)
{
	for (int round = 0; round < 50; round++) {
		struct trace_rec recs[200];
		struct run r = {0};
		struct dump_view *v;

		srand48(round);
		for (size_t i = 0; i < COUNT(recs); i++) {
			recs[i] = (struct trace_rec)DUMP((uint32_t)lrand48() % 8, (uint32_t)lrand48() % 30,
							 (uint32_t)lrand48() % 16, (uint32_t)lrand48() << 25,
							 .name = (uint32_t)lrand48() % 20,
							 .other = (uint32_t)lrand48() % 8);
			if (lrand48() % 2) {
				recs[i].jvm_event.kind = BRAID_JVM_DUMP_VTHREAD;
				recs[i].jvm_event.value = (uint64_t)lrand48() << lrand48() % 40;
				recs[i].jvm_event.vthread = (uint32_t)lrand48() % 8;
				recs[i].jvm_event.flags |= (uint32_t)lrand48() % 16;
			}
			recs[i].jvm_event.other_vthread = (uint32_t)lrand48() % 8;
		}
		for (uint32_t i = 0; i < 6; i++)
			recs[i] = (struct trace_rec)VTHREAD(i, i, "v");
		v = view_of(&r, recs, COUNT(recs));
		free(printed(v, false, &(struct dump_style){.all = round % 2}));
		free(printed(v, true, &(struct dump_style){.all = round % 2}));
		dump_view_free(v);
		run_free(&r);
	}
}
END_TEST

Suite *test_dump(void)
{
	Suite *suite = suite_create("dump");
	TCase *tc = tcase_create("threads");

	tcase_add_test(tc, unread_threads);
	tcase_add_test(tc, cycles_are_found_once);
	tcase_add_test(tc, states_groups_and_deadlocks);
	tcase_add_test(tc, uncertain_owners_are_no_deadlock);
	tcase_add_test(tc, dumps_are_printed);
	tcase_add_test(tc, virtual_threads);
	tcase_add_test(tc, dumps_of_a_trace);
	tcase_add_test(tc, many_deadlocks);
	tcase_add_test(tc, hostile_dumps);
	suite_add_tcase(suite, tc);
	return suite;
}
