// SPDX-License-Identifier: Apache-2.0
/* How full a JVM's code heaps are, measured in its memory: CODE_CACHE events, one a heap, when that has changed. */
#ifndef BRAID_JVM_CODE_CACHE_H
#define BRAID_JVM_CODE_CACHE_H

#include "hotspot/hotspot.h"

struct jvm;

/* Of one JVM; zeroes at first. */
struct code_cache {
	uint64_t due_ns;		    /* not measured again before */
	uint64_t changes;		    /* code loaded and unloaded by then */
	uint64_t emitted[BRAID_CODE_HEAPS]; /* bytes used */
	bool any;
};

/*
 * Bytes of blocks in use in a code heap, as the VM itself counts them (CodeHeap::allocated_capacity()); `length` and
 * `used` are offsets in a HeapBlock::Header. `read` may be called with addresses that are not there. -E2BIG:
 * no JVM has that many blocks.
 */
int code_cache_measure(const struct braid_code_heap *h, uint16_t length, uint16_t used, hotspot_read_fn read, void *ctx,
		       uint64_t *bytes);

void code_cache_tick(struct jvm *j, uint64_t time_ns, bool final);

#endif
