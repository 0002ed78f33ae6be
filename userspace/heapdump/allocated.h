// SPDX-License-Identifier: Apache-2.0
/*
 * Which stacks have allocated the objects that the agent watches, as their allocation was recorded. cli/ fills it in;
 * a dump has the stacks of those objects that are still there.
 */
#ifndef BRAID_HEAPDUMP_ALLOCATED_H
#define BRAID_HEAPDUMP_ALLOCATED_H

#include "util/vec.h"

#include <stdint.h>

struct heapdump_method {
	char *class, *name, *signature, *file; /* "java.util.HashMap" */
};

struct heapdump_frame {
	uint32_t method; /* index */
	uint32_t line;	 /* 0: not known */
};

struct heapdump_stack {
	uint32_t first, count; /* its frames, the innermost first */
};

struct heapdump_object {
	uint64_t number; /* of its ALLOC event */
	uint32_t stack;	 /* index */
};

struct heapdump_allocated {
	VEC(struct heapdump_method) methods;
	VEC(struct heapdump_frame) frames;
	VEC(struct heapdump_stack) stacks;
	VEC(struct heapdump_object) objects; /* by number */
};

#endif
