// SPDX-License-Identifier: Apache-2.0
/* Tests of the rules that say what is wrong in a recording, over recordings with one fault each. */
#include <sys/syscall.h>

#include <diagnose/diagnose.h>
#include <report/diagnose.h>
#include <report/report.h>

#include "unit/wall_fixture.h"

Suite *test_diagnose(void);

/* The recording takes 2.5 s from AT(-1) on. */
enum { LONG_MS = 2400, N_GC = 60, N_LOCKER, N_FULL, N_CONDITION, N_REENTRANT, N_LOG, N_FINALIZER };

enum { T_POOL_1 = 10, T_POOL_2, T_FINALIZER, T_CARRIER };

static const struct trace_scope run_worker_scope[] = {{30, 1}}, resolve_scope[] = {{31, 1}}, task_scope[] = {{32, 1}};

enum { IN_TASK = 50, IN_RESOLVER };

static const struct trace_rec faults[] = {
	NAME(N_GC, "System.gc()"),
	NAME(N_LOCKER, "GCLocker Initiated GC"),
	NAME(N_FULL, "Serial full"),
	NAME(N_CONDITION, "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject"),
	NAME(N_REENTRANT, "java.util.concurrent.locks.ReentrantLock$NonfairSync"),
	NAME(N_LOG, "/srv/app/server.log"),
	REC(TRACE_THREAD, thread, T_POOL_1, 1, 110, 110, TRACE_THREAD_JAVA, 0, S("pool-1-thread-1"), S("main")),
	REC(TRACE_THREAD, thread, T_POOL_2, 1, 111, 111, TRACE_THREAD_JAVA, 0, S("pool-1-thread-2"), S("main")),
	REC(TRACE_THREAD, thread, T_FINALIZER, 1, 112, 112, TRACE_THREAD_JAVA, 0, S("Finalizer"), S("system")),
	REC(TRACE_METHOD, method, 30, 1, 9, S("java.util.concurrent.ThreadPoolExecutor"), S("runWorker"), S("()V"),
	    S("")),
	REC(TRACE_METHOD, method, 31, 1, 9, S("java.net.InetAddress"), S("getAllByName0"), S("()V"), S("")),
	REC(TRACE_METHOD, method, 32, 1, 9, S("demo.Task"), S("run"), S("()V"), S("")),
	REC(TRACE_FRAME, frame, 50, BRAID_FRAME_INTERPRETED, 1, 0, 0xa00, 0, 0, 0, 1, run_worker_scope),
	REC(TRACE_FRAME, frame, 51, BRAID_FRAME_INTERPRETED, 1, 0, 0xa10, 0, 0, 0, 1, resolve_scope),
	REC(TRACE_FRAME, frame, 52, BRAID_FRAME_INTERPRETED, 1, 0, 0xa20, 0, 0, 0, 1, task_scope),
	REC(TRACE_NODE, node, 49, 3, 50),
	REC(TRACE_NODE, node, IN_TASK, 49, 52),
	REC(TRACE_NODE, node, IN_RESOLVER, 3, 51),
};

#define CONFIG(types) JVM(AT(0), .kind = BRAID_JVM_CONFIG, .value = types)
#define ALL CONFIG(BRAID_EVENT_TYPES_ALL)
#define CALL(number, c) .flags = SYS_##number | BRAID_OFFCPU_##c << BRAID_OFFCPU_CLASS_SHIFT
#define LOCK(t, from, ms, ...)                                                                                         \
	JVM(AT(from), .kind = BRAID_JVM_LOCK, .thread = t, .node = ON_INLINE, .duration_ns = (ms)*MS, .number = 9,     \
	    __VA_ARGS__)
#define PAUSE(at, ms, cause, ...)                                                                                      \
	JVM(AT(at), .kind = BRAID_JVM_GC_PAUSE, .duration_ns = (ms)*MS, .name = N_FULL, .detail = cause,               \
	    .number = 100 + (at), __VA_ARGS__)

struct diagnosed {
	struct run r;
	struct diagnosis *d;
};

static struct diagnosed diagnose_idle(const struct trace_rec *recs, size_t count, bool idle)
{
	struct diagnosed x = {.r = run_begin(NULL)};

