// SPDX-License-Identifier: Apache-2.0
/* Tests of predictions: hand-made graphs of waits with known answers, and hostile ones. */
#include <errno.h>

#include <explain/what_if.h>

#include "unit/explain_fixture.h"
#include "unit/many.h"

Suite *test_what_if(void);

static struct what_if changes_of(const char *first, const char *second)
{
	static char text[2][64];
	struct what_if wi = {.count = 0};

	snprintf(text[0], sizeof(text[0]), "%s", first);
	ck_assert_int_eq(what_if_add(&wi, text[0]), 0);
	if (!second)
		return wi;
	snprintf(text[1], sizeof(text[1]), "%s", second);
	ck_assert_int_eq(what_if_add(&wi, text[1]), 0);
	return wi;
}

/* How long a thread's stretch would have taken, in ms. */
static uint64_t predicted(struct explained *x, uint32_t thread, uint64_t from_ms, uint64_t to_ms, const char *first,
			  const char *second)
{
	struct what_if wi = changes_of(first, second);
	struct stretch s = stretch_of(x, thread, from_ms, to_ms);

	ck_assert_int_eq(what_if_replay(&wi, x->tl, &s), 0);
	ck_assert_uint_eq(wi.recorded_ns, (to_ms - from_ms) * MS);
	for (size_t i = 0; i < wi.count; i++)
		ck_assert_uint_gt(wi.changes[i].matched_ns, 0);
	return wi.predicted_ns / MS;
}

#define LOCKED(t, from, to, by)                                                                                        \
	JVM(AT(from), .kind = BRAID_JVM_LOCK, .thread = t, .node = MONITOR, .name = C_LOCK,                            \
	    .duration_ns = ((to) - (from)) * MS),                                                                      \
		OFF(t, from, to, MONITOR, CLASS(FUTEX), .other = by, .value = MS)

START_TEST(locks_go_away)
{
	const struct trace_rec recs[] = {
		LIFE(1, 0, 200, 140),
		LIFE(2, 0, 200, 150),
		LOCKED(1, 20, 81, 2),
		OFF(2, 10, 60, ON_SCRIPT, CLASS(BLOCK)),
	};
	struct explained x = explained_of(recs, COUNT(recs));

	/* without the lock, nor the wait for a CPU after it */
	ck_assert_uint_eq(predicted(&x, 1, 0, 100, "demo.Lock=0", NULL), 39);
	ck_assert_uint_eq(predicted(&x, 1, 0, 100, "Lock=0", NULL), 39);
	ck_assert_uint_eq(predicted(&x, 1, 0, 100, "Lock=/2", NULL), 70);
	/* the holder comes 25 ms earlier, or 50: it still runs for 20 */
	ck_assert_uint_eq(predicted(&x, 1, 0, 100, "io=/2", NULL), 75);
	ck_assert_uint_eq(predicted(&x, 1, 0, 100, "block=0", NULL), 50);
	ck_assert_uint_eq(predicted(&x, 1, 0, 100, "io=*2", NULL), 150);
	ck_assert_uint_eq(predicted(&x, 1, 0, 100, "io=*1", NULL), 100);
	ck_assert_uint_eq(predicted(&x, 1, 0, 100, "io=/2", "Lock=0"), 39);
	explained_end(&x);
}
END_TEST

/* The waits by HotSpot's own timer are as much shorter as the owner of the monitor comes earlier. */
START_TEST(timers_of_a_monitor)
{
	const struct trace_rec recs[] = {
		LIFE(1, 0, 200, 140),
		LIFE(2, 0, 200, 150),
		JVM(AT(20), .kind = BRAID_JVM_LOCK, .thread = 1, .node = MONITOR, .name = C_LOCK,
		    .duration_ns = 60 * MS, .other = 2),
		OFF(1, 20, 30, MONITOR, CLASS(FUTEX) | BRAID_OFFCPU_IRQ, .text = S("timer")),
		OFF(1, 30, 55, MONITOR, CLASS(FUTEX) | BRAID_OFFCPU_IRQ, .text = S("timer")),
		OFF(1, 55, 80, MONITOR, CLASS(FUTEX), .other = 2),
		OFF(2, 10, 60, ON_SCRIPT, CLASS(BLOCK)),
	};
	struct explained x = explained_of(recs, COUNT(recs));

	ck_assert_uint_eq(predicted(&x, 1, 0, 100, "io=/2", NULL), 75);
	ck_assert_uint_eq(predicted(&x, 1, 0, 100, "io=0", NULL), 50);
	ck_assert_uint_eq(predicted(&x, 1, 0, 100, "Lock=0", NULL), 40);
	explained_end(&x);
}
END_TEST

