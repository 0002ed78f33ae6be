// SPDX-License-Identifier: Apache-2.0
/*
 * Who holds the objects of one class: the shortest ways from the roots to some of them, chosen by their bytes, those
 * together that lead through the same classes and fields.
 */
#ifndef BRAID_HPROF_HOLDERS_H
#define BRAID_HPROF_HOLDERS_H

#include "path.h"

struct hprof_holder {
	uint64_t key;	   /* equal for equal ways */
	uint32_t place;	   /* of an object that is held in this way */
	uint64_t points;   /* of those of all bytes */
	uint64_t traced;   /* of the objects with a stack that were looked at */
	uint32_t trace;	   /* the stack that allocated most of these; 0: none */
	uint64_t of_trace; /* of these: allocated by it */
};

struct hprof_holders {
	struct hprof_sum held;	       /* all objects of the class */
	uint64_t points;	       /* in their bytes; the ways are those to the objects that have them */
	uint64_t traced;	       /* objects whose stacks the dump has, and whose ways were found, too */
	VEC(struct hprof_holder) list; /* by `points` */
};

/*
 * Of all classes with this name. Nothing is held if there is none. 0 or -ENOMEM; hprof_holders_free() is needed in
 * either case.
 */
int hprof_holders_find(struct hprof_holders *f, struct hprof_paths *paths, const char *class_name);
void hprof_holders_free(struct hprof_holders *f);

#endif
