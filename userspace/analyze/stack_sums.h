// SPDX-License-Identifier: Apache-2.0
/*
 * Sums of weights by thread and stack. A machine with many CPUs has most of its stacks on many threads, so there can be
 * half as many sums as samples: they are kept packed, most of them in four bytes.
 */
#ifndef BRAID_ANALYZE_STACK_SUMS_H
#define BRAID_ANALYZE_STACK_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "util/vec.h"

/* All but the weight are the key. Of an analyzer, thread and stack are ids, and the others are 0. */
struct stack_sum {
	uint32_t thread; /* row of a->threads, ROW_NONE: unknown */
	uint32_t stack;	 /* row of a->nodes, ROW_NONE: none, see xframe */
	uint32_t xframe; /* without a stack: a pseudo frame, or XFRAME_ROOT */
	uint32_t leaf;	 /* the name on top of the stack, such as an allocated class, see profile_leaf(); 0: none */
	uint64_t weight;
};

/* Sums in the order of their keys, each key once. */
struct stack_sums_packed {
	VEC(uint8_t) bytes; /* all but the last one */
	size_t count;
	struct stack_sum front; /* the last one in `bytes` */
	struct stack_sum last;	/* can still grow */
};

/* A zeroed one is empty. */
struct stack_sums {
	struct stack_sums_packed packed;
	VEC(struct stack_sum) fresh; /* as they came */
};

/* 0 or -ENOMEM. Sums that come in the order of their keys cost least. */
int stack_sums_add(struct stack_sums *s, const struct stack_sum *one);

/* Brings all into the order of their keys, each once. 0 or -ENOMEM. */
int stack_sums_order(struct stack_sums *s);

void stack_sums_free(struct stack_sums *s);

/* Visits the sums; those of one key may come apart, unless they are ordered. */
struct stack_sums_cursor {
	const struct stack_sums *of;
	size_t byte, packed, fresh; /* how many were visited of each */
	struct stack_sum at;
};

void stack_sums_begin(struct stack_sums_cursor *c, const struct stack_sums *s);
/* The next one, until the next call; NULL at the end. */
const struct stack_sum *stack_sums_next(struct stack_sums_cursor *c);

/* How many there are, of ordered ones; else at least as many. */
size_t stack_sums_count(const struct stack_sums *s);

#endif
