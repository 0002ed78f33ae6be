// SPDX-License-Identifier: Apache-2.0
/*
 * Budgets limit what one process can make the recorder use: every table that it can grow, and every rate at which it
 * can cause work. A refusal is counted for the process, and the first one of each budget is announced. Everything that
 * works for a process calls this; docs/robustness.md has the table of budgets, and the bounds of the tables that have
 * none here. The pools of pools.h bound all processes together: each budget takes from a pool what one of its units
 * costs.
 *
 *
 * The figures leave room for 100,000 threads or virtual threads at a time, 20,000 classes at the start and a replay of
 * 100,000 methods. When a ring's budget is spent, the ring is read later. Its agent keeps definitions meanwhile, and
 * counts the events that find no room.
 */
#ifndef BRAID_SINK_BUDGETS_H
#define BRAID_SINK_BUDGETS_H

#include "pools.h"
#include "sink.h"

#define MIB (1ULL << 20)
#define CODES_MAX (1U << 17) /* the limit of code_map.c */

/*
 * A row: the name that its loss has; the limit at a time, or without a pause; what returns a minute, 0: nothing; the
 * pool, and the units of it that one takes; a description. Bytes are those of tables that double when they are full.
 */
#define NO_POOL POOL_MEMORY, 0
#define BUDGETS(X)                                                                                                     \
	X(THREADS, "threads", 1 << 17, 0, POOL_MEMORY, 512, "threads at a time")                                       \
	X(JVM_BYTES, "jvm_bytes", 128 * MIB, 0, POOL_MEMORY, 1, "bytes of methods, lines and compiled code")           \
	X(CODES, "codes", CODES_MAX, 0, POOL_MEMORY, 32, "pieces of code at a time")                                   \
	X(METHODS, "methods", 1 << 19, 0, POOL_MEMORY, 96, "methods on stacks")                                        \
	X(NAMES, "names", 1 << 18, 60000, NO_POOL, "names in its events")                                              \
	X(SPANS, "spans", 1 << 18, 60000, NO_POOL, "spans")                                                            \
	X(LATE_ATTRIBUTES, "late_attributes", 1 << 14, 0, POOL_MEMORY, 16,                                             \
	  "attributes of spans whose keys are not known")                                                              \
	X(VTHREADS, "vthreads", 1 << 19, 0, POOL_MEMORY, 48, "virtual threads")                                        \
	X(MAPPINGS, "mappings", 1 << 16, 0, POOL_MEMORY, 128, "mappings of code")                                      \
	X(SHOWN, "shown_mappings", 1 << 14, 0, POOL_MAPPINGS, 1, "mappings of code for stack walks")                   \
	X(JVMS, "jvms", 4, 0, POOL_JVMS, 1, "rings and layouts of a JVM")                                              \
	X(PROBED, "probed", 1, 0, POOL_PROBED, 1, "JVMs with probes")                                                  \
	X(OWN_PROBES, "own_probes", 1, 0, POOL_PROBES, 1, "JVMs with probes of their own")                             \
	X(LIBJVMS, "libjvms", 4, 0, POOL_LIBJVMS, 1, "libjvm.so files of their user")                                  \
	X(PERF_MAPS, "perf_maps", 1, 0, POOL_PERF_MAPS, 1, "perf maps")                                                \
	X(MAP_FRAMES, "map_frames", 1 << 14, 0, POOL_FRAMES, 1, "frames to be looked up in perf maps")                 \
	X(LATE_FRAMES, "late_frames", 1 << 14, 0, POOL_FRAMES, 1, "native frames to be named at the end")              \
	X(RING_BYTES, "ring_bytes", 64 * MIB, 240 * MIB, NO_POOL, "bytes of its agent's ring")                         \
	X(RING_TIME, "ring_time", 4000000000ULL, 15000000000ULL, NO_POOL, "ns of CPU time for what its agent reports") \
	X(WAKES, "wakes", 1000, 12000, NO_POOL, "wake-ups by its agent")                                               \
	X(MESSAGES, "messages", 256, 600, NO_POOL, "messages of its agent")                                            \
	X(CONNECTIONS, "connections", 32, 6, NO_POOL, "connections of its agent")                                      \
	X(RENAMES, "renames", 1 << 17, 60000, NO_POOL, "names of its threads")                                         \
	X(NOTICES, "notices", 64, 0, POOL_NOTICES, 1, "messages")

enum budget {
#define X(id, name, ...) BUDGET_##id,
	BUDGETS(X)
#undef X
		BUDGET_COUNT,
};

/* The account of one process. It starts zeroed. */
struct account {
	struct share *share; /* of the pools; NULL: no pool bounds it */
	uint64_t taken[POOLS];
	int64_t used[BUDGET_COUNT];	 /* at a time; the debt, where budgets return by the minute */
	uint64_t since_ns[BUDGET_COUNT]; /* the time that used[] is as of */
	uint64_t refused[BUDGET_COUNT];	 /* since the last account_report() */
	uint32_t process;		 /* the trace's id */
	uint32_t reported;		 /* bit n: budget n has been announced */
};

/* Reserves `n` of a budget at a time. Without room it reserves nothing, counts a refusal and returns false. */
bool account_reserve(struct account *a, struct sink *sink, enum budget b, uint64_t n);
void account_release(struct account *a, enum budget b, uint64_t n);

/* Whether there is room, without a refusal. */
bool account_may_reserve(const struct account *a, enum budget b, uint64_t n);

/* True when something is left of a budget by the minute. Otherwise it counts a refusal of `n`. */
bool account_has(struct account *a, struct sink *sink, enum budget b, uint64_t n);
/* May spend more than is left. */
void account_spend(struct account *a, enum budget b, uint64_t n);

/* What was reserved is not returned to the pool with the process. */
void account_keep(struct account *a, enum budget b, uint64_t n);

/* Returns to the pools what the process holds. To be called when the process is forgotten. */
void account_close(struct account *a);

/* From here on another user pays for what the process holds. */
void account_move(struct account *a, struct share *to);

/* After an exec: the new image inherits what the process has spent by the minute. */
void account_inherit(struct account *a, const struct account *from);

/*
 * sink_notice() about the process, within its budget of notices. `a` NULL: about none that is known, without a budget.
 */
void account_notice(struct account *a, struct sink *sink, uint32_t severity, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Emits what was refused since the last call, as loss of the hop `budget`. */
void account_report(struct account *a, struct sink *sink);

#endif
