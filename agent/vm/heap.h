// SPDX-License-Identifier: Apache-2.0
/* How much of the heap is in use, by the VM's own tables: for handlers inside a pause. */
#ifndef BRAID_AGENT_HEAP_H
#define BRAID_AGENT_HEAP_H

#include <stdbool.h>
#include <stdint.h>

enum heap_kind {
	HEAP_UNKNOWN, /* CMS among them: its old generation keeps no count that the tables tell of */
	HEAP_SERIAL,
	HEAP_PARALLEL,
	HEAP_G1, /* without what was allocated in the region that is being filled */
	HEAP_Z,
	HEAP_Z_OLD, /* the one without generations, where both are there */
	HEAP_SHENANDOAH,
};

/* Where the VM says that things are; once per process. */
void heap_open(void *libjvm);

/* Once the heap exists: looks whether all that is needed is there and can be read. Nothing in it moves afterwards. */
bool heap_choose(enum heap_kind kind);

/* Bytes; 0: not known. Allocates nothing, locks nothing. */
uint64_t heap_used(void);

#endif
