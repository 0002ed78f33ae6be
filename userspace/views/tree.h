// SPDX-License-Identifier: Apache-2.0
/*
 * The call tree: stacks with the same frames are one path, whatever their addresses and code versions. views.c and the
 * exports build it from a profile.
 */
#ifndef BRAID_VIEWS_TREE_H
#define BRAID_VIEWS_TREE_H

#include <analyze/analysis.h>

struct tree_node {
	uint32_t parent; /* index; the root, index 0, is its own */
	uint32_t label;	 /* index into labels */
	uint32_t next;	 /* sibling in label order, 0: none */
	uint32_t child;	 /* first child, 0: none */
	uint64_t self;
	uint64_t total;
};

struct tree_label {
	const char *text;
	const char *file; /* TREE_FRAMES: of the source; "" when it is not known */
	uint32_t line;	  /* TREE_FRAMES: 0 when it is not known */
	uint32_t rank;	  /* in the order of text, then of insertion key: for sorting */
	uint8_t domain;
	uint8_t kind; /* TREE_FRAMES: enum stack_kind */
};

enum tree_labels {
	TREE_METHODS, /* by name and domain: all forms of a method are one */
	TREE_TEXT,    /* by the text of collapsed stacks: see tree_options */
	TREE_FRAMES,  /* by name, kind, source file and line */
};

struct tree_options {
	enum tree_labels labels;
	bool kinds;    /* weights of nodes by the kind of code */
	bool annotate; /* TREE_TEXT: kind suffixes */
	bool lines;    /* TREE_TEXT: ":line" behind Java frames */
	bool java;     /* leaves out all frames but those of Java; not with `kinds` */
};

struct tree {
	VEC(struct tree_node) nodes;
	VEC(struct tree_label) labels;
	uint64_t (*kind_weight)[KIND_COUNT]; /* with `kinds`: of each node's total */
	uint32_t *of_stack;		     /* node of each stack row; 0 without samples */
	uint32_t no_stack, damaged;	     /* nodes of samples without a stack, 0 when there are none */
	struct u64map leaf_of;		     /* node and a sum's leaf to the leaf's node */
	struct strpool texts;
};

/* A stack that a thread had. */
struct thread_stack {
	uint32_t thread; /* row of a->threads; ROW_NONE: not known, or several */
	uint32_t node;	 /* of the tree */
	uint64_t weight;
	uint32_t span; /* id; 0: none, or all of them */
};

int tree_new(struct tree **out, const struct analysis *an, const struct profile *p, const struct tree_options *options);
void tree_free(struct tree *t);

/* The node that a sum's samples are on. */
uint32_t tree_node_of(const struct tree *t, const struct stack_sum *sum);

/* Depth first, siblings in label order: the node after `i`, 0 at the end. The root, 0, comes first. */
uint32_t tree_next(const struct tree *t, uint32_t i);

/* The kind of most samples of a node. Only with `kinds`. */
enum stack_kind tree_kind(const struct tree *t, uint32_t node);

#endif
