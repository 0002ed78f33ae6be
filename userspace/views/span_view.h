// SPDX-License-Identifier: Apache-2.0
/*
 * The spans of an analysis, with what their threads did in them. `braid report --by span` calls it; samples must have
 * been kept.
 */
#ifndef BRAID_VIEWS_SPAN_VIEW_H
#define BRAID_VIEWS_SPAN_VIEW_H

#include <analyze/analysis.h>

struct span_sum {
	const struct span_row *row;
	uint32_t pid;
	uint32_t thread;  /* row of the first thread seen in it, of a virtual one its group's; ROW_NONE: not known */
	uint32_t vthread; /* id of that one, if it is virtual; else 0 */
	bool others;	  /* other threads were seen in it, too */
	uint64_t samples;
	uint64_t offcpu_ns;
	uint64_t events;	    /* with those of threads off the CPU */
	uint64_t first_ns, last_ns; /* seen, or of a made span known, on the trace's clock */
};

struct span_view {
	const struct analysis *an;
	VEC(struct span_sum) sums; /* SPANS_BY_SAMPLES at first */
	uint64_t samples;	   /* in spans */
	uint64_t offcpu_ns;
	uint64_t counted_ns; /* times off the CPU whose span is not known, as they were counted: mostly short ones */
	uint64_t lost;	     /* samples and events that had a span, which is not known; in the whole trace */
};

enum span_order { SPANS_BY_SAMPLES, SPANS_BY_OFFCPU, SPANS_BY_DURATION };

/* 0 or -ENOMEM. */
int span_view_new(struct span_view **out, const struct analysis *an);
void span_view_free(struct span_view *v);
/* The most, or longest, first. */
void span_view_sort(struct span_view *v, enum span_order order);

#endif
