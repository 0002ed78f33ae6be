// SPDX-License-Identifier: Apache-2.0
/* The bytes of heap in use, read from the VM's structures. gc.c calls it inside stop-the-world pauses. */
#ifndef BRAID_AGENT_HEAP_H
#define BRAID_AGENT_HEAP_H

#include <stdbool.h>
#include <stdint.h>

enum heap_kind {
	HEAP_UNKNOWN, /* includes CMS: the tables have no count of its old generation */
	HEAP_SERIAL,
	HEAP_PARALLEL,
	HEAP_G1, /* without the objects in the region that is being filled */
	HEAP_Z,
	HEAP_Z_OLD, /* the non-generational one, in JDKs with both */
	HEAP_SHENANDOAH,
};

/* Reads the tables; once per process. */
void heap_open(void *libjvm);

/* Called once the heap exists. True if all fields are there and readable; none of them moves afterwards. */
bool heap_choose(enum heap_kind kind);

/* Bytes; 0: not known. It neither allocates nor locks. */
uint64_t heap_used(void);

#endif
