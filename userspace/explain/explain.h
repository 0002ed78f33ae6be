// SPDX-License-Identifier: Apache-2.0
/*
 * Why a stretch of a thread's life took as long as it did: its critical path. While the thread ran, or waited for a
 * CPU, that is the reason. While it was blocked, the reason is what its waker did in that time, and so on, until a
 * thread that ran, a timer, an interrupt, or somebody who is not known. explain_text.c and explain_json.c print it.
 *
 * The path is a tree: the children of a wait are what those who ended it did. Each ns of the stretch, but for what is
 * left out of it, is in one node (self_ns) and in one part, so both add up to explain_ns() exactly.
 */
#ifndef BRAID_EXPLAIN_EXPLAIN_H
#define BRAID_EXPLAIN_EXPLAIN_H

#include "span_path.h"
#include "timeline.h"

/* Wakers that are followed, one behind the other. */
#define EXPLAIN_DEPTH 8
/* Pieces after which no more wakers are followed. */
#define EXPLAIN_PIECES 4000000U

/* A part of a thread's life, from whatever it was chosen by. */
struct stretch {
	uint32_t thread; /* index of wall->threads: an OS thread, or one that wall_add_vthread() has added */
	uint64_t from_ns, to_ns;
	const struct span_row *span;  /* NULL: it is none of a span */
	const struct span_path *path; /* of a span on several threads, of which `thread` is the last; else NULL */
};

/* The longest of several, and where it was. */
struct explain_longest {
	uint64_t ns, at_ns;
	uint32_t thread; /* index of wall->threads */
	uint32_t stack;	 /* row of a->nodes, ROW_NONE: none */
};

/* Times without records of their own. */
enum explain_sum {
	EXPLAIN_RECORDED, /* they have records */
	EXPLAIN_COUNTED,  /* counted by reason */
	EXPLAIN_ADDED_UP, /* added up by stack */
};

/* What threads of one name did, as a consequence of which the parent's threads waited. */
struct explain_node {
	uint32_t parent; /* index; the root, 0, is the stretch */
	uint32_t key;	 /* equal for equal `who`, state, object and site */
	uint32_t depth;
	const char *who;  /* of the stretch's own thread its name, of others `pool` */
	const char *pool; /* "request-*": a pattern of names */
	enum wall_state state;
	const char *object;   /* "": not known */
	uint32_t site;	      /* an xframe, ROW_NONE: none */
	const char *ended_by; /* of the longest; "": a thread, or it needs nobody */
	enum explain_sum sum;
	bool shared; /* it has the stretch's share of sums of a longer time; then neither their number nor the longest is known */
	uint64_t self_ns, total_ns, count;
	struct explain_longest longest;
};

/* The nodes of the same kind, wherever they are in the tree, by the wait of the stretch's thread that they are for. */
struct explain_part {
	uint32_t node;	 /* the one with the most time */
	uint32_t wait;	 /* the wait of the stretch's own thread; the node itself, if it is that thread's */
	const char *key; /* equal for equal parts of different stretches */
	uint64_t ns, count;
	struct explain_longest longest;
};

struct explain {
	const struct wall *wall;
	struct stretch stretch;
	VEC(struct explain_node) nodes;
	VEC(struct explain_part) parts; /* the longest first */
	struct explain_longest longest;
	uint32_t longest_node;
	uint64_t left_out_ns; /* of the stretch, in which its thread was idle */
	uint64_t pieces;      /* of threads' lives: what it took to make it */
	bool cut;	      /* EXPLAIN_PIECES */
	struct strpool texts;
};

/* 0 or -ENOMEM. The wall must outlive it, the timeline need not. `idle`: with the time in which its thread was idle. */
int explain_new(struct explain **out, struct timeline *tl, const struct stretch *s, bool idle);
void explain_free(struct explain *e);

/* How long what is explained took. */
static inline uint64_t explain_ns(const struct explain *e)
{
	return e->stretch.to_ns - e->stretch.from_ns - e->left_out_ns;
}

/* A part in one stretch and in another one. */
struct explain_change {
	const struct explain_part *before, *after; /* NULL: not there */
};

struct explain_diff {
	const struct explain *before, *after;
	size_t typical_of;		    /* `before` is the typical one of so many spans; 0: it was asked for */
	VEC(struct explain_change) changes; /* the largest difference first */
};

int explain_diff_new(struct explain_diff *d, const struct explain *before, const struct explain *after);
void explain_diff_free(struct explain_diff *d);

/* ---- explain_tree.c ---- */

struct explain_kind {
	const char *who, *pool, *object; /* as in struct explain_node */
	bool own;			 /* of the stretch's own thread */
	enum wall_state state;
	uint32_t site;
	enum explain_sum sum;
	bool shared;
};

struct explain_hit {
	uint32_t node, stack;
	uint64_t weight;
};

/* A path that is being made. */
struct explaining {
	struct explain *e;
	struct timeline *tl;
	bool idle;			   /* with the time in which the stretch's thread was idle */
	uint32_t chain[EXPLAIN_DEPTH + 1]; /* the threads between the stretch's and the current one */
	uint64_t pieces;
	struct strpool keys;
	struct u64map node_of;	      /* parent and key to the node's index + 1 */
	struct u64map hit_of;	      /* node and stack to hits' index + 1 */
	VEC(struct explain_hit) hits; /* samples of nodes that ran */
};

/* The node of that kind below `parent`, or an ancestor that is of the same kind; ROW_NONE without memory. */
uint32_t explain_node(struct explaining *x, uint32_t parent, const struct explain_kind *kind);
/* Samples of a thread that ran in a node's name. */
int explain_hits(struct explaining *x, uint32_t node, uint32_t thread, uint64_t from_ns, uint64_t to_ns);
/* Divides the nodes that ran by the methods of their samples, adds the tree up, and makes the parts. */
int explain_finish(struct explaining *x);

#endif
