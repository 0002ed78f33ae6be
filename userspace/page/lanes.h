// SPDX-License-Identifier: Apache-2.0
/*
 * The lanes of the page's timeline: of threads, with the states of their lives, and of CPUs, with who ran. A page has a
 * budget: of each lane, it has the shares of states in equal parts of the time (bins), as fine as the budget allows,
 * and the longest segments of all lanes as they are.
 *
 * Segments come twice, in the order of time: lanes_measure() finds out what there is, lanes_keep() takes what fits.
 */
#ifndef BRAID_PAGE_LANES_H
#define BRAID_PAGE_LANES_H

#include "page.h"

/* ---- bins.c ---- */

#define BIN_LEVELS 7U
#define BINS_COARSEST 64U /* twice as many at each level */
#define BIN_KEYS 32U	  /* in one bin; others count as key 0 */
#define BIN_SHOWN 7U	  /* the largest ones */
#define BIN_FULL 16U	  /* the share of a state that fills a bin */
#define BIN_PATTERN (1U + BIN_SHOWN * 6U)

struct bin_share {
	uint32_t key;
	uint64_t ns;
};

/* A lane in bins of one width: packed, while it is made. */
struct bins {
	uint64_t width_ns, bin; /* which one is filled */
	struct bin_share shares[BIN_KEYS];
	uint32_t count;
	uint8_t pattern[BIN_PATTERN]; /* of the last `run` bins, not yet in `packed` */
	uint32_t length;
	uint64_t run;
	struct pack packed;
};

void bins_init(struct bins *b, unsigned level, uint64_t span_ns);
/* In the order of time. 0 or -ENOMEM. */
int bins_add(struct bins *b, uint32_t key, uint64_t start_ns, uint64_t end_ns);
int bins_finish(struct bins *b);

/* ---- lanes.c ---- */

#define LANE_BUCKETS (64U * 16U)

struct lane {
	uint32_t id;	 /* of a thread in struct wall, or the number of a CPU */
	uint64_t of;	 /* segments that there are */
	uint64_t kept;	 /* those in the page */
	uint64_t end_ns; /* of the last one kept */
	unsigned level;	 /* of bins */
	struct pack bins[BIN_LEVELS];
	struct pack segments;
};

/* Which segments are kept: all above a length, some of about this length. */
struct lane_budget {
	uint64_t most;
	uint64_t of_length[LANE_BUCKETS];
	unsigned least;		    /* bucket */
	uint64_t room, at_least, n; /* of the `at_least` ones in it, `room` are kept; n: met so far */
};

struct lanes {
	struct page *page;
	struct lane_budget budget;
	VEC(struct lane) list;
	struct bins bins[BIN_LEVELS]; /* of the lane that is measured */
};

/* Begins a lane; its segments follow. */
int lanes_begin(struct lanes *l, uint32_t id);
int lanes_measure(struct lanes *l, uint32_t key, uint64_t start_ns, uint64_t end_ns);
int lanes_end(struct lanes *l);
/* When all are measured: what the page takes. */
void lanes_fit(struct lanes *l, size_t bin_bytes);
/* Whether the page takes the segment; then its place in time is written, and `numbers` follow it. */
int lanes_keep(struct lanes *l, struct lane *lane, uint64_t start_ns, uint64_t end_ns, bool *kept);
/* The members that all lanes have. */
int lanes_write(struct lanes *l, const struct lane *lane);
void lanes_free(struct lanes *l);

/* A time on the page: ns since the recording's start, inside of what the page shows. */
uint64_t lanes_time(const struct page *p, uint64_t time_ns);

/* ---- threads.c ---- */
int html_thread_lanes(struct page *p, const struct wall *w);

/* ---- cpus.c ---- */
int html_cpu_lanes(struct page *p, const struct wall *w);

/* ---- details.c: what is known of a segment, each combination once ---- */

struct detail {
	uint32_t object;	     /* in texts */
	uint32_t stack, waker_stack; /* rows of the analyzer's nodes, ROW_NONE: none */
	uint32_t waker;		     /* number of the page's thread + 1; 0: none */
	uint32_t ended_by;	     /* in texts */
	uint32_t call;		     /* the system call that the thread was in, in texts */
};

#define DETAIL_STEPS 5 /* parts beside the object */

struct details {
	struct page *page;
	const struct wall *wall;
	struct strpool texts;
	struct u64map steps[DETAIL_STEPS];
	uint32_t known[DETAIL_STEPS];
	VEC(struct detail) list;
	struct page_stacks stacks;
	uint64_t left_out;
};

/* The number of a segment's detail, from 1 on; 0: none. 0 or -ENOMEM. */
int details_of(struct details *d, const struct wall_segment *s, uint32_t *number);
int details_write(struct details *d);
void details_free(struct details *d);

#endif