	run_feed(&x.r, more, COUNT(more));
	run_feed(&x.r, vm, COUNT(vm));
	run_feed(&x.r, faults, COUNT(faults));
	run_feed(&x.r, recs, count);
	run_analyze(&x.r, NULL);
	ck_assert_int_eq(diagnosis_new(&x.d, x.r.v, idle), 0);
	return x;
}

static struct diagnosed diagnose(const struct trace_rec *recs, size_t count)
{
	return diagnose_idle(recs, count, true);
}

#define DIAGNOSE(...)                                                                                                  \
	diagnose((const struct trace_rec[]){__VA_ARGS__},                                                              \
		 sizeof((const struct trace_rec[]){__VA_ARGS__}) / sizeof(struct trace_rec))

static void end(struct diagnosed *x)
{
	diagnosis_free(x->d);
	run_free(&x->r);
}

static const struct finding *finding(const struct diagnosed *x, const char *id)
{
	for (size_t i = 0; i < x->d->findings.count; i++)
		if (strcmp(x->d->findings.at[i].rule->id, id) == 0)
			return &x->d->findings.at[i];
	return NULL;
}

static bool has_evidence(const struct finding *f, const char *text)
{
	for (size_t i = 0; i < f->evidence.count; i++)
		if (strstr(f->evidence.at[i], text))
			return true;
	return false;
}

/* The finding is there, with a sentence and a piece of evidence that contain these texts. */
static void must_find(struct diagnosed x, const char *id, const char *sentence, const char *evidence)
{
	const struct finding *f = finding(&x, id);

	ck_assert_msg(f != NULL, "no %s", id);
	ck_assert_msg(strstr(f->sentence, sentence) != NULL, "%s: %s", id, f->sentence);
	ck_assert_msg(has_evidence(f, evidence), "%s: no evidence '%s', but '%s'", id, evidence,
		      f->evidence.count ? f->evidence.at[0] : "");
	end(&x);
}

static void must_not_find(struct diagnosed x, const char *id)
{
	const struct finding *f = finding(&x, id);

	ck_assert_msg(!f, "%s: %s", id, f ? f->sentence : "");
	end(&x);
}

/* ---- the table ---- */

START_TEST(rules_are_complete)
{
	for (int id = RULE_NONE + 1; id < RULES; id++) {
		const struct rule *r = &diagnose_rules[id];

		ck_assert_msg(r->id && r->look_at && r->is_recorded, "rule %d", id);
		ck_assert_msg(strstr(r->look, "FILE") != NULL, "%s", r->id);
		ck_assert_msg(0 < r->threshold && r->threshold <= r->worst && 0 < r->weight && r->weight <= 100, "%s",
			      r->id);
		for (int k = 0; k < RULE_CAUSES && r->of[k]; k++)
			ck_assert_msg((int)r->of[k] < id, "%s is in the table before its cause", r->id);
		for (int k = RULE_NONE + 1; k < id; k++)
			ck_assert_str_ne(r->id, diagnose_rules[k].id);
	}
}
END_TEST

START_TEST(what_is_not_recorded_is_not_checked)
{
	struct diagnosed x = DIAGNOSE(CONFIG(BRAID_EVENT_TYPE(GC)));
	bool lock = false, gc = false;

	ck_assert_uint_eq(x.d->findings.count, 0);
	for (size_t i = 0; i < x.d->unchecked.count; i++) {
		lock = lock || strcmp(x.d->unchecked.at[i]->id, "lock-convoy") == 0;
		gc = gc || strcmp(x.d->unchecked.at[i]->id, "gc-pressure") == 0;
	}
	ck_assert(lock && !gc);
	ck_assert_uint_eq(x.d->checked + x.d->unchecked.count, RULES - 1);
	end(&x);
}
END_TEST

/* ---- locks ---- */

