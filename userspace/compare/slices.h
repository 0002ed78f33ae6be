// SPDX-License-Identifier: Apache-2.0
/*
 * A recording's weights by method or by stack, in slices of time that have equal totals; diff.c compares those of two.
 */
#ifndef BRAID_COMPARE_SLICES_H
#define BRAID_COMPARE_SLICES_H

#include "diff.h"

#include <views/tree.h>

#define SLICES 40

/*
 * Shares of a method, or of a stack, in each slice, and in all of them. A unit is code that was compiled as one: a
 * method with what is inlined into it. Of a sample in it, the innermost method is what the compiler's debug information
 * says.
 */
struct method_slices {
	float self[SLICES];  /* by itself */
	float total[SLICES]; /* and with all that it calls, each stack once */
	float unit[SLICES];  /* of the unit with this method at its root */
	double self_sum, total_sum, unit_sum;
};

struct slices {
	struct tree *tree;	       /* TREE_METHODS */
	struct method_slices *methods; /* per label, or per stack */
	VEC(uint32_t) stacks;	       /* the node of each */
	VEC(uint64_t)
	units; /* label of a method << 32 | label of the root of a unit in which it was innermost; sorted, each once */
	double weight;	   /* of everything that is compared */
	double interrupts; /* the weight of samples in handlers of interrupts, which are not compared */
	double squares;	   /* the sum of squares of the single weights: the variance of a Poisson sum */
	const struct diff_options *options; /* only while the slices are filled */
	bool *in_java;			    /* the same: per stack row, with options->in_java */
	bool *in_interrupt;		    /* the same, of samples with frames of the kernel */
};

/* 0 or -ENOMEM. `scale` is for weights. */
int slices_new(struct slices *s, const struct analysis *an, const struct diff_options *options, double scale);
/* The number of `methods`. */
size_t slices_count(const struct slices *s);
void slices_free(struct slices *s);

/*
 * A hash of the name of a method, or stack, by which it is found on the other side: names are kept for those that get a
 * row.
 */
uint64_t slices_key(const struct slices *s, size_t i);
/* The variance of a share, which is the sum over slices: each as often as it was drawn, or once without `times`. */
double slices_variance(const float shares[SLICES], const double times[SLICES], double share);

#endif
