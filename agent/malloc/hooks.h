// SPDX-License-Identifier: Apache-2.0
/* The functions that stand in for malloc and its relatives while allocations are sampled. */
#ifndef BRAID_AGENT_HOOKS_H
#define BRAID_AGENT_HOOKS_H

#include "got.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* malloc is the first one, and free the second. */
enum malloc_function {
	MALLOC_MALLOC,
	MALLOC_FREE,
	MALLOC_CALLOC,
	MALLOC_REALLOC,
	MALLOC_POSIX_MEMALIGN,
	MALLOC_ALIGNED_ALLOC,
	MALLOC_MEMALIGN,
	MALLOC_VALLOC,
	MALLOC_FUNCTIONS,
};

/* Ends with an entry without a name. */
extern struct got_function malloc_functions[MALLOC_FUNCTIONS + 1];

/* Looks up the process's functions; what the hooks use is open already. False: it has no malloc and free. */
bool hooks_open(void);

/* malloc.c */
/* An allocation of the calling thread is sampled. It may be anywhere in the process, with any lock held. */
void malloc_sampled(void *address, size_t size, uint64_t interval, enum malloc_function function);

#endif
