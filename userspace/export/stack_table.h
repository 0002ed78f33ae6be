/* SPDX-License-Identifier: Apache-2.0 */
/* A profile as formats with tables of frames need it: each frame once, and the weights by stack and thread. */
#ifndef BRAID_EXPORT_STACK_TABLE_H
#define BRAID_EXPORT_STACK_TABLE_H

#include <analyze/kinds.h>
#include <trace/trace.h>
#include <views/tree.h>

#include <stdbool.h>
#include <stdio.h>

struct stack_table {
	const struct analysis *an;
	struct tree *tree; /* TREE_FRAMES */
	/* Each once; by process, name and id of the thread, then in the tree's order, then by span. */
	VEC(struct thread_stack) stacks;
	VEC(uint32_t) path; /* see stack_table_path() */
	unsigned top;	    /* only this many of the heaviest stacks; 0: all */
};

/* 0 or -ENOMEM. */
int stack_table_new(struct stack_table *t, const struct analysis *an, const struct profile *p, unsigned top);
/* Of stacks on a tree of frames, which it owns from then on; it need not have links. */
int stack_table_of(struct stack_table *t, const struct analysis *an, struct tree *tree,
		   const struct thread_stack *stacks, size_t count, unsigned top);
/*
 * The same as stack_table_new(), by span, too, which a profile does not have: from a second pass over the file. `kind`:
 * that of the events that the profile is of; 0: of samples.
 */
int stack_table_spans(struct stack_table *t, struct trace_reader *reader, const struct analysis *an,
		      const struct profile *p, uint32_t kind, unsigned top);
void stack_table_free(struct stack_table *t);

/* The process of a thread row; NULL: not known. */
const struct process_row *stack_table_process(const struct stack_table *t, uint32_t thread);

/* The kind of the innermost frame: a class on top of a stack is none. After stack_table_path(), which it looks at. */
const char *stack_table_kind(const struct stack_table *t);

/* Fills t->path with the labels of a stack, from the leaf. 0 or -ENOMEM. */
int stack_table_path(struct stack_table *t, uint32_t node);

#define FRAME_NAME_MAX 4096
/* The name of a frame; `annotate`: with the suffix of its kind. */
void stack_table_name(const struct tree_label *label, bool annotate, char to[FRAME_NAME_MAX]);

/* What the numbers of a profile are. */
struct profile_unit {
	const char *name; /* "samples", "alloc" */
	enum kind_unit unit;
	uint64_t period_ns; /* of CPU time for each sample; 0: not by time */
};

const char *profile_unit_word(enum kind_unit unit);	/* "nanoseconds", as the formats name them */
int64_t profile_value(uint64_t weight, uint64_t scale); /* their product, at most INT64_MAX */

int pprof_write(FILE *out, struct stack_table *t, const struct profile_unit *unit, bool annotate);
int hprof_write(FILE *out, struct stack_table *t, const struct profile_unit *unit, bool annotate);
int otlp_write(FILE *out, struct stack_table *t, const struct profile_unit *unit, bool annotate);
int speedscope_write(FILE *out, struct stack_table *t, const struct profile_unit *unit, bool annotate);

#endif
