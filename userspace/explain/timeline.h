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

/* When a sample was in a span. */
struct timeline_sighting {
	uint32_t thread, span;
	uint64_t time_ns;
};

/*
 * Times that a thread's life has in sum only. They lie between its times off the CPU that have records: from and to are
 * sums of that time since the life began. Those in a span lie between the first and the last that is recorded of
 * the thread there, others anywhere.
 */
struct timeline_sum {
	enum wall_state state;
	uint32_t span;	/* the first definition of it; 0: none */
	uint32_t site;	/* an xframe: where they were; ROW_NONE: not known */
	uint32_t stack; /* of the longest, a row of a->nodes; ROW_NONE: they have no stack */
	uint64_t ns, count;
	uint64_t longest_ns, longest_at_ns;
	uint64_t from_ns, to_ns;
	uint64_t reach_ns; /* in the life's list: the latest to_ns up to this one */
};

/* Sums of a thread without a span that are apart; further ones are in that of their state that has no stack. */
#define TIMELINE_SUMS 256
/* The same of one span. */
#define TIMELINE_SPAN_SUMS 64

struct timeline_life {
	bool made;
	VEC(struct timeline_sum) sums; /* by from_ns; those of a state add up to the thread's summed_ns */
	VEC(struct wall_segment) segments;
	VEC(uint64_t) gaps; /* for each segment: the time between times off the CPU before it */
	uint64_t gap_ns;    /* all of it */
};

struct timeline {
	const struct wall *wall;
	struct timeline_life *lives;		 /* one for each of wall->threads, made when it is needed */
	VEC(struct timeline_sample) samples;	 /* by thread and time */
	VEC(struct timeline_sighting) sightings; /* by thread */
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

/* The time between times off the CPU, from the life's beginning until then. */
uint64_t timeline_gap_at(const struct timeline_life *life, uint64_t time_ns);

/* The thread with this id, as an index of wall->threads; ROW_NONE: none. */
uint32_t timeline_thread(const struct wall *w, uint32_t id);

/* For which thread a segment waited, as an index of wall->threads; ROW_NONE: none, or not known. */
uint32_t timeline_waited_for(const struct wall *w, const struct wall_segment *s);

/* ---- timeline_sums.c ---- */

/* Fills the sums of a life, whose segments and gaps are known. 0 or -ENOMEM. */
int timeline_sums(struct timeline *tl, uint32_t thread);

/* What of a sum lies between two sums of such time. Those of stretches that follow each other add up. */
uint64_t timeline_sum_part(const struct timeline_sum *s, uint64_t from_ns, uint64_t to_ns);
/* The first sum of which something may lie behind it. */
size_t timeline_sum_after(const struct timeline_life *life, uint64_t from_ns);

#endif