/* The synthetic trace's samples of thread 1: 0 to 50 in Util.inline below Main.work, 60 to 80 in a script. */
START_TEST(methods_get_faster)
{
	const struct trace_rec recs[] = {LIFE(1, 0, 200, 180), OFF(1, 180, 200, SLEEPING, CLASS(SLEEP)),
					 SAMPLE(35, 1, 0, 3)};
	struct explained x = explained_of(recs, COUNT(recs));

	/* 8 of 11 samples are in work, in 180 ms, and the sleep, which no thread ends */
	ck_assert_uint_eq(predicted(&x, 1, 0, 200, "demo.Main.work=0", NULL), 180 * 3 / 11);
	ck_assert_uint_eq(predicted(&x, 1, 0, 200, "work=/2", NULL), 180 * 7 / 11 + 10);
	/* all of them are in main */
	ck_assert_uint_eq(predicted(&x, 1, 0, 200, "demo.Main.main=/2", NULL), 100);
	ck_assert_uint_eq(predicted(&x, 1, 0, 200, "running=/2", "sleeping=0"), 90);
	explained_end(&x);
}
END_TEST

/* Thread 1 gives work to thread 2, which idles until then, and waits for it: twice. */
static const struct trace_rec rounds[] = {
	LIFE(1, 0, 200, 40),
	LIFE(2, 0, 200, 100),
	OFF(2, 0, 10, IN_POOL, CLASS(FUTEX), .other = 1),
	OFF(1, 10, 60, PARKED, CLASS(FUTEX), .other = 2),
	OFF(2, 20, 60, SLEEPING, CLASS(SLEEP) | BRAID_OFFCPU_IRQ),
	OFF(2, 60, 90, IN_POOL, CLASS(FUTEX) | BRAID_OFFCPU_IRQ, .text = S("timer")),
	OFF(2, 90, 100, IN_POOL, CLASS(FUTEX), .other = 1),
	OFF(1, 100, 150, PARKED, CLASS(FUTEX), .other = 2),
	OFF(2, 110, 150, SLEEPING, CLASS(SLEEP) | BRAID_OFFCPU_IRQ),
};

START_TEST(work_that_is_given_comes_earlier)
{
	struct explained x = explained_of(rounds, COUNT(rounds));

	/* in the second round, the worker's idle time-out does not hold up anybody */
	ck_assert_uint_eq(predicted(&x, 1, 0, 200, "sleeping=0", NULL), 120);
	ck_assert_uint_eq(predicted(&x, 1, 0, 200, "sleeping=/2", NULL), 160);
	ck_assert_uint_eq(predicted(&x, 1, 0, 200, "sleeping=*2", NULL), 280);
	explained_end(&x);
}
END_TEST

/* Who comes later than the waker needs not wait. */
START_TEST(waits_that_are_not_needed)
{
	const struct trace_rec recs[] = {
		LIFE(1, 0, 200, 100),
		LIFE(2, 0, 200, 180),
		OFF(2, 0, 1, PARKED, CLASS(FUTEX), .other = 1),
		OFF(1, 20, 40, SLEEPING, CLASS(SLEEP)),
		OFF(1, 50, 70, PARKED, CLASS(FUTEX), .other = 2, .value = 5 * MS),
	};
	struct explained x = explained_of(recs, COUNT(recs));

	/* it sleeps until 60 and comes at 70, when the other one is through since 65 */
	ck_assert_uint_eq(predicted(&x, 1, 0, 100, "sleeping=*2", NULL), 100);
	ck_assert_uint_eq(predicted(&x, 1, 0, 100, "sleeping=*1.5", NULL), 100);
	ck_assert_uint_eq(predicted(&x, 1, 0, 100, "sleeping=0", NULL), 100);
	explained_end(&x);
}
END_TEST

#define C_SYNC 21

/* Who knows the lock does not know its inner class. Who ended a wait that keeps its length is not known. */
START_TEST(locks_by_their_own_names)
{
	const struct trace_rec recs[] = {
		NAME(C_SYNC, "java.util.concurrent.locks.ReentrantLock$NonfairSync"),
		LIFE(1, 0, 200, 140),
		OFF(1, 20, 50, PARKED, CLASS(FUTEX), .name = C_SYNC),
		OFF(1, 60, 70, PARKED, CLASS(FUTEX), .name = C_SYNC),
		OFF(1, 80, 90, PARKED, CLASS(FUTEX) | BRAID_OFFCPU_IRQ, .name = C_SYNC, .text = S("timer")),
		OFF(1, 90, 95, SLEEPING, CLASS(SLEEP)),
	};
	struct explained x = explained_of(recs, COUNT(recs));
	struct stretch s = stretch_of(&x, 1, 0, 100);
	struct what_if wi;

	ck_assert_uint_eq(predicted(&x, 1, 0, 100, "ReentrantLock=0", NULL), 50);
	ck_assert_uint_eq(predicted(&x, 1, 0, 100, "java.util.concurrent.locks.ReentrantLock=0", NULL), 50);
	ck_assert_uint_eq(predicted(&x, 1, 0, 100, "NonfairSync=0", NULL), 50);
	wi = changes_of("Reentrant=0", "Sync=0");
	ck_assert_int_eq(what_if_replay(&wi, x.tl, &s), 0);
	ck_assert_uint_eq(wi.predicted_ns, 100 * MS);

	wi = changes_of("sleeping=0", NULL);
	ck_assert_int_eq(what_if_replay(&wi, x.tl, &s), 0);
	ck_assert_uint_eq(wi.predicted_ns, 95 * MS);
	ck_assert_uint_eq(wi.unknown_ns, 40 * MS);
	ck_assert_uint_eq(wi.unknown_count, 1);
	ck_assert_uint_eq(wi.unknown[0].count, 2);
	ck_assert_uint_eq(wi.unknown[0].state, WALL_PARKED);
	wi = changes_of("ReentrantLock=0", NULL);
	ck_assert_int_eq(what_if_replay(&wi, x.tl, &s), 0);
	ck_assert_uint_eq(wi.unknown_ns, 0);
	explained_end(&x);
}
END_TEST

