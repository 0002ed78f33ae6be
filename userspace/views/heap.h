// SPDX-License-Identifier: Apache-2.0
/*
 * Histograms of the heap: those of each JVM, the rows of its last one, and their growth since its first one. views.c
 * makes them; the exports read them.
 */
#ifndef BRAID_VIEWS_HEAP_H
#define BRAID_VIEWS_HEAP_H

#include <analyze/analysis.h>

#include <stdbool.h>
#include <stdint.h>

struct heap_histogram {
	uint64_t number;
	uint64_t at_ns;	      /* its end, or when it was refused */
	uint64_t pause_ns;    /* 0: not taken */
	uint64_t expected_ns; /* 0: not known */
	uint64_t used;	      /* bytes of heap before, or that a copy shared with the process; 0: not known */
	uint64_t bytes, objects;
	uint32_t flags; /* BRAID_HEAP_*, with BRAID_HEAP_REFUSED if it was not taken */
	bool ended;
};

struct heap_row {
	const char *class, *loader;
	uint32_t classes; /* 0: one class; else the number of classes that it sums up */
	uint64_t bytes, objects;
	uint64_t first_bytes, first_objects;
	bool compared; /* the first histogram is another one, and what it has of this class is known */
};

/* Of one JVM. */
struct heap_view {
	uint32_t process; /* id */
	uint32_t pid;
	VEC(struct heap_histogram) histograms; /* by time */
	const struct heap_histogram *first;    /* that is complete; NULL: none */
	const struct heap_histogram *last;     /* the same */
	VEC(struct heap_row) rows;	       /* of the last one, by bytes */
	VEC(struct heap_row) grown;	       /* those that have grown, by their growth */
};

struct heap_views {
	VEC(struct heap_view) jvms; /* by pid */
};

int heap_views_new(struct heap_views *v, const struct analysis *an);
void heap_views_free(struct heap_views *v);

/* Whether it is complete: it was taken, and nothing kept it from being counted to its end. */
bool heap_histogram_complete(const struct heap_histogram *h);

#endif
