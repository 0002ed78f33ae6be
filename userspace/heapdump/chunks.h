// SPDX-License-Identifier: Apache-2.0
/*
 * Frames of virtual threads that are not mounted, which are in objects of jdk.internal.vm.StackChunk: words of the
 * stack behind the object's fields. HPROF has nothing for them, so a dump has an array of what they refer to, at the
 * address where the words begin, and a field of the chunk that refers to it.
 *
 * A collection that goes through a chunk makes a bitmap of its references (stackChunkOop.inline.hpp). Of a chunk
 * without one, which no collection has seen, every word that can be a reference counts.
 */
#ifndef BRAID_HEAPDUMP_CHUNKS_H
#define BRAID_HEAPDUMP_CHUNKS_H

#include "reach.h"

typedef void (*chunk_fn)(void *ctx, uint64_t object);

/* Calls back with each reference, which may be null or damaged. 0 or -ENOMEM. */
int chunk_each(struct reach *g, const struct class *k, uint64_t chunk, chunk_fn fn, void *ctx);

/* Of a chunk with this number of words of stack, the bytes of its bitmap, which has a bit for each reference, */
static inline uint64_t chunk_bitmap_bytes(const struct vm *vm, uint64_t words)
{
	return (words * (8 / vm_reference_bytes(vm)) + 63) / 64 * 8;
}

/* and all bytes behind its fields. */
static inline uint64_t chunk_bytes(const struct vm *vm, uint64_t words)
{
	return 8 * words + chunk_bitmap_bytes(vm, words);
}

/* The address of the array. */
static inline uint64_t chunk_frames(const struct class *k, uint64_t chunk)
{
	return chunk + k->size;
}

#endif
