// SPDX-License-Identifier: Apache-2.0
/* A recording's weights by method, in slices of time that have equal totals; diff.c compares those of two. */
#ifndef BRAID_COMPARE_SLICES_H
#define BRAID_COMPARE_SLICES_H

#include <views/tree.h>

#include "diff.h"

#define SLICES 40

/* Shares of a method in each slice, and in all of them. */
struct method_slices {
	float self[SLICES];  /* by itself */
	float total[SLICES]; /* and with all that it calls, each stack once */
	double self_sum, total_sum;
};

struct slices {
	struct tree *tree;	       /* TREE_METHODS */
	struct method_slices *methods; /* per label */
	double weight;		       /* of everything */
	double squares;		       /* the sum of squares of the single weights: the variance of a Poisson sum */
};

/* 0 or -ENOMEM. `kind`: of JVM events, 0: samples. `scale` is for weights. */
int slices_new(struct slices *s, const struct analysis *an, uint32_t kind, double scale);
void slices_free(struct slices *s);

#endif