START_TEST(changes_are_read)
{
	static const char *const bad[] = {"",	  "x",	   "=0",   "x=",    "x=1",    "x=/0",	"x=/",
					  "x=-1", "x=*-1", "x=/x", "x=nan", "x=*inf", "x=*1e9", "x=0x"};
	struct what_if wi = {.count = 0};
	char text[64];

	for (size_t i = 0; i < COUNT(bad); i++) {
		snprintf(text, sizeof(text), "%s", bad[i]);
		ck_assert_msg(what_if_add(&wi, text) == -EINVAL, "%s", bad[i]);
	}
	for (size_t i = 0; i < WHAT_IF_MAX; i++) {
		snprintf(text, sizeof(text), "a=b=*1.5");
		ck_assert_int_eq(what_if_add(&wi, text), 0);
	}
	ck_assert_uint_eq(wi.changes[0].part, 1500);
	snprintf(text, sizeof(text), "x=0");
	ck_assert_int_eq(what_if_add(&wi, text), -E2BIG);
}
END_TEST

/* ---- hostile rows ---- */

/* One of three threads of one process, which wake each other. */
static struct trace_rec linked_row(void)
{
	struct trace_rec row = odd_row();

	row.jvm_event.process = 1;
	row.jvm_event.thread = 1 + (uint32_t)lrand48() % 3;
	row.jvm_event.number = BRAID_JVM_OFFCPU;
	return row;
}

/* A change that changes nothing predicts what was recorded, whatever the wakers are. */
static void predict(struct explained *x, const struct stretch *s)
{
	struct what_if same = changes_of("demo.Main.main=*1", "sleeping=*1");
	struct what_if none = changes_of("demo.Main.main=0", "io=/2");

	ck_assert_int_eq(what_if_replay(&same, x->tl, s), 0);
	ck_assert_uint_eq(same.predicted_ns, same.recorded_ns);
	ck_assert_int_eq(what_if_replay(&none, x->tl, s), 0);
}

START_TEST(without_a_change_nothing_changes)
{
	each_hostile(odd_row, predict);
	each_hostile(linked_row, predict);
}
END_TEST

START_TEST(many_rows)
{
	const size_t count = MANY(300000);
	struct trace_rec *recs = calloc(count, sizeof(*recs));
	struct explained x;

	for (uint32_t i = 0; i < 3; i++)
		recs[i] = (struct trace_rec)LIFE(1 + i, 0, 2000, 500);
	for (size_t i = 3; i < count; i++)
		recs[i] = (struct trace_rec)JVM(.time_ns = BASE_NS + i * 1000, .kind = BRAID_JVM_OFFCPU,
						.thread = 1 + i % 3, .node = 1 + i % 11, .duration_ns = 2500,
						CLASS(BLOCK), .other = 1 + (i + 1) % 3);
	x = explained_of(recs, count);
	ck_assert_uint_eq(predicted(&x, 1, 0, 2000, "io=*1", NULL), 2000);
	explained_end(&x);
	free(recs);
}
END_TEST

Suite *test_what_if(void)
{
	Suite *s = suite_create("what_if");
	TCase *tc = tcase_create("what_if");

	tcase_add_test(tc, locks_go_away);
	tcase_add_test(tc, timers_of_a_monitor);
	tcase_add_test(tc, methods_get_faster);
	tcase_add_test(tc, work_that_is_given_comes_earlier);
	tcase_add_test(tc, waits_that_are_not_needed);
	tcase_add_test(tc, locks_by_their_own_names);
	tcase_add_test(tc, changes_are_read);
	tcase_add_test(tc, without_a_change_nothing_changes);
	tcase_add_test(tc, many_rows);
	suite_add_tcase(s, tc);
	return s;
}
