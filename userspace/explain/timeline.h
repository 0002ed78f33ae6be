// SPDX-License-Identifier: Apache-2.0
/*
 * The lives of threads by time: what a thread did at a time, with which samples, and which thread ran on a CPU.
 * explain.c and what_if.c ask.
 */
#ifndef BRAID_EXPLAIN_TIMELINE_H
#define BRAID_EXPLAIN_TIMELINE_H

#include <wall/runs.h>

struct timeline_sample {
	uint32_t thread; /* index of wall->threads */
	uint32_t stack;	 /* row of a->nodes, ROW_NONE: none */
	uint64_t time_ns, weight;
};

/* Times that a thread's life has in sum only. */
struct timeline_sum {
	enum wall_state state;
	uint32_t site;	/* an xframe: where they were; ROW_NONE: not known */
	uint32_t stack; /* of the longest, a row of a->nodes; ROW_NONE: they have no stack */
	uint64_t ns, count;
	uint64_t longest_ns, longest_at_ns;
};

/* Sums of a thread that are apart; further ones are in that of their state that has no stack. */
#define TIMELINE_SUMS 256
#define TIMELINE_SUMS_MAX (TIMELINE_SUMS + WALL_STATES)

struct timeline_life {
	bool made;
	VEC(struct timeline_sum)
	sums; /* those of a state add up to the thread's summed_ns; TIMELINE_SUMS_MAX at most */
	VEC(struct wall_segment) segments;
};

struct timeline {
	const struct wall *wall;
	struct timeline_life *lives;	     /* one for each of wall->threads, made when it is needed */
	VEC(struct timeline_sample) samples; /* by thread and time */
	wall_runs runs;
};

/* 0 or -ENOMEM. The wall has no window, and its analyzer keeps samples; it must outlive the timeline. */
int timeline_new(struct timeline **out, const struct wall *w);
void timeline_free(struct timeline *tl);

/* Fills tl->lives[thread]. 0 or -ENOMEM. */
int timeline_life(struct timeline *tl, uint32_t thread);

/* The first segment, sample or run that ends after the time (a sample: is not before it); their count if none does. */
size_t timeline_segment_at(const struct timeline_life *life, uint64_t time_ns);
size_t timeline_sample_at(const struct timeline *tl, uint32_t thread, uint64_t time_ns);
size_t timeline_run_at(const struct timeline *tl, uint32_t cpu, uint64_t time_ns);

/* The thread with this id, as an index of wall->threads; ROW_NONE: none. */
uint32_t timeline_thread(const struct wall *w, uint32_t id);

/* For which thread a segment waited, as an index of wall->threads; ROW_NONE: none, or not known. */
uint32_t timeline_waited_for(const struct wall *w, const struct wall_segment *s);

#endif
