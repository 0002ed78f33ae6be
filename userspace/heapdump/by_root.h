// SPDX-License-Identifier: Apache-2.0
/*
 * What is reachable in the heap of a copied JVM, by the root that leads to it. Each object counts once, with the first
 * root in this order that reaches it: threads, as the VM lists them, each with its object and what its stack has;
 * global JNI references; monitors; what else the VM holds; then classes with their static fields, those of the boot
 * loader last. An object that is a root itself, such as a class, counts with that root, and what it refers to as well.
 */
#ifndef BRAID_HEAPDUMP_BY_ROOT_H
#define BRAID_HEAPDUMP_BY_ROOT_H

#include "heapdump.h"

#include "util/vec.h"

enum by_root_kind {
	BY_ROOT_THREAD,
	BY_ROOT_OTHER_STACKS, /* of threads that the VM does not list, such as virtual ones */
	BY_ROOT_JNI_GLOBAL,
	BY_ROOT_MONITOR,
	BY_ROOT_VM,
	BY_ROOT_STATIC,
	BY_ROOT_KINDS,
};

struct by_root_row {
	uint8_t kind;
	char *name; /* of the thread; of the class, as the VM has it; NULL: there is one row of this kind */
	uint64_t objects, bytes;
	char *most; /* the class of which these objects have most bytes */
	uint64_t most_objects, most_bytes;
};

struct by_root {
	VEC(struct by_root_row) rows; /* the largest, by bytes, BRAID_HEAP_ROWS_MAX at most */
	uint64_t rest_rows, rest_objects, rest_bytes;
	uint64_t kind_objects[BY_ROOT_KINDS], kind_bytes[BY_ROOT_KINDS];
};

/* 0, or a negative errno with the reason in d->why. `d` has no output. by_root_free() is needed in either case. */
int by_root_read(struct by_root *r, struct heapdump *d);
void by_root_free(struct by_root *r);

#endif