START_TEST(locks)
{
	must_find(DIAGNOSE(ALL, LOCK(2, 10, 1500, .name = C_LOCK, .other = 1, .other_node = ON_SCRIPT),
			   LOCK(1, 20, 1400, .name = C_LOCK)),
		  "lock-convoy", "demo.Lock: 1.2 at any time", "main had it then, and released it in <script>");
	/* other monitors, or too little of one */
	must_not_find(DIAGNOSE(ALL, LOCK(2, 10, 1500, .name = C_LOCK), LOCK(1, 20, 900, .name = C_LOCK)),
		      "lock-convoy");
	must_find(DIAGNOSE(ALL, LOCK(2, 10, 2000, .name = N_REENTRANT, .flags = BRAID_LOCK_PARKED),
			   LOCK(1, 20, 2000, .name = N_REENTRANT, .flags = BRAID_LOCK_PARKED)),
		  "lock-convoy", "ReentrantLock", "2 waits");
	/* who waits for work or a result is in no line */
	must_not_find(DIAGNOSE(ALL, LOCK(2, 10, 2000, .name = N_CONDITION, .flags = BRAID_LOCK_PARKED),
			       LOCK(1, 20, 2000, .name = N_CONDITION, .flags = BRAID_LOCK_PARKED)),
		      "lock-convoy");
}
END_TEST

#define STUCK(t, last, ...)                                                                                            \
	LIFE(t, 0, LONG_MS, 0), OFF(t, 10, 1000, MONITOR, CLASS(FUTEX)),                                               \
		OFF(t, 1001, LONG_MS, MONITOR,                                                                         \
		    .flags = BRAID_OFFCPU_FUTEX << BRAID_OFFCPU_CLASS_SHIFT | BRAID_OFFCPU_OPEN, __VA_ARGS__)

START_TEST(deadlocks)
{
	must_find(DIAGNOSE(ALL, STUCK(1, 0), STUCK(2, 0)), "deadlock", "2 threads of pid 100", "main (101) has waited");
	/* the stack of a thread that looks just then is not read */
	must_find(DIAGNOSE(ALL, STUCK(1, 0), LIFE(2, 0, LONG_MS, 0), OFF(2, 10, LONG_MS - 10, MONITOR, CLASS(FUTEX)),
			   OFF(2, LONG_MS - 9, LONG_MS, 0,
			       .flags = BRAID_OFFCPU_FUTEX << BRAID_OFFCPU_CLASS_SHIFT | BRAID_OFFCPU_OPEN)),
		  "deadlock", "2 threads of pid 100", "main (101) has waited");
	/* one alone waits for somebody slow, and one that was woken has had it */
	must_not_find(DIAGNOSE(ALL, STUCK(1, 0)), "deadlock");
	must_not_find(DIAGNOSE(ALL, STUCK(1, 0), LIFE(2, 0, LONG_MS, 0),
			       OFF(2, 10, LONG_MS - 10, MONITOR, CLASS(FUTEX), .other = 1),
			       OFF(2, LONG_MS - 9, LONG_MS, MONITOR, CLASS(FUTEX) | BRAID_OFFCPU_OPEN)),
		      "deadlock");
	/* whose owner is known at the end has not had it */
	must_find(DIAGNOSE(ALL, STUCK(1, 0, .other = 2), STUCK(2, 0, .other = 1)), "deadlock", "2 threads of pid 100",
		  "main (101) has waited");
}
END_TEST

#define WORKER(t)                                                                                                      \
	LIFE(t, 0, LONG_MS, 50), OFF(t, 50, LONG_MS, IN_TASK, .flags = BRAID_OFFCPU_SOCKET << BRAID_OFFCPU_CLASS_SHIFT)

#define T_POOL_3 90
#define THREAD_OF_POOL                                                                                                 \
	REC(TRACE_THREAD, thread, T_POOL_3, 1, 190, 190, TRACE_THREAD_JAVA, 0, S("pool-1-thread-3"), S("main"))

