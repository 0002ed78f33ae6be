// SPDX-License-Identifier: Apache-2.0
/*
 * How long a stretch of a thread would have taken if something had been faster, or had not been there. The segments of
 * the thread and of all threads that it waits for are replayed in the order in which they were recorded, each with its
 * new length. A wait that a thread ended ends when that thread reaches the place from which it did so; every other wait
 * keeps its length, unless it is what changes.
 *
 * It assumes that everything else stays: who gets a lock in which order, what the threads do, and how long they wait
 * for a CPU. A thread that starts later starts when the stretch's thread is as far as it was at that time.
 */
#ifndef BRAID_EXPLAIN_WHAT_IF_H
#define BRAID_EXPLAIN_WHAT_IF_H

#include "explain.h"

#define WHAT_IF_MAX 8	   /* changes at once */
#define WHAT_IF_UNKNOWN 16 /* kinds of waits without a known cause */

/* The times that are meant get part / whole of their length. */
struct what_if_change {
	const char *target;
	uint32_t part, whole;
	uint32_t states;     /* bits of enum wall_state, if it is the name of some */
	uint64_t matched_ns; /* the recorded time that it changes, of all threads of the replay */
};

/* Waits that somebody ended who is not known: they keep their length. */
struct what_if_unknown {
	enum wall_state state;
	uint32_t object; /* in a->strings, 0: not known */
	uint32_t site;	 /* an xframe, ROW_NONE: none */
	uint64_t ns, count;
};

struct what_if {
	struct what_if_change changes[WHAT_IF_MAX];
	size_t count;
	uint64_t recorded_ns, predicted_ns;
	size_t threads; /* that were replayed */
	struct what_if_unknown unknown[WHAT_IF_UNKNOWN];
	size_t unknown_count; /* of these; there may be more kinds */
	uint64_t unknown_ns;  /* of all of them */
};

/*
 * "demo.Lock=0", "work=/2", "io=*1.5": a lock by its class, a method, or states: wall_key(), or "io", "cpu". A
 * lock of java.util.concurrent has its own name, and not that of its inner class ...Sync. Keeps
 * pointers into `text`, which it changes. 0, -EINVAL, or -E2BIG after WHAT_IF_MAX.
 */
int what_if_add(struct what_if *wi, char *text);

/* Fills the times. 0 or -ENOMEM. */
int what_if_replay(struct what_if *wi, struct timeline *tl, const struct stretch *s);

/*
 * All that is recorded of the life of the process's main thread: in a JVM, the one that Java calls main, else the
 * process's first one. False: no time of it is recorded.
 */
bool what_if_program(const struct wall *w, uint32_t process, struct stretch *s);

#endif
