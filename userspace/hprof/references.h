// SPDX-License-Identifier: Apache-2.0
/*
 * The second time through a dump: what refers to what. Besides fields, elements and static fields, an object refers to
 * its class, a class to the one above it and to its loader, a loader to its classes, and a thread to what its stack
 * has. References to what is a root by itself are left out: they hold nothing that is not held without them.
 */
#ifndef BRAID_HPROF_REFERENCES_H
#define BRAID_HPROF_REFERENCES_H

#include "dump.h"
#include "graph.h"

struct reference {
	uint32_t from, to; /* numbers of objects */
};

struct references {
	struct hprof_dump *d;
	struct graph *g;
	uint32_t *class_of, *length; /* by number: index of the class; elements of arrays */
	uint32_t *trace_of;	     /* by number: index + 1 of the stack that allocated it, 0: not known; or NULL */
	uint64_t dangling;	     /* references to what the dump does not have */
	struct scratch is_root;	     /* a bit for each number: it holds by itself */
	struct scratch has_more;     /* a bit for each number: it is in `more` */
	VEC(struct reference) more;  /* what threads and loaders refer to besides their fields */
};

/* Fills r->g, of which graph_init() was called, class_of and length. 0 or a negative errno. */
int references_read(struct references *r);
void references_free(struct references *r);

#endif
