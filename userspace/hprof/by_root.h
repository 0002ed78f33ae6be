// SPDX-License-Identifier: Apache-2.0
/*
 * What the roots of a dump retain, by root: a thread with what its stack has; a class with its static fields, also one
 * that another root holds by way of its loader; the other roots by kind. What several roots hold counts for none.
 */
#ifndef BRAID_HPROF_BY_ROOT_H
#define BRAID_HPROF_BY_ROOT_H

#include "heap.h"
#include "names.h"

enum hprof_by_root_kind { HPROF_BY_THREAD, HPROF_BY_CLASS, HPROF_BY_KIND, HPROF_BY_SEVERAL };

struct hprof_by_root_row {
	uint8_t kind;	  /* enum hprof_by_root_kind */
	uint32_t place;	  /* of the thread or class */
	const char *root; /* of HPROF_BY_KIND: as hprof_root_kind() */
	struct hprof_sum sum;
};

struct hprof_by_root {
	VEC(struct hprof_by_root_row) rows; /* by bytes; the sum of all is what is held */
};

/* 0 or a negative errno. hprof_by_root_free() is needed in either case. */
int hprof_by_root_read(struct hprof_by_root *r, struct hprof *h);
void hprof_by_root_free(struct hprof_by_root *r);

#endif