START_TEST(pools)
{
	must_find(DIAGNOSE(ALL, WORKER(T_POOL_1), WORKER(T_POOL_2)), "pool-starved", "all 2 wait", "in demo.Task.run");
	must_not_find(DIAGNOSE(ALL, WORKER(T_POOL_1)), "pool-starved");
	/* a worker that was never in a task is one of the pool, too */
	must_not_find(DIAGNOSE(ALL, WORKER(T_POOL_1), WORKER(T_POOL_2), THREAD_OF_POOL, LIFE(T_POOL_3, 0, LONG_MS, 50),
			       OFF(T_POOL_3, 50, LONG_MS, IN_POOL, CLASS(FUTEX))),
		      "pool-starved");
	/* a worker without a task */
	must_not_find(DIAGNOSE(ALL, WORKER(T_POOL_1), LIFE(T_POOL_2, 0, LONG_MS, 50),
			       OFF(T_POOL_2, 50, LONG_MS, IN_POOL, CLASS(FUTEX))),
		      "pool-starved");
}
END_TEST

START_TEST(one_thread_for_all)
{
#define FOR(t) LIFE(t, 0, LONG_MS, 50), OFF(t, 50, LONG_MS, PARKED, CLASS(FUTEX), .other = 1)
	must_find(DIAGNOSE(ALL, LIFE(1, 0, LONG_MS, LONG_MS), FOR(2), FOR(T_POOL_1)), "one-thread", "main",
		  "ran, or waited for a CPU, for 100 %");
	/* a thread that waits itself is not to blame */
	must_not_find(DIAGNOSE(ALL, LIFE(1, 0, LONG_MS, 100), OFF(1, 100, LONG_MS, SLEEPING, CLASS(SLEEP)), FOR(2),
			       FOR(T_POOL_1)),
		      "one-thread");
}
END_TEST

START_TEST(pinned_carriers)
{
	must_find(DIAGNOSE(ALL, LIFE(1, 0, LONG_MS, 50),
			   OFF(1, 50, LONG_MS, SLEEPING, .flags = BRAID_OFFCPU_FUTEX << BRAID_OFFCPU_CLASS_SHIFT,
			       .vthread = 7)),
		  "pinned", "1 carrier waited", "in demo.Util.inline");
	must_not_find(DIAGNOSE(ALL, LIFE(1, 0, LONG_MS, 50), OFF(1, 50, LONG_MS, SLEEPING, CLASS(FUTEX))), "pinned");
}
END_TEST

/* What a carrier is pinned is then a share of the time in which it is not idle; what it is pinned stays the same. */
START_TEST(idle_time_is_left_out_of_shares)
{
	const struct trace_rec recs[] = {
		ALL, LIFE(1, 0, LONG_MS, 600),
		OFF(1, 600, 1200, SLEEPING, .flags = BRAID_OFFCPU_FUTEX << BRAID_OFFCPU_CLASS_SHIFT, .vthread = 7),
		OFF(1, 1200, LONG_MS, IN_POOL, CLASS(FUTEX))};

	must_find(diagnose_idle(recs, COUNT(recs), true), "pinned", "for 25 % of the time", "in demo.Util.inline");
	must_find(diagnose_idle(recs, COUNT(recs), false), "pinned", "for 50 % of the time", "in demo.Util.inline");
}
END_TEST

/* ---- collections ---- */

START_TEST(collections)
{
	struct diagnosed x;

	must_find(DIAGNOSE(ALL, PAUSE(100, 100, N_GC), PAUSE(300, 100, N_GC)), "explicit-gc", "System.gc(): 8 %",
		  "3 such pauses");
	must_not_find(DIAGNOSE(ALL, PAUSE(100, 100, N_GC), PAUSE(300, 100, N_GC)), "gc-pressure");
	must_find(DIAGNOSE(ALL, PAUSE(100, 300, N_OP), PAUSE(900, 100, N_OP)), "long-gc-pauses", "12 %",
		  "1 such pause,");
	must_find(DIAGNOSE(ALL, PAUSE(100, 150, N_OP), PAUSE(400, 150, N_OP)), "gc-pressure", "12 %",
		  "3 such pauses, 300.00 ms in all");
	must_not_find(DIAGNOSE(ALL, PAUSE(100, 150, N_OP), PAUSE(400, 150, N_OP)), "long-gc-pauses");
	must_find(DIAGNOSE(ALL, PAUSE(100, 1, N_LOCKER), PAUSE(200, 1, N_LOCKER), PAUSE(300, 1, N_LOCKER)),
		  "gc-held-up", "60 % of them", "3 such pauses");
	/* what is asked for is the cause of what follows */
	x = DIAGNOSE(ALL, PAUSE(100, 20, N_GC), PAUSE(300, 20, N_GC), PAUSE(500, 180, N_OP), PAUSE(700, 180, N_OP),
		     PAUSE(900, 180, N_OP), PAUSE(1200, 180, N_OP));
	ck_assert_ptr_nonnull(finding(&x, "gc-pressure"));
	ck_assert_ptr_nonnull(finding(&x, "explicit-gc"));
	ck_assert_str_eq(finding(&x, "gc-pressure")->cause->id, "explicit-gc");
	ck_assert_uint_lt(finding(&x, "gc-pressure")->severity, finding(&x, "explicit-gc")->severity);
	end(&x);
}
END_TEST

