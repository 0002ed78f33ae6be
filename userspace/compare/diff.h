// SPDX-License-Identifier: Apache-2.0
/*
 * What two recordings spend by method or by stack, and which differences are more than chance.
 *
 * Each recording is cut into slices with equal totals, whose differences among each other say how much a recording
 * varies by itself. A method's difference, divided by its standard error, is compared with the largest such value of
 * all methods that resampled slices yield without a real difference (a bootstrap of the maximum). So the chance that
 * any method is reported although nothing differs is the level, however many methods there are. A method that was
 * inlined differs only if the code that it was inlined into does: which of the inlined methods an instruction belongs
 * to is up to the compiler. What interrupts do is not compared: they run in whatever thread has the CPU.
 */
#ifndef BRAID_COMPARE_DIFF_H
#define BRAID_COMPARE_DIFF_H

#include <analyze/analysis.h>

#define DIFF_LEVEL 0.01 /* differences are reported if chance makes one like them, anywhere, less often than this */

enum { DIFF_BEFORE, DIFF_AFTER, DIFF_SIDES };

struct diff_options {
	uint32_t kind;	/* of JVM events; 0: samples */
	bool stacks;	/* of whole stacks, not of methods */
	bool total;	/* of methods with all that they call, not by themselves */
	bool normalise; /* shares, not amounts, see struct diff_row */
	/*
	 * Some tools record less than braid does. For comparisons with their recordings, both sides have only what both
	 * can have: frames of Java, samples of threads that were in Java code, and times of at least `min_ns`.
	 */
	bool java;
	bool in_java; /* with `java` */
	uint64_t min_ns;
};

/*
 * Amounts are in the unit of the weights. If they are normalised, they are shares of the total before: those after are
 * scaled so that the median method has the same, because one method's larger share makes all others smaller.
 */
struct diff_row {
	const char *name;	  /* of stacks: the names of their methods, the outermost first, with ';' in between */
	enum stack_domain domain; /* of stacks: of the innermost method */
	double amount[DIFF_SIDES];
	double error;  /* standard error of the difference */
	double chance; /* that a difference like this is one by chance; 1 / (replicates + 1) at least */
};

struct diff {
	struct strpool names;
	VEC(struct diff_row)
	rows;		    /* by chance up to DIFF_LEVEL first; within both parts by the size of the difference */
	size_t significant; /* number of rows up to DIFF_LEVEL */
	double total[DIFF_SIDES];      /* amounts, never shares */
	double interrupts[DIFF_SIDES]; /* of these, what handlers of interrupts took: their frames are in no row */
	double factor;	  /* a share of the total after, times this, is comparable with one of the total before */
	uint64_t methods; /* distinct ones, or stacks; those with a tiny share of both totals have no row */
};

/* 0 or -ENOMEM. The samples of both must have been kept; `scale` turns weights into the unit of amounts. */
int diff_new(struct diff **out, const struct analysis *const an[DIFF_SIDES], const double scale[DIFF_SIDES],
	     const struct diff_options *options);
void diff_free(struct diff *d);

#endif
