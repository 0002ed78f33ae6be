// SPDX-License-Identifier: Apache-2.0
/*
 * Measures how full a JVM's code heaps are, in its memory. It emits one CODE_CACHE event for each heap whose use has
 * changed. jvm_code.c calls code_cache_tick().
 */
#ifndef BRAID_JVM_CODE_CACHE_H
#define BRAID_JVM_CODE_CACHE_H

#include "hotspot/hotspot.h"

struct jvm;

/* State for one JVM. It starts zeroed. */
struct code_cache {
	uint64_t due_ns;		    /* time of the next measurement */
	uint64_t changes;		    /* code loads and unloads at the last measurement */
	uint64_t emitted[BRAID_CODE_HEAPS]; /* bytes used */
	bool any;
};

/*
 * Measures the bytes of blocks in use in a code heap, as the VM counts them (CodeHeap::allocated_capacity()). `length`
 * and `used` are offsets in a HeapBlock::Header. `read` may be called with unmapped addresses. -E2BIG: more blocks than
 * any JVM has.
 */
int code_cache_measure(const struct braid_code_heap *h, uint16_t length, uint16_t used, hotspot_read_fn read, void *ctx,
		       uint64_t *bytes);

void code_cache_tick(struct jvm *j, uint64_t time_ns, bool final);

#endif
