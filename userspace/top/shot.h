// SPDX-License-Identifier: Apache-2.0
/*
 * What one screen is about: the tables of a part of a recording, filled from the analysis that reports are made from.
 */
#ifndef BRAID_TOP_SHOT_H
#define BRAID_TOP_SHOT_H

#include <stdbool.h>
#include <stdint.h>

#include <views/views.h>
#include <wall/wall.h>

enum top_view { TOP_METHODS, TOP_THREADS, TOP_LOCKS, TOP_ALLOC, TOP_GC, TOP_VIEWS, TOP_STACKS = TOP_VIEWS, TOP_TABLES };

#define TOP_VALUES 7

struct top_row {
	const char *name; /* valid as long as the shot, as `note` */
	const char *note;
	double value[TOP_VALUES]; /* as the view's columns; negative: none */
	uint64_t key;		  /* the same in every shot that has the row */
	uint32_t parent;	  /* place of the row that it belongs to, plus one; 0: none. Parents come first */
	uint32_t depth;
	uint32_t of;	/* threads: an index of wall->threads; locks and allocations: an id of a->strings */
	uint8_t domain; /* enum stack_domain */
	bool has_children;
	bool open; /* it shows its children unless its user folds it */
};

struct top_table {
	VEC(struct top_row) rows;
	bool recorded; /* otherwise there are none because they were not asked for, or no JVM has reported them */
	bool asked_for;
	struct u64map row_of;
};

struct top_figures {
	uint64_t shown_ns;
	uint64_t samples, by_domain[DOMAIN_INCOMPLETE + 1];
	double cpus_busy; /* by the samples; negative: not known */
	unsigned cpus;	  /* of the machine; 0: not known */
	unsigned long frequency_hz;
	uint64_t gc_ns, heap_after;
	uint64_t alloc_bytes, blocked_ns;
	uint64_t lost;
	char what[64]; /* "java 4711", "3 processes" */
};

struct shot {
	struct analyzer *analyzer;
	struct analysis *analysis;
	struct views *views;
	struct wall *wall;
	bool off_cpu; /* the times of threads off the CPU were recorded */
	struct top_table tables[TOP_VIEWS];
	struct top_figures figures;
};

/* Takes the analyzer over, also on failure. 0 or a negative errno. */
int shot_new(struct shot **out, struct analyzer *a);
void shot_free(struct shot *s);

/* The row with that key, ROW_NONE: none. */
uint32_t top_table_find(const struct top_table *t, uint64_t key);
/*
 * The row below a parent that has this name, and `more` where names repeat. It is added if it is new. NULL: no memory.
 */
struct top_row *top_table_put(struct top_table *t, uint32_t parent, const char *name, uint64_t more);
/* The place of a row, plus one: what its children have as parent. */
uint32_t top_table_place(const struct top_table *t, const struct top_row *r);
void top_table_free(struct top_table *t);

/* ---- stacks.c ---- */

/*
 * The stacks behind a row of a view: the callers of a method, what a thread does and where it waits, where threads are
 * blocked, or memory is allocated. 0 or -ENOMEM. A row of other views has none.
 */
int shot_stacks(const struct shot *s, enum top_view view, const struct top_row *row, struct top_table *out);

#endif
