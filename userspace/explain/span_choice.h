// SPDX-License-Identifier: Apache-2.0
/*
 * Which spans of a recording are explained: those that a filter selects, the longest first; one with an id; or the
 * typical one, whose duration is the median of all that have the same name.
 */
#ifndef BRAID_EXPLAIN_SPAN_CHOICE_H
#define BRAID_EXPLAIN_SPAN_CHOICE_H

#include <analyze/filter.h>
#include <views/span_view.h>

#include "explain.h"

struct span_choice {
	struct wall *wall;
	struct span_view *view;
	VEC(const struct span_sum *) spans; /* selected, with a thread whose time is known: the longest first */
	VEC(struct span_path *) paths;	    /* of stretches */
	struct u64map vthreads;		    /* ids of those that are kept in the wall to their places + 1 */
};

/* Only the filter's spans and attributes are asked. 0 or -ENOMEM. It keeps virtual threads in the wall. */
int span_choice_new(struct span_choice *c, struct wall *w, const struct filter *f);
void span_choice_free(struct span_choice *c);

/* The longest of `spans` with this id; NULL: none has it. */
const struct span_sum *span_choice_find(const struct span_choice *c, uint64_t id);

/* Of those that are called like this one: of whose duration as many are longer as are shorter. *of is their number. */
const struct span_sum *span_choice_typical(const struct span_choice *c, const struct span_sum *like, size_t *of);

/* The place in the wall of a virtual thread, which is kept there; ROW_NONE: its time is not known. 0 or -ENOMEM. */
int span_choice_place(struct span_choice *c, uint32_t vthread, uint32_t *thread);

/* 0 or -ENOMEM. The stretch's path is the choice's. */
int span_choice_stretch(struct span_choice *c, const struct span_sum *span, struct stretch *s);

#endif
