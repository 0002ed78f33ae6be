// SPDX-License-Identifier: Apache-2.0
/*
 * The threads that served a span, and who of them had it when: the one in which it ended, before that the one that
 * handed it over, and so on. A thread is in the span from the first to the last that is recorded of it there, until
 * something is recorded of it elsewhere.
 */
#ifndef BRAID_EXPLAIN_SPAN_PATH_H
#define BRAID_EXPLAIN_SPAN_PATH_H

#include <views/span_view.h>
#include <wall/wall.h>

struct span_leg {
	uint32_t thread; /* index of wall->threads */
	uint64_t from_ns, to_ns;
};

struct span_path {
	VEC(struct span_leg) seen; /* by their starts: threads in the span, which may overlap */
	VEC(struct span_leg) legs; /* who had it, in order, without overlaps; nobody was seen in it between two */
	size_t guesses; /* legs that began when several threads were in it, and no wake-up says which of them handed it over */
};

/* Gives the index of wall->threads of a row of a->threads, or of a virtual thread, ROW_NONE: its time is not known. */
typedef int (*span_place_fn)(void *ctx, uint32_t row, uint32_t vthread, uint32_t *thread);

/* 0 or -ENOMEM. Without legs, no time of its threads is known. */
int span_path_new(struct span_path **out, const struct wall *w, const struct span_sum *span, span_place_fn place,
		  void *ctx);
void span_path_free(struct span_path *p);

#endif
