// SPDX-License-Identifier: Apache-2.0
/*
 * Which stretches the page explains: the slowest spans, and of the threads the busiest and those that waited longest.
 */
#ifndef BRAID_PAGE_STRETCHES_H
#define BRAID_PAGE_STRETCHES_H

#include <explain/span_choice.h>

#define STRETCH_SPANS 20U
#define STRETCH_THREADS 10U /* of each kind */

/* Of a thread that is among several, the first counts. */
enum stretch_why { STRETCH_SPAN, STRETCH_BUSY, STRETCH_WAITED };

struct chosen_stretch {
	struct stretch stretch;
	enum stretch_why why;
};

struct stretches {
	VEC(struct chosen_stretch) list; /* by why, those with most time first */
	struct span_choice spans;	 /* keeps what the stretches of spans need */
};

/* Adds the virtual threads among them to the wall. 0 or -ENOMEM. */
int stretches_choose(struct stretches *s, struct wall *w);
void stretches_free(struct stretches *s);

#endif
