// SPDX-License-Identifier: Apache-2.0
/*
 * The stack of a virtual thread that no carrier runs, from a copy of its frames in the heap (hotspot/virtual.h).
 * dump_virtual.c uses this.
 */
#ifndef BRAID_RECORD_FROZEN_H
#define BRAID_RECORD_FROZEN_H

#include "session.h"
#include "hotspot/virtual.h"

struct frozen_walk; /* the memory of one walk after the other */

/* The layout and the reader must live as long. 0 or -ENOMEM. */
int frozen_walk_new(struct frozen_walk **out, struct session *s, struct process *process, const struct braid_layout *l);
void frozen_walk_free(struct frozen_walk *w);

/* The node of the thread's stack; 0: it has no frames. */
uint32_t frozen_node(struct frozen_walk *w, const struct virtual_thread *t, uint64_t time_ns);

#endif