#define LEFT(at, mib) PAUSE(at, 1, N_OP, .value = 100ULL << 20, .weight = (uint64_t)(mib) << 20)

/* An object that is there at the end, and five of them, one in each millisecond. */
#define KEPT(at, n)                                                                                                    \
	JVM(AT(at), .kind = BRAID_JVM_ALLOC, .thread = 1, .node = ON_INLINE, .name = C_LOCK, .value = 16,              \
	    .weight = 1 << 20, .number = (n)),                                                                         \
		JVM(AT(LONG_MS), .kind = BRAID_JVM_LIVE, .number = (n), .flags = 4)
#define KEPT_5(at, n) KEPT(at, n), KEPT(at + 1, n + 1), KEPT(at + 2, n + 2), KEPT(at + 3, n + 3), KEPT(at + 4, n + 4)

START_TEST(leaks)
{
	must_find(DIAGNOSE(ALL, LEFT(100, 20), LEFT(500, 30), LEFT(900, 41), LEFT(1300, 60)), "heap-leak",
		  "grew by 40 %", "4 collections left 20.00 MiB");
	must_find(DIAGNOSE(ALL, LEFT(100, 20), LEFT(500, 30), LEFT(900, 41), LEFT(1300, 60), KEPT_5(100, 20),
			   KEPT_5(400, 30), KEPT_5(700, 40), KEPT_5(1000, 50)),
		  "heap-leak", "grew by 40 %",
		  "20.00 MiB of demo.Lock are still there that were allocated in demo.Util.inline");
	must_not_find(DIAGNOSE(ALL, LEFT(100, 20), LEFT(500, 30), LEFT(900, 30), LEFT(1300, 60)), "heap-leak");
	must_not_find(DIAGNOSE(ALL, LEFT(100, 20), LEFT(500, 30), LEFT(900, 60)), "heap-leak");
}
END_TEST

START_TEST(finalizers)
{
	must_find(DIAGNOSE(ALL, LIFE(T_FINALIZER, 0, LONG_MS, 100),
			   OFF(T_FINALIZER, 100, LONG_MS, SLEEPING, CLASS(SLEEP))),
		  "finalizers", "the thread Finalizer", "busy for 100 %");
	must_not_find(DIAGNOSE(ALL, LIFE(1, 0, LONG_MS, 100), OFF(1, 100, LONG_MS, SLEEPING, CLASS(SLEEP))),
		      "finalizers");
}
END_TEST

/* ---- the VM ---- */

#define DEOPT(at) JVM(AT(at), .kind = BRAID_JVM_DEOPT, .thread = 1, .node = ON_INLINE, .name = M_WORK, .detail = R_NULL)

START_TEST(steady_events)
{
	struct trace_rec recs[401] = {ALL};
	const struct trace_rec deopt = DEOPT(0);

	for (uint64_t i = 1; i <= 400; i++) {
		recs[i] = deopt;
		recs[i].jvm_event.time_ns = BASE_NS + i * 31 * MS / 5;
	}
	must_find(diagnose(recs, 401), "deopt-storm", "at least 1", "100 % of them in demo.Main.work");
	/* the same number, at the start */
	for (uint64_t i = 1; i <= 400; i++)
		recs[i].jvm_event.time_ns = BASE_NS + i * MS;
	must_not_find(diagnose(recs, 401), "deopt-storm");
}
END_TEST

