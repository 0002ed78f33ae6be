/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of code that was compiled as one, a unit, the compiler says which inlined method an instruction belongs to, and each
 * time it compiles, it may say and inline differently: time moves from one method to another, and none has changed. So
 * a method differs only if all units do, together, in which it is innermost, or another one that is innermost in these;
 * and if its change did not come from those others.
 */
#ifndef BRAID_COMPARE_UNITS_H
#define BRAID_COMPARE_UNITS_H

#include "slices.h"

#include <stdbool.h>

struct units {
	const struct slices *side;
	const double *factor, *spread;	    /* of shares, and its standard error, by side */
	struct u64map label_of[DIFF_SIDES]; /* the key of a label to the label, plus one */
	struct u64map seen;		    /* keys of roots */
	struct u64map counted;		    /* keys of the other methods */
	bool *in[DIFF_SIDES];		    /* per label: it is one of them */
	float share[DIFF_SIDES][SLICES];
	double sum[DIFF_SIDES];
};

/* The arrays are by side, and must outlive it. 0 or -ENOMEM; units_end() is due in either case. */
int units_begin(struct units *u, const struct slices *side, const double *factor, const double *spread);
/*
 * How often chance makes the units of the method with this key differ as much as they do; 1: its time came from the
 * others.
 */
int units_chance(struct units *u, uint64_t method, double *chance);
void units_end(struct units *u);

#endif
