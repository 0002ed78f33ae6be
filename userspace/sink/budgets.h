// SPDX-License-Identifier: Apache-2.0
/*
 * What one process may cost the recorder: every table that it can make grow, and what it can ask for each second. What
 * is beyond is refused, counted for the process, and announced once; docs/robustness.md has the table, and says what
 * bounds the tables that are not in it. All processes together are bounded by the pools of pools.h, from which each
 * budget takes what one unit of it costs.
 *
 * The figures leave room for 100,000 threads or virtual threads at a time, 20,000 classes at the start and a replay of
 * 100,000 methods. A ring that has spent its budget is not lost: it is read later, and its agent keeps definitions
 * meanwhile and counts the events that find no room.
 */
#ifndef BRAID_SINK_BUDGETS_H
#define BRAID_SINK_BUDGETS_H

#include "pools.h"
#include "sink.h"

#define MIB (1ULL << 20)
#define CODES_MAX (1U << 17) /* code_map.c has no more */

/*
 * Name, as its loss is called; how much at a time, or without a pause; how much a minute after that, 0: no more; what
 * one takes of a pool; what it is of. Bytes are what tables take that double when they are full.
 */
#define NO_POOL POOL_MEMORY, 0
#define BUDGETS(X)                                                                                                     \
	X(THREADS, "threads", 1 << 17, 0, POOL_MEMORY, 512, "threads at a time")                                       \
	X(JVM_BYTES, "jvm_bytes", 128 * MIB, 0, POOL_MEMORY, 1, "bytes of methods, lines and compiled code")           \
	X(CODES, "codes", CODES_MAX, 0, POOL_MEMORY, 32, "pieces of code at a time")                                   \
	X(METHODS, "methods", 1 << 19, 0, POOL_MEMORY, 96, "methods on stacks")                                        \
	X(NAMES, "names", 1 << 18, 60000, NO_POOL, "names of what its events are about")                               \
	X(VTHREADS, "vthreads", 1 << 19, 0, POOL_MEMORY, 48, "virtual threads")                                        \
	X(MAPPINGS, "mappings", 1 << 16, 0, POOL_MEMORY, 128, "mappings of code")                                      \
	X(SHOWN, "shown_mappings", 1 << 14, 0, POOL_MAPPINGS, 1, "mappings of code that its stacks are walked by")     \
	X(JVMS, "jvms", 4, 0, POOL_JVMS, 1, "rings and layouts of a JVM")                                              \
	X(LATE_FRAMES, "late_frames", 1 << 14, 0, NO_POOL, "native frames that are named at the end")                  \
	X(RING_BYTES, "ring_bytes", 64 * MIB, 240 * MIB, NO_POOL, "bytes of its agent's ring")                         \
	X(RING_TIME, "ring_time", 4000000000ULL, 15000000000ULL, NO_POOL, "ns of CPU time for what its agent reports") \
	X(WAKES, "wakes", 1000, 12000, NO_POOL, "wake-ups by its agent")                                               \
	X(MESSAGES, "messages", 256, 600, NO_POOL, "messages of its agent")                                            \
	X(CONNECTIONS, "connections", 32, 6, NO_POOL, "connections of its agent")                                      \
	X(RENAMES, "renames", 1 << 17, 60000, NO_POOL, "names of its threads")

enum budget {
#define X(id, name, ...) BUDGET_##id,
	BUDGETS(X)
#undef X
		BUDGET_COUNT,
};

/* Of one process, zeroed at first. */
struct account {
	struct share *share; /* of the pools; NULL: not bounded by them */
	uint64_t taken[POOLS];
	int64_t used[BUDGET_COUNT];	 /* at a time; of what comes back by the minute: debts */
	uint64_t since_ns[BUDGET_COUNT]; /* used[] as of then */
	uint64_t refused[BUDGET_COUNT];	 /* since the last account_report() */
	uint32_t process;		 /* trace's */
	uint32_t reported;		 /* bit n: budget n was announced */
};

/* Takes `n` of what is limited at a time, or nothing: false, and counted. */
bool account_reserve(struct account *a, struct sink *sink, enum budget b, uint64_t n);
void account_release(struct account *a, enum budget b, uint64_t n);

/* Of what is limited by the minute: is anything left? If not it is counted as `n`. */
bool account_has(struct account *a, struct sink *sink, enum budget b, uint64_t n);
/* Spends it, even if that is more than is left. */
void account_spend(struct account *a, enum budget b, uint64_t n);

/* The process is forgotten: the pools get back what it still has of them. */
void account_close(struct account *a);

/* The same process goes on as another program: what it has spent it has spent. */
void account_inherit(struct account *a, const struct account *from);

/* What was refused since the last time, as loss of the hop `budget`. */
void account_report(struct account *a, struct sink *sink);

#endif
