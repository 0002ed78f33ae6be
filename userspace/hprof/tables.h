// SPDX-License-Identifier: Apache-2.0
/* What is printed of a heap dump, in its order. */
#ifndef BRAID_HPROF_TABLES_H
#define BRAID_HPROF_TABLES_H

#include "heap.h"

struct hprof_places {
	uint32_t *at;
	size_t count;
};

/*
 * The `most` objects that retain most. Of objects of one class that immediately dominate each other, as the nodes of a
 * list do, only the first counts. 0 or -ENOMEM.
 */
int hprof_biggest(const struct hprof *h, size_t most, struct hprof_places *places);

void hprof_places_free(struct hprof_places *places);

#define HPROF_LEVELS_MAX 64

/* The tree of dominators from its top, without what retains less than one percent of all. */
struct hprof_tree {
	const struct hprof *h;
	unsigned levels;
	size_t rows; /* below one object */
	unsigned depth;
	struct hprof_level {
		struct hprof_places places;
		struct hprof_sum rest;
		size_t next;
	} level[HPROF_LEVELS_MAX];
};

struct hprof_tree_row {
	unsigned depth;
	uint32_t place;	       /* 0: all others below the same object, */
	struct hprof_sum rest; /* which together are these */
};

/* 0 or -ENOMEM. */
int hprof_tree_begin(struct hprof_tree *t, const struct hprof *h, unsigned levels, size_t rows);
/* 1, 0 after the last row, or -ENOMEM. */
int hprof_tree_next(struct hprof_tree *t, struct hprof_tree_row *row);
void hprof_tree_end(struct hprof_tree *t);

/* The classes that have objects that are held, by what these retain, as indices. *count of them; NULL: no memory. */
uint32_t *hprof_classes_by_retained(const struct hprof *h, size_t *count);

#endif
