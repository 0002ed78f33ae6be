// SPDX-License-Identifier: Apache-2.0
/*
 * Stacks of virtual threads that have been walked before. Most threads of a program are parked in few places, and then
 * what a walk reads of their frames is the same; it need not be walked again. frozen.c uses this.
 */
#ifndef BRAID_RECORD_FROZEN_KNOWN_H
#define BRAID_RECORD_FROZEN_KNOWN_H

#include "hotspot/virtual.h"

struct frozen_known;

/* `fields` are the bytes of a chunk's fields. NULL: there is no memory. */
struct frozen_known *frozen_known_new(uint32_t fields);
void frozen_known_free(struct frozen_known *k);

/*
 * The node of a stack of which all that its walk has read is in this chunk, too, at the same places. 0: there is none,
 * and what the walk of this one reads is to be noted.
 */
uint32_t frozen_known_node(struct frozen_known *k, const struct virtual_chunk *c);

/* The walk has read `size` bytes of the chunk, at this address. */
void frozen_known_note(struct frozen_known *k, const struct virtual_chunk *c, uint64_t address, uint32_t size);

/* The walk has ended, with this node; 0: the stack is not to be known. */
void frozen_known_end(struct frozen_known *k, uint32_t node);

#endif
