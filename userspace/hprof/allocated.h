// SPDX-License-Identifier: Apache-2.0
/* Which stacks have allocated what a suspect holds, as far as the dump has the stacks of objects. */
#ifndef BRAID_HPROF_ALLOCATED_H
#define BRAID_HPROF_ALLOCATED_H

#include "suspects.h"

struct hprof_site {
	uint32_t trace;	  /* serial */
	uint64_t objects; /* whose stack is known */
	uint64_t bytes;	  /* of these; an estimate of all that the stack allocated if objects were sampled */
};

struct hprof_allocated {
	VEC(struct hprof_site) sites; /* by bytes */
	uint64_t objects, bytes;      /* of all sites */
};

/* What is below the suspect `i`, without what is below others. 0 or -ENOMEM, after which there is nothing to free. */
int hprof_allocated_below(struct hprof_allocated *a, const struct hprof *h, const struct hprof_suspects *s, size_t i);
void hprof_allocated_free(struct hprof_allocated *a);

/* The number of the stack that allocated the object; 0: the dump does not have it. */
uint32_t hprof_allocated_by(const struct hprof *h, uint32_t object);

#endif
