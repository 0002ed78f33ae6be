// SPDX-License-Identifier: Apache-2.0
/*
 * A heap dump: what holds what, and how much. An object is *held* if strong references lead to it from a root. The
 * *dominators* of an object are those that all ways from the roots to it have in common; what an object *retains* is
 * itself and all that it dominates: what would be free without it.
 */
#ifndef BRAID_HPROF_HEAP_H
#define BRAID_HPROF_HEAP_H

#include "dump.h"
#include "graph.h"

struct hprof_sum {
	uint64_t objects, bytes;
};

struct hprof {
	struct hprof_dump dump;
	struct graph graph;
	struct scratch class_of; /* u32, by number: index of the class */
	struct scratch size;	 /* u32, by number: in units of HPROF_UNIT */
	struct scratch trace_of; /* u32, by number: index + 1 of the stack that allocated it; empty: of no object */
	struct scratch retained; /* u64, by place: bytes */
	struct scratch below;	 /* u32, by place: the first of those that it dominates immediately; 0: none */
	struct scratch beside;	 /* u32, by place: the next that the same one dominates; 0: none */
	struct hprof_sum held;
	struct hprof_sum weakly;  /* that only soft, weak and phantom references and finalizers reach */
	struct hprof_sum garbage; /* that nothing reaches */
	uint64_t dangling;	  /* references to objects that the dump does not have */
};

#define HPROF_UNIT 8U

/*
 * Reads a dump, with at most `memory` bytes of arrays in memory. 0 or a negative errno, with the reason in h->dump.why.
 * hprof_close() is needed in either case.
 */
int hprof_open(struct hprof *h, const char *path, uint64_t memory);
void hprof_close(struct hprof *h);

static inline uint32_t hprof_object_at(const struct hprof *h, uint32_t place)
{
	return graph_u32(&h->graph.object)[place];
}

static inline uint64_t hprof_id_at(const struct hprof *h, uint32_t place)
{
	return hprof_objects(&h->dump)[hprof_object_at(h, place)].id;
}

static inline uint32_t hprof_class_at(const struct hprof *h, uint32_t place)
{
	return graph_u32(&h->class_of)[hprof_object_at(h, place)];
}

static inline uint64_t hprof_bytes_at(const struct hprof *h, uint32_t place)
{
	return (uint64_t)graph_u32(&h->size)[hprof_object_at(h, place)] * HPROF_UNIT;
}

static inline uint64_t hprof_retained_at(const struct hprof *h, uint32_t place)
{
	return graph_u64(&h->retained)[place];
}

#endif
