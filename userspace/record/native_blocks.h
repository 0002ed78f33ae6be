// SPDX-License-Identifier: Apache-2.0
/*
 * Native allocations of allocators that report their own samples: which of them were not freed. The kernel side follows
 * them, and emits each as it is allocated.
 */
#ifndef BRAID_RECORD_NATIVE_BLOCKS_H
#define BRAID_RECORD_NATIVE_BLOCKS_H

#include "session.h"

#include <braid/control.h>

/* Emits what is not freed now, of one process or, for 0, of all. */
void native_blocks_emit(struct session *s, pid_t pid);

/*
 * A program has ended: what it has not freed is emitted, and makes room for others, at the next tick, as thousands may
 * end at a time.
 */
void native_blocks_ended(struct session *s);
void native_blocks_tick(struct session *s);

/* The commands `reset` and `dump` for a process that is no JVM. False: they mean nothing for it. */
bool native_blocks_command(struct session *s, pid_t pid, enum braid_control_verb verb);

/* Whether the recording follows such allocations. */
bool native_blocks_followed(const struct record_options *o);

#endif
