// SPDX-License-Identifier: Apache-2.0
/* One moment of hand-made recordings: what ran, what waited for whom, what lasted. */
#include "unit/explain_fixture.h"

#include <explain/at.h>
#include <report/at.h>

Suite *test_at(void);

#define CPUS(left, back) .weight = (uint64_t)(back) << 32 | (left)

static struct at_view *at(const struct explained *e, uint64_t ms)
{
	struct at_view *v;

	ck_assert_int_eq(at_view_new(&v, e->tl, BASE_NS + ms * MS, true), 0);
	return v;
}

static char *text_of(const struct at_view *v, bool json, bool all)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (json)
		at_json(out, v);
	else
		at_text(out, v, 50, all);
	fclose(out);
	return text;
}

static void says(const struct explained *e, uint64_t ms, const char *expected)
{
	struct at_view *v = at(e, ms);
	char *text = text_of(v, false, false);

	ck_assert_msg(strcmp(text, expected) == 0, "%s", text);
	free(text);
	at_view_free(v);
}

static bool has(const struct explained *e, uint64_t ms, bool json, const char *part)
{
	struct at_view *v = at(e, ms);
	char *text = text_of(v, json, true);
	bool found = strstr(text, part) != NULL;

	free(text);
	at_view_free(v);
	return found;
}

static const struct trace_rec rows[] = {
	LIFE(1, 0, 200, 100),
	LIFE(2, 0, 200, 100),
	OFF(1, 2, 8, PARKED, CLASS(FUTEX), CPUS(0, 1)),
	OFF(1, 40, 70, MONITOR, CLASS(FUTEX), CPUS(1, 1), .value = 5 * MS, .other = 2, .other_node = ON_SCRIPT),
	OFF(2, 10, 20, IN_POOL, CLASS(FUTEX), CPUS(0, 0)),
	OFF(2, 90, 95, ON_INLINE, CLASS(SOCKET), CPUS(0, 0), .name = PATH, .other = 3),
	JVM(AT(40), .kind = BRAID_JVM_LOCK, .thread = 1, .node = ON_INLINE, .name = C_LOCK, .duration_ns = 29 * MS,
	    .other = 2, .other_node = ON_SCRIPT),
	JVM(AT(85), .kind = BRAID_JVM_SAFEPOINT, .name = N_OP, .duration_ns = 6 * MS),
};

START_TEST(a_moment)
{
	struct explained e = explained_of(rows, COUNT(rows));

	use_zone("UTC");
	/* One waits for a monitor of the other, which runs; a sample of CPU 0 says what. The CPU 1 is not known. */
	says(&e, 45,
	     "At 0.046000 s, 2026-01-01 00:00:00.046000 +0000\n"
	     "\n"
	     "CPUs with a recorded thread: 1\n"
	     "     0  http nio 8080 (102) for 25.00 ms, 25.00 ms more\n"
	     "\n"
	     "Threads: 1 running, 0 stopped or waiting for a CPU, 1 blocked, 0 idle\n"
	     "  http nio 8080 (102): running for 25.00 ms, 45.00 ms more, on CPU 0\n"
	     "  main (101): blocked on the monitor demo.Lock for 5.00 ms, 20.00 ms more, held by http nio 8080 (102) in "
	     "<script>alert(1)</script>.run\n"
	     "          demo.Util.inline < demo.Main.work < demo.Main.main\n"
	     "\n"
	     "Meanwhile\n"
	     "  no garbage collection\n"
	     "  no safepoint\n"
	     "  Contended monitors: demo.Lock for 5.00 ms, 24.00 ms more, main (101)\n");
	/* The samples of the fixture are main's: one of each 10 ms. It is on CPU 1 at 10 ms, and on CPU 0 at 20. */
	ck_assert(has(&e, 9, false, "     1  main (101) for 1.00 ms, 1.00 ms more, sampled 1.00 ms later\n"));
	ck_assert(has(&e, 15, false, "  main (101): running for 7.00 ms, 25.00 ms more, sampled 5.00 ms before\n"));
	/* One runs on CPU 0, without a sample near; the other on a CPU that is not known, with one. */
	ck_assert(has(&e, 45, true, "\"end_s\":0.071,\"sampled_s\":null,\"sampled_stack\":null}],"));
	ck_assert(has(&e, 15, true, "\"cpu\":null,\"sampled_s\":0.011,\"sampled_stack\":["));
	explained_end(&e);
}
END_TEST

START_TEST(what_lasts)
{
	struct explained e = explained_of(rows, COUNT(rows));

	ck_assert(has(&e, 53, false, "  GC pauses: G1 young, System.gc() for 2.00 ms, 3.00 ms more, java (100)\n"));
	ck_assert(has(&e, 53, false, "  no safepoint\n"));
	ck_assert(!has(&e, 53, false, "no garbage collection"));
	ck_assert(has(&e, 57, false, "  GC cycles: G1 young"));
	ck_assert(!has(&e, 57, false, "GC pauses"));
	ck_assert(has(&e, 87, false, "  Safepoints: Cleanup for 2.00 ms, 4.00 ms more, java (100)\n"));
	/* A pause that had not ended with the recording lasts until its end, which is not known. */
	ck_assert(has(&e, 185, false, "  GC pauses: gc_pause for 3.00 ms, java (100)\n"));
	ck_assert(has(&e, 185, true, "\"start_s\":0.183,\"end_s\":null"));
	ck_assert(has(
		&e, 92, true,
		"\"state\":\"socket\",\"idle\":false,\"start_s\":0.091,\"end_s\":0.096,\"object\":\"10.0.0.1:80\""));
	ck_assert(has(&e, 92, true, "\"woken_by\":{\"pid\":200,\"tid\":200,\"name\":\"worker;x\"}"));
	ck_assert(has(&e, 15, false, "http nio 8080 (102): idle, waiting on a futex for 5.00 ms, 5.00 ms more\n"));
	explained_end(&e);
}
END_TEST

