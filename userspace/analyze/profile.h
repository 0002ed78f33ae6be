// SPDX-License-Identifier: Apache-2.0
/* A profile: weights on stacks, of samples or of JVM events. Flame graphs and tables are made from it. */
#ifndef BRAID_ANALYZE_PROFILE_H
#define BRAID_ANALYZE_PROFILE_H

#include <stdint.h>

#include "hash.h"
#include "names.h"
#include "stack_sums.h"

struct analysis;

/* The xframe of a sum without a stack: a pseudo frame for what is missing, or the root. */
enum { XFRAME_NO_STACK, XFRAME_DAMAGED, XFRAME_FIRST };
#define XFRAME_ROOT UINT32_MAX

struct quality {
	uint64_t total;
	uint64_t by_cause[CAUSE_COUNT];
};

struct stack_weight {
	uint64_t self;	/* on this stack */
	uint64_t total; /* on this stack or on stacks above it */
};

struct profile {
	struct stack_sums sums;
	struct stack_weight *on; /* per row of a->nodes */
	bool leaves;		 /* some sums have one */
	struct quality quality;
	struct strpool texts; /* the leaves' names; empty: they are in a->strings */
};

const char *profile_leaf(const struct profile *p, const struct analysis *an, uint32_t leaf);

int profile_add(struct profile *p, const struct stack_sum *sum);
/* Adds up equal sums, and totals along stacks. */
int profile_finish(struct profile *p, const struct analysis *an);
void profile_free(struct profile *p);

void quality_count(struct quality *q, uint32_t cause, uint64_t weight);
/* The cause of the sum's incomplete stack. */
uint32_t profile_cause(const struct analysis *an, const struct stack_sum *sum);

#endif
