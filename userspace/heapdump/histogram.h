// SPDX-License-Identifier: Apache-2.0
/* What is reachable in the heap of a copied JVM, by class. jvm/ asks for it, on a thread of its own. */
#ifndef BRAID_HEAPDUMP_HISTOGRAM_H
#define BRAID_HEAPDUMP_HISTOGRAM_H

#include "heapdump.h"

#include "util/vec.h"

/* Names are those of the JVM: modified UTF-8, "java/util/HashMap". */
struct histogram_row {
	uint64_t bytes, objects;
	char *class;
	char *loader;		/* its class; NULL: the boot loader */
	char *loader_name;	/* may be NULL */
	uint32_t loader_number; /* distinguishes loaders of a class: the hash code, or bits of the address */
};

struct histogram {
	VEC(struct histogram_row) rows;	   /* the largest classes, by bytes, BRAID_HEAP_ROWS_MAX at most */
	uint64_t rest_bytes, rest_objects; /* of the other classes */
	uint32_t rest_classes;
};

/* 0, or a negative errno with the reason in d->why. `d` has no output. histogram_free() is needed in either case. */
int histogram_read(struct histogram *h, struct heapdump *d);
void histogram_free(struct histogram *h);

#endif
