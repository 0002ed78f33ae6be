// SPDX-License-Identifier: Apache-2.0
/*
 * The constant pools of a chunk: what its events refer to, each once, and what that refers to in turn. Keys mean the
 * same in all chunks of a file.
 */
#ifndef BRAID_JFR_POOLS_H
#define BRAID_JFR_POOLS_H

#include <analyze/stream.h>

#include "bytes.h"
#include "types.h"

struct pool {
	struct u64map of; /* the keys */
	VEC(uint64_t) keys;
};

struct jfr_method {
	uint32_t class_name, name, descriptor; /* strings */
	uint32_t modifiers;
};

struct pools {
	const struct analysis *an;
	struct strpool strings; /* of strings and symbols */
	struct u64map method_of;
	VEC(struct jfr_method) methods;
	uint32_t *of_xframe;		     /* number of its method + 1; 0: not looked at yet */
	struct pool used[JFR_LAST_POOL + 1]; /* by this chunk */
	size_t bytes;			     /* roughly, of this chunk's stacks */
	bool failed;			     /* no memory */
};

int pools_init(struct pools *p, const struct analysis *an);
void pools_free(struct pools *p);

/* Each returns the key under which this chunk has it; 0: none. */
uint64_t pools_string(struct pools *p, const char *s, size_t length);
uint64_t pools_thread(struct pools *p, uint32_t thread, uint32_t vthread); /* a row or ROW_NONE, an id or 0 */
uint64_t pools_stack(struct pools *p, uint32_t stack, uint32_t xframe);	   /* as in struct timed */
uint64_t pools_class(struct pools *p, const char *name);		   /* "java.lang.String[]" */
uint64_t pools_class_loader(struct pools *p, const char *name);
uint64_t pools_method(struct pools *p, const char *name); /* "demo.Main.work" */
uint64_t pools_thread_state(struct pools *p, const char *name);

/* Whether the stack has a Java frame. */
bool pools_stack_is_java(const struct pools *p, uint32_t stack);

/* Puts the checkpoint event with all pools, and begins with empty ones. */
void pools_put(struct pools *p, struct bytes *to, uint64_t start_ns);

#endif