START_TEST(the_vm)
{
#define THROWN(n) JVM(AT(95), .kind = BRAID_JVM_EXCEPTION, .thread = 1, .node = ON_INLINE, .name = C_HTML, .value = n)
#define HEAP(used) JVM(AT(66), .kind = BRAID_JVM_CODE_CACHE, .name = H_CODE, .value = used, .weight = 1000)
#define SAFEPOINT(ms)                                                                                                  \
	JVM(AT(96), .kind = BRAID_JVM_SAFEPOINT, .name = N_OP, .value = (ms)*MS, .duration_ns = (ms)*MS, .number = 1)
	must_find(DIAGNOSE(ALL, THROWN(1000),
			   JVM(AT(200), .kind = BRAID_JVM_COUNTED, .value = 4000, .number = BRAID_JVM_EXCEPTION)),
		  "exceptions", "2000 are thrown", "are thrown in demo.Util.inline");
	/* where they are thrown does not depend on how many are recorded with a stack */
	must_find(DIAGNOSE(ALL, THROWN(10), JVM(AT(96), .kind = BRAID_JVM_EXCEPTION, .name = C_HTML, .value = 4990)),
		  "exceptions", "2000 are thrown", "100 % of those with a stack are thrown in demo.Util.inline");
	must_not_find(DIAGNOSE(ALL, THROWN(1000)), "exceptions");
	must_find(DIAGNOSE(ALL, HEAP(990)), "code-cache-full", "full", "non-nmethods had 990 B");
	must_not_find(DIAGNOSE(ALL, HEAP(900)), "code-cache-full");
	must_find(DIAGNOSE(ALL, SAFEPOINT(500)), "slow-safepoints", "20 % of the time", "the slowest 500.00 ms");
	must_not_find(DIAGNOSE(ALL, SAFEPOINT(100)), "slow-safepoints");
	must_find(DIAGNOSE(ALL, JVM(AT(5), .kind = BRAID_JVM_RESOURCE, .name = C_HTML)), "exhausted", "1 time", "1 ×");
}
END_TEST

/* ---- waits ---- */

#define WAIT(on, ...) DIAGNOSE(ALL, LIFE(1, 0, LONG_MS, 1400), OFF(1, 100, 1100, on, __VA_ARGS__))

START_TEST(waits)
{
	must_find(WAIT(ON_INLINE, CALL(fsync, BLOCK)), "sync-writes", "42 % of their time",
		  "1.00 s in demo.Util.inline");
	/* added up by the recorder */
	must_find(
		DIAGNOSE(ALL, LIFE(1, 0, LONG_MS, 1400), COUNTED(1, 1000 * MS, CALL(fsync, BLOCK), .node = ON_INLINE)),
		"sync-writes", "42 % of their time", "1.00 s in demo.Util.inline");
	must_find(WAIT(ON_INLINE, CALL(write, BLOCK), .name = N_LOG), "sync-logging", "their log", "server.log");
	must_not_find(WAIT(ON_INLINE, CALL(write, BLOCK), .name = N_LOG), "sync-writes");
	must_find(WAIT(ON_INLINE, CALL(pread64, BLOCK)), "slow-disk", "to read", "1 recorded wait 1.00 s");
	must_find(WAIT(IN_RESOLVER, CALL(poll, POLL)), "slow-dns", "hosts", "in demo.Util.inline");
	must_find(WAIT(ON_INLINE, CLASS(FAULT)), "page-faults", "pages", "in demo.Util.inline");
	must_not_find(WAIT(ON_INLINE, CALL(poll, POLL)), "slow-dns");
	/* what was too short for a record is most likely for the same */
	must_find(DIAGNOSE(ALL, LIFE(1, 0, LONG_MS, 1000), OFF(1, 100, 110, ON_INLINE, CALL(fsync, BLOCK)),
			   COUNTED(1, 1200 * MS, CLASS(BLOCK))),
		  "sync-writes", "50 % of their time", "1.21 s");
}
END_TEST

