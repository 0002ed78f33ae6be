// SPDX-License-Identifier: Apache-2.0
/*
 * Leak suspects: where much of the heap comes together. What an object retains is split among what it dominates; the
 * *share* of an object is what it retains without the parts that are themselves large. A suspect is an object with a
 * large share, or a class whose objects have one without a common holder. In a chain or tree of one class the shares
 * count for its first object.
 */
#ifndef BRAID_HPROF_SUSPECTS_H
#define BRAID_HPROF_SUSPECTS_H

#include "heap.h"

#define HPROF_GROUPS 3

struct hprof_group { /* objects of one class */
	uint32_t class;
	uint64_t objects, bytes; /* bytes that they retain */
	uint32_t largest;	 /* the place of the one that retains most */
};

struct hprof_suspect {
	uint32_t place;	   /* 0: many objects, of the class in groups[0], without a common holder */
	uint64_t share;	   /* bytes */
	uint32_t retainer; /* the place whose path says what holds it: `place`, or the largest of the many */
	uint32_t chained;  /* objects of its class that are a chain or tree with it, itself included */
	struct hprof_group groups[HPROF_GROUPS]; /* what is below it, the largest first */
	unsigned group_count;
};

struct hprof_suspects {
	VEC(struct hprof_suspect) list; /* by share */
	uint64_t least;			/* the share from which on one is listed */
	/*
	 * u32, by place: the closest suspect above it, or itself, index + 1; empty: the dump has no stacks of objects
	 */
	struct scratch above;
};

/* `percent`, from 1 to 100: of what is held. 0 or a negative errno. */
int hprof_suspects_find(struct hprof_suspects *s, struct hprof *h, unsigned percent);
void hprof_suspects_free(struct hprof_suspects *s);

#endif
