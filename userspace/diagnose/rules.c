// SPDX-License-Identifier: Apache-2.0
/*
 * The table of all rules, causes first. From the threshold on, a person should look; at `worst`, it is as bad as it
 * gets. A weight below 100 is for what good programs do on purpose, or for what mostly is a consequence.
 */
#include "check.h"

#define TIMES "braid report --wall --no-idle FILE"
#define STACKS(event) "braid export --event " event " --top 10 FILE"
#define REPORT "braid report --full FILE"
#define SAMPLES "braid export --top 10 FILE"

#define RULE(number, name, check, has, with, from, to, most, measure, why, command, ...)                               \
	[RULE_##number] = {.id = name,                                                                                 \
			   .what = measure,                                                                            \
			   .because = why,                                                                             \
			   .look = command,                                                                            \
			   .needs = with,                                                                              \
			   .is_recorded = has,                                                                         \
			   .look_at = rule_##check,                                                                    \
			   .threshold = from,                                                                          \
			   .worst = to,                                                                                \
			   .weight = most,                                                                             \
			   .of = {__VA_ARGS__}}

const struct rule diagnose_rules[RULES] = {
	RULE(DEADLOCK, "deadlock", deadlock, has_deadlock, "-e offcpu or -e dump", 1, 1, 100,
	     "threads, or deadlocks of dumps", "such threads never go on", "braid script --event offcpu FILE",
	     RULE_NONE),
	RULE(EXHAUSTED, "exhausted", exhausted, has_resource, "-e resource", 1, 1, 99, "refused requests",
	     "the JVM throws OutOfMemoryError", REPORT, RULE_NONE),
	RULE(THROTTLED, "throttled", throttled, has_throttling, "a process in a cgroup with a CPU quota", 2, 20, 100,
	     "% of the periods", "a request that meets it waits for up to a whole period", TIMES, RULE_NONE),
	RULE(STEAL, "steal", steal, has_host, "", 10, 40, 95, "% of CPU time", "less is normal on shared machines",
	     "braid info FILE", RULE_NONE),
	RULE(SWAP, "swapping", swap, has_host, "", 100, 1000, 95, "pages a second",
	     "a thread waits for a disk for each page that comes in", TIMES, RULE_NONE),
	RULE(CODE_CACHE, "code-cache-full", code_cache, has_jit, "-e jit", 92, 97, 98, "% of a code heap",
	     "HotSpot stops compiling when no room is left", REPORT, RULE_NONE),
	RULE(GC_EXPLICIT, "explicit-gc", gc_explicit, has_gc, "-e gc", 1, 15, 98, "% of the time",
	     "the collector knows better when to collect", "braid export --event offcpu --include Runtime.gc FILE",
	     RULE_NONE),
	RULE(GC_LOCKER, "gc-held-up", gc_locker, has_gc, "-e gc", 20, 50, 97, "% of collections",
	     "less is what chance brings together", REPORT, RULE_NONE),
	RULE(LEAK, "heap-leak", leak, has_gc, "-e gc", 10, 30, 96, "% of the heap",
	     "a heap that grows by less can still level off", REPORT, RULE_NONE),
	RULE(REFERENCES, "finalizers", references, has_offcpu, "-e offcpu", 50, 90, 95, "% of the thread's time",
	     "a thread that has a rest keeps up", "braid export --include Finalizer --top 10 FILE", RULE_NONE),
	RULE(GC_LONG, "long-gc-pauses", gc_long, has_gc, "-e gc", 5, 20, 95, "% of the time",
	     "200 ms is what G1 itself tries to stay below", REPORT, RULE_SWAP, RULE_LEAK, RULE_GC_EXPLICIT,
	     RULE_EXHAUSTED),
	RULE(GC_PRESSURE, "gc-pressure", gc_pressure, has_gc, "-e gc", 10, 30, 95, "% of the time",
	     "collectors size the heap to stay well below", STACKS("alloc"), RULE_LEAK, RULE_GC_LONG, RULE_EXHAUSTED,
	     RULE_GC_EXPLICIT, RULE_REFERENCES),
	RULE(EXCEPTIONS, "exceptions", exceptions, has_exception, "-e exception", 1000, 5000, 95, "a second",
	     "each fills in a stack trace, which takes microseconds", STACKS("exception"), RULE_NONE),
	RULE(DEOPT, "deopt-storm", deopt, has_jit, "-e jit", 150, 500, 95, "a second, in the quietest quarter",
	     "a program that is warm has hardly any", STACKS("deopt"), RULE_CODE_CACHE, RULE_EXCEPTIONS),
	RULE(INTERPRETED, "interpreted", interpreted, has_samples, "-e cpu", 70, 95, 97, "% of samples in Java code",
	     "only the first seconds of a JVM are so", REPORT, RULE_CODE_CACHE, RULE_DEOPT),
	RULE(CLASSES, "class-loading", classes, has_class, "-e class", 20, 200, 95, "a second, in the quietest quarter",
	     "a program that is warm has its classes", STACKS("class_load"), RULE_NONE),
	RULE(THREADS, "thread-starts", threads, has_thread, "-e thread", 10, 100, 95,
	     "a second, in the quietest quarter", "pools keep their threads", "braid script --event thread_start FILE",
	     RULE_NONE),
	RULE(SAFEPOINT, "slow-safepoints", safepoint, has_safepoint, "-e safepoint", 5, 20, 90, "% of the time",
	     "a thread reaches its safepoint in microseconds", STACKS("safepoint_stop"), RULE_SWAP, RULE_THROTTLED,
	     RULE_STEAL),
	RULE(LOG, "sync-logging", log, has_offcpu, "-e offcpu", 15, 50, 95, "% of the time of threads that do so",
	     "each request that logs waits for it", TIMES, RULE_NONE),
	RULE(SYNC, "sync-writes", sync, has_offcpu, "-e offcpu", 15, 50, 94, "% of the time of threads that do so",
	     "a disk takes milliseconds for an fsync", TIMES, RULE_NONE),
	RULE(DISK, "slow-disk", disk, has_offcpu, "-e offcpu", 20, 60, 93, "% of the time of threads that do so",
	     "what is read often should be in memory", TIMES, RULE_SWAP),
	RULE(DNS, "slow-dns", dns, has_offcpu, "-e offcpu", 15, 50, 95, "% of the time of threads that do so",
	     "a cache makes most lookups needless", TIMES, RULE_NONE),
	RULE(FAULTS, "page-faults", faults, has_offcpu, "-e offcpu", 20, 60, 92, "% of the time of threads that do so",
	     "memory that is in use should be there", TIMES, RULE_SWAP),
	RULE(PINNED, "pinned", pinned, has_offcpu, "-e offcpu", 20, 70, 96, "% of the carriers' time",
	     "a virtual thread that waits leaves its carrier", TIMES, RULE_NONE),
	RULE(LOCK, "lock-convoy", lock, has_lock, "-e lock", 1, 3, 90, "threads at any time",
	     "there is always one in line", STACKS("lock"), RULE_DEADLOCK),
	RULE(POOL, "pool-starved", pool, has_offcpu, "-e offcpu", 80, 95, 85, "% of its threads' time",
	     "all workers wait most of the time", TIMES, RULE_DEADLOCK, RULE_LOCK, RULE_LOG, RULE_SYNC, RULE_DISK,
	     RULE_DNS, RULE_PINNED),
	RULE(ONE_THREAD, "one-thread", one_thread, has_offcpu, "-e offcpu", 1.5, 4, 88, "threads at any time",
	     "more than one waits for it", TIMES, RULE_LOCK, RULE_DEADLOCK),
	RULE(POLLING, "polling", polling, has_offcpu, "-e offcpu", 200, 500, 85, "sleeps a second at one place",
	     "a loop with a sleep of 5 ms or less", TIMES, RULE_NONE),
	RULE(SPIN, "spinning", spin, has_samples, "-e cpu", 20, 60, 90, "% of samples",
	     "who gives the CPU away has nothing to do on it", SAMPLES, RULE_NONE),
	RULE(HOT, "hot-method", hot, has_samples, "-e cpu", 60, 90, 60, "% of samples",
	     "most programs have no method with a third", SAMPLES, RULE_INTERPRETED, RULE_EXCEPTIONS, RULE_DEOPT,
	     RULE_SAFEPOINT),
	RULE(STARVED, "cpu-starved", starved, has_offcpu, "-e offcpu", 40, 80, 55,
	     "% of the time in which threads could run", "it doubles what a request takes", TIMES, RULE_THROTTLED,
	     RULE_STEAL),
	RULE(SWITCHES, "context-switches", switches, has_offcpu, "-e offcpu", 20000, 60000, 58, "a second of CPU time",
	     "each takes microseconds, and leaves caches cold", TIMES, RULE_LOCK, RULE_POLLING, RULE_SPIN,
	     RULE_DEADLOCK),
};