START_TEST(loops)
{
	struct trace_rec recs[1003] = {ALL, LIFE(1, 0, LONG_MS, LONG_MS)};
	const struct trace_rec nap = OFF(1, 0, 1, PARKED, CLASS(FUTEX), .text = S("timer"));

	for (uint64_t i = 0; i < 1001; i++) {
		recs[2 + i] = nap;
		recs[2 + i].jvm_event.flags |= BRAID_OFFCPU_IRQ;
		recs[2 + i].jvm_event.time_ns = BASE_NS + i * 2 * MS;
	}
	must_find(diagnose(recs, 1003), "polling", "demo.Util.inline", "1001 sleeps");
	must_not_find(diagnose(recs, 403), "polling");
}
END_TEST

/* ---- live objects ---- */

/* Each is one more event than the table has rows: test-asan finds a look behind its end. */
START_TEST(live_objects)
{
	static struct trace_rec recs[2001];
	struct diagnosed x;

	recs[0] = (struct trace_rec)ALL;
	for (int i = 1; i <= 2000; i++)
		recs[i] = (struct trace_rec)JVM(AT(190), .kind = BRAID_JVM_LIVE, .number = i, .name = N_GC, .value = 8,
						.weight = 10);
	x = diagnose(recs, COUNT(recs));
	ck_assert_uint_ge(events_count(x.r.an), x.r.an->a->events.count + 2000);
	ck_assert_uint_eq(x.d->findings.count, 0);
	end(&x);
}
END_TEST

/* ---- the machine ---- */

#define STAT(p, k, v) REC(TRACE_STAT, stat, BASE_NS + 190 * MS, p, S(k), v)

START_TEST(the_machine)
{
	must_find(DIAGNOSE(STAT(0, "host_cpu_ns", 1000), STAT(0, "host_steal_ns", 300)), "steal", "30 %",
		  "of CPU time");
	must_not_find(DIAGNOSE(STAT(0, "host_cpu_ns", 1000), STAT(0, "host_steal_ns", 50)), "steal");
	must_find(DIAGNOSE(STAT(0, "host_cpu_ns", 1), STAT(0, "host_swapped_in", 4000),
			   STAT(0, "host_swapped_out", 1000)),
		  "swapping", "2000 pages a second", "4000 pages came in");
	/* the kernel adds the time up over all CPUs */
	must_find(DIAGNOSE(STAT(1, "cgroup_periods", 25), STAT(1, "cgroup_throttled", 20),
			   STAT(1, "cgroup_throttled_ns", 5000 * MS)),
		  "throttled", "80 % of the periods", "in 20 of 25 periods, for 5.0 s, added up over CPUs");
	must_find(DIAGNOSE(ALL, LIFE(1, 0, LONG_MS, 200, .weight = 2200 * MS),
			   OFF(1, 200, LONG_MS, ON_INLINE, CLASS(RUNNABLE), .value = 2200 * MS)),
		  "cpu-starved", "92 % of that time", "main waited for 92 %");
}
END_TEST

/* ---- output ---- */

START_TEST(output)
{
	struct diagnosed x = DIAGNOSE(ALL, PAUSE(100, 100, N_GC), PAUSE(300, 100, N_GC));
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	diagnosis_text(out, x.d, "it's.trace");
	fputs("--\n", out);
	diagnosis_json(out, x.d, "a.trace");
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, "1 finding of "));
	ck_assert_ptr_nonnull(strstr(text, " 1. medium explicit-gc\n    The program calls System.gc()"));
	ck_assert_ptr_nonnull(strstr(text, "--include Runtime.gc 'it'\\''s.trace'\n"));
	ck_assert_ptr_nonnull(strstr(text, "needs a newer braid record: steal swapping\n"));
	ck_assert_ptr_nonnull(strstr(text, "\"rule\":\"explicit-gc\",\"level\":\"medium\""));
	ck_assert_ptr_nonnull(strstr(text, "\"because_of\":null"));
	ck_assert_ptr_nonnull(strstr(text, "Runtime.gc a.trace\""));
	free(text);
	end(&x);
}
END_TEST

static char *short_report(const struct diagnosed *x, unsigned top)
{
	const struct report_source source = {.path = "a.trace", .diagnosis = x->d};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	ck_assert_int_eq(report_short(out, x->r.v, &source, top), 0);
	fclose(out);
	return text;
}