START_TEST(idle_threads_are_left_out)
{
	struct explained e = explained_of(rows, COUNT(rows));
	struct at_view *v;
	char *text;

	ck_assert_int_eq(at_view_new(&v, e.tl, BASE_NS + 15 * MS, false), 0);
	text = text_of(v, false, false);
	ck_assert_ptr_nonnull(strstr(text, "Threads: 1 running, 0 stopped or waiting for a CPU, 0 blocked\n"));
	free(text);
	text = text_of(v, true, false);
	ck_assert_ptr_null(strstr(text, "\"idle\":true"));
	free(text);
	at_view_free(v);
	ck_assert(has(&e, 15, true, "\"idle\":true"));
	explained_end(&e);
}
END_TEST

/* Without times off the CPU nothing is said of what threads did, but for what was sampled. */
START_TEST(only_samples)
{
	struct explained e = explained_of(rows, 0);

	ck_assert(has(&e, 31, false, "Threads: what they did is not recorded (record -e offcpu)\n"));
	ck_assert(has(&e, 31, false, "     0  main (101), sampled 1.00 ms before\n"));
	ck_assert(has(&e, 31, true, "\"threads_recorded\":false,\"threads\":[]"));
	ck_assert(!has(&e, 31, false, "no safepoint"));
	ck_assert(!has(&e, 1000, false, "CPUs"));
	explained_end(&e);
}
END_TEST

/* A thread has the name of the moment, in one row, and all of its samples and locks, whatever its name was then. */
START_TEST(an_os_thread_with_two_names)
{
	const struct trace_rec recs[] = {
		REC(TRACE_THREAD, thread, 4, 1, 101, 101, TRACE_THREAD_JAVA, 0, S("DestroyJavaVM"), S("main")),
		LIFE(4, 0, 200, 100),
		OFF(1, 2, 8, PARKED, CLASS(FUTEX), CPUS(1, 1)),
		OFF(1, 12, 18, MONITOR, CLASS(FUTEX), CPUS(1, 1)),
		JVM(AT(12), .kind = BRAID_JVM_LOCK, .thread = 1, .node = ON_INLINE, .name = C_LOCK,
		    .duration_ns = 6 * MS, .number = 9),
		OFF(4, 100, 110, PARKED, CLASS(FUTEX), CPUS(1, 1)),
		OFF(4, 120, 130, PARKED, CLASS(FUTEX), CPUS(1, 1)),
		OFF(4, 140, 150, PARKED, CLASS(FUTEX), CPUS(1, 1)),
	};
	struct explained e = explained_of(recs, COUNT(recs));

	ck_assert(has(&e, 15, false, "  main (101): blocked on the monitor demo.Lock for 3.00 ms, 3.00 ms more\n"));
	ck_assert(has(&e, 105, false, "  DestroyJavaVM (101): parked for 5.00 ms, 5.00 ms more\n"));
	/* the samples are main's */
	ck_assert(has(&e, 30, false,
		      "  main (101): running for 12.00 ms, 70.00 ms more, on CPU 0, sampled 0 ns before\n"));
	ck_assert(!has(&e, 15, false, "DestroyJavaVM") && !has(&e, 105, false, "main (101)"));
	explained_end(&e);
}
END_TEST

/* Whatever a file says, a moment of it can be shown. */
START_TEST(hostile_rows)
{
	for (int round = 0; round < 20; round++) {
		struct trace_rec recs[400];
		struct explained x;

		srand48(round);
		for (size_t i = 0; i < COUNT(recs); i++)
			recs[i] = odd_row();
		x = explained_of(recs, COUNT(recs));
		for (uint64_t ms = 0; ms < 300; ms += 37) {
			struct at_view *v = at(&x, ms);

			for (size_t i = 0; i < v->threads.count; i++) {
				ck_assert_uint_le(v->threads.at[i].segment.start_ns, v->at_ns);
				ck_assert_uint_gt(v->threads.at[i].segment.end_ns, v->at_ns);
			}
			for (size_t i = 1; i < v->cpus.count; i++)
				ck_assert_uint_lt(v->cpus.at[i - 1].cpu, v->cpus.at[i].cpu);
			free(text_of(v, false, true));
			free(text_of(v, true, true));
			at_view_free(v);
		}
		explained_end(&x);
	}
}
END_TEST

Suite *test_at(void)
{
	Suite *s = suite_create("at");
	TCase *t = tcase_create("at");

	tcase_add_test(t, a_moment);
	tcase_add_test(t, what_lasts);
	tcase_add_test(t, idle_threads_are_left_out);
	tcase_add_test(t, only_samples);
	tcase_add_test(t, an_os_thread_with_two_names);
	tcase_add_test(t, hostile_rows);
	suite_add_tcase(s, t);
	return s;
}
