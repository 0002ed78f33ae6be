// SPDX-License-Identifier: Apache-2.0
/*
 * The tables of `braid report --wall`: where the time of threads went, what they waited for, who woke them, and the
 * chains of waits that led there. export/wall_text.c and export/wall_json.c print them.
 */
#ifndef BRAID_WALL_VIEW_H
#define BRAID_WALL_VIEW_H

#include "wall.h"

struct wall_sums {
	uint64_t threads, unknown; /* unknown: those without a recorded life */
	uint64_t life_ns;
	uint64_t ns[WALL_STATES], summed_ns[WALL_STATES];
	uint64_t excess_ns;
};

/* Threads of one process whose names differ in their last number only. */
struct wall_group {
	uint32_t process; /* row of a->processes, or their count: unknown */
	const char *name;
	uint32_t thread; /* row of a->threads, if it is one thread */
	bool virtual;	 /* virtual threads: not in the sums of the process */
	struct wall_sums sums;
};

struct wall_process {
	uint32_t process; /* as above */
	uint32_t id;	  /* the trace's; 0: unknown */
	uint32_t pid;
	const char *name;
	struct wall_sums sums, virtual;
	size_t first, count; /* its groups in wall_view.groups, the longest life that is not idle first, and virtual
				threads last */
};

/* How often, in segments. */
struct wall_count {
	uint64_t count, max_ns;
};

struct wall_wait {
	enum wall_state state;
	const char *object; /* "": not known */
	uint32_t site;	    /* an xframe */
	uint64_t count, ns, max_ns;
};

/* Text, so that threads of equal names and sites are one row. */
struct wall_chain {
	const char *text;
	uint64_t count, ns, max_ns;
};

typedef VEC(struct wall_chain) wall_chain_list;

struct wall_view {
	const struct wall *wall;
	struct wall_sums all;
	struct wall_count of[WALL_STATES];
	struct wall_sums virtual; /* of virtual threads: what they were mounted is in `all`, too */
	struct wall_count of_virtual[WALL_STATES];
	VEC(struct wall_process) processes; /* that with the most running and runnable time first */
	VEC(struct wall_group) groups;
	VEC(struct wall_wait) waits;
	wall_chain_list wakes;	/* "http-* [parked] in a.B.c <- pool-1-thread-* in d.E.f" */
	wall_chain_list chains; /* those of more than one wait: ", after [monitor] in g.H.i <- main in j.K.l" */
	struct strpool texts;
	struct u64map group_of, wait_of, key_of, wake_of, chain_of; /* while they are filled */
	struct u64map sequences, line_of; /* of ids, of which the texts of wakes and chains are written once each */
};

/* 0 or -ENOMEM. `wall` must outlive it. `idle`: with the time of idle threads. */
int wall_view_new(struct wall_view **out, const struct wall *wall, bool idle);
void wall_view_free(struct wall_view *v);

/* ---- chains.c ---- */
/* Adds a segment, the first of its row, to the tables of who woke whom. */
int wall_view_wakes(struct wall_view *v, const struct wall_thread *t, const struct wall_segment *s);
void wall_chains_sort(struct wall_view *v);

#endif