static size_t lines_of(const char *text)
{
	size_t lines = 0;

	for (; (text = strchr(text, '\n')); text++)
		lines++;
	return lines;
}

/* What findings are about comes first, nothing is longer than a screen, and what was not recorded is not there. */
START_TEST(report_for_people)
{
	struct trace_rec recs[64] = {ALL, LOCK(2, 10, 1500, .name = C_LOCK, .other = 1, .other_node = ON_SCRIPT),
				     LOCK(1, 20, 1400, .name = C_LOCK)};
	struct diagnosed x;
	char *text, *monitors, *methods;

	/* more classes, sites and threads than a screen has lines */
	for (uint32_t i = 3; i < COUNT(recs); i++)
		recs[i] = (struct trace_rec)JVM(AT(i), .kind = BRAID_JVM_LOCK, .thread = i % 2 ? 1 : T_POOL_1 + i % 3,
						.node = 3 + i % 8, .duration_ns = 1000, .number = 100 + i,
						.name = C_BYTES + i % 12);
	x = diagnose(recs, COUNT(recs));
	text = short_report(&x, REPORT_TOP);
	monitors = strstr(text, "\nContended monitors\n");
	methods = strstr(text, "\nHot methods\n");
	ck_assert(monitors && methods && monitors < methods);
	ck_assert_ptr_nonnull(strstr(text, "\n  waited     2.90 s for locks, mostly demo.Lock\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n  suspicious lock-convoy Threads stand in line for one lock"));
	ck_assert_ptr_nonnull(strstr(text, "\n             braid export --event lock --top 10 a.trace"));
	ck_assert_ptr_nonnull(strstr(text, "1 warning of the recording; --full prints it\n"));
	ck_assert_uint_lt((size_t)(monitors - text), 2000);
	ck_assert_ptr_null(strstr(text, "\nExceptions\n"));
	ck_assert_ptr_null(strstr(text, "\nRecording\n"));
	ck_assert_msg(strstr(text, "more lines: --full\n") != NULL, "%s", text);
	ck_assert_uint_lt(lines_of(text), 100);
	free(text);
	text = short_report(&x, 100);
	ck_assert_ptr_null(strstr(text, "more lines: --full\n"));
	free(text);
	end(&x);
}
END_TEST

/* What no recorder would write does no harm. */
START_TEST(odd_recordings)
{
	srand48(_i);
	for (int round = 0; round < 50; round++) {
		struct trace_rec recs[200] = {ALL};
		struct diagnosed x;

		for (size_t i = 1; i < COUNT(recs); i++)
			recs[i] = odd_row();
		x = diagnose(recs, COUNT(recs));
		for (size_t i = 0; i < x.d->findings.count; i++)
			ck_assert_msg(x.d->findings.at[i].sentence && x.d->findings.at[i].severity <= 100, "%s",
				      x.d->findings.at[i].rule->id);
		end(&x);
	}
}
END_TEST

Suite *test_diagnose(void)
{
	Suite *s = suite_create("diagnose");
	TCase *rules = tcase_create("rules");

	tcase_add_test(rules, rules_are_complete);
	tcase_add_test(rules, what_is_not_recorded_is_not_checked);
	tcase_add_test(rules, locks);
	tcase_add_test(rules, deadlocks);
	tcase_add_test(rules, pools);
	tcase_add_test(rules, one_thread_for_all);
	tcase_add_test(rules, pinned_carriers);
	tcase_add_test(rules, idle_time_is_left_out_of_shares);
	tcase_add_test(rules, collections);
	tcase_add_test(rules, leaks);
	tcase_add_test(rules, finalizers);
	tcase_add_test(rules, steady_events);
	tcase_add_test(rules, the_vm);
	tcase_add_test(rules, waits);
	tcase_add_test(rules, loops);
	tcase_add_test(rules, live_objects);
	tcase_add_test(rules, the_machine);
	tcase_add_test(rules, output);
	tcase_add_test(rules, report_for_people);
	tcase_add_loop_test(rules, odd_recordings, 0, 4);
	suite_add_tcase(s, rules);
	return s;
}
