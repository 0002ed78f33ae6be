// SPDX-License-Identifier: Apache-2.0
/*
 * What blocked threads waited for, with the stacks of those who ended that, in the order of offwaketime: the blocked
 * stack from its root and what it waited for, "--", the waker's stack from its leaf and the waker's name. If the waker
 * had itself waited meanwhile, "--" and its own waker follow. Drawn as a flame graph, it is read upwards.
 */
#ifndef BRAID_WALL_WAKERS_H
#define BRAID_WALL_WAKERS_H

#include <views/tree.h>

#include "wall.h"

/*
 * A part of a line: a stack, then a name. The first part of a line is its thread: in place of a stack a row, or
 * ROW_NONE.
 */
struct wakers_part {
	uint32_t node; /* of the tree, 0: none */
	uint32_t name; /* in texts, 0: none */
};

/* A line, or the beginning of others. */
struct wakers_line {
	uint32_t before; /* its index + 1, 0: none */
	uint32_t part;
	uint64_t weight; /* ns; 0: it is only the beginning of others */
};

struct wakers {
	const struct wall *wall;
	bool idle, threads; /* as for wakers_new() */
	bool *used;	    /* stacks: rows of a->nodes */
	struct tree *tree;
	struct strpool texts;
	VEC(struct wakers_part) parts;
	struct u64map part_of; /* node and name to parts' index + 1 */
	VEC(struct wakers_line) lines;
	struct u64map line_of; /* the one before and the part to lines' index + 1 */
	VEC(uint32_t) path;
	uint32_t last_id; /* of the current line: lines' index + 1 */
};

/*
 * 0 or -ENOMEM; wakers_free() in any case. The stacks are one tree with such labels. `idle`: with the times of idle
 * threads; `threads`: those of different threads are different lines.
 */
int wakers_new(struct wakers *k, const struct wall *w, bool idle, bool threads, const struct tree_options *labels);
void wakers_free(struct wakers *k);

/* The lines with a weight, the heaviest first, as indices; NULL without memory. */
uint32_t *wakers_order(const struct wakers *k, size_t *count);
/* Fills k->path with the parts of a line, the last one first. 0 or -ENOMEM. */
int wakers_parts(struct wakers *k, const struct wakers_line *line);

/* The lines as stacks. */
struct wakers_stacks {
	VEC(struct thread_stack) list;
	VEC(uint8_t) kinds; /* enum stack_kind of each node, if the tree was made with kinds */
};

/*
 * Makes k->tree the tree of the lines, whose nodes have no links and come after their parents. `top`: how many of
 * the heaviest lines it has, beside one for the rest; 0: all. 0 or -ENOMEM; wakers_stacks_free() in any case.
 */
int wakers_stacks(struct wakers *k, size_t top, struct wakers_stacks *to);
void wakers_stacks_free(struct wakers_stacks *s);

#endif
