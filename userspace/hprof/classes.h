// SPDX-License-Identifier: Apache-2.0
/* The classes of a dump: which is above which, and how many bytes their objects take. */
#ifndef BRAID_HPROF_CLASSES_H
#define BRAID_HPROF_CLASSES_H

#include "dump.h"

/* Called when all tables are sorted. 0 or a negative errno. */
int hprof_classes_link(struct hprof_dump *d);

/*
 * Replaces length[], of each object the elements of an array, by the object's size in units of 8 bytes. A dump does not
 * have sizes. They follow from the fields, and from how a JVM lays objects out, which depends on its options: the
 * layout is the one with the largest objects that do not overlap. 0 or -ENOMEM.
 */
int hprof_sizes(struct hprof_dump *d, const uint32_t *class_of, uint32_t *length);

#endif
