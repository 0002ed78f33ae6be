// SPDX-License-Identifier: Apache-2.0
/* The virtual threads of a thread dump, a part at each tick. dump.c uses this. */
#ifndef BRAID_RECORD_DUMP_VIRTUAL_H
#define BRAID_RECORD_DUMP_VIRTUAL_H

#include "session.h"

struct dump_virtual;

/* Begins with those of a process; *out is NULL if it has none. 0 or -ENOMEM. */
int dump_virtual_new(struct dump_virtual **out, struct session *s, struct dump *dump, struct process *process,
		     uint64_t dump_ns);
void dump_virtual_free(struct dump_virtual *d);

bool dump_virtual_is_of(const struct dump_virtual *d, const struct process *process);

/* Reads for about `limit_ns`. True when all has been read. */
bool dump_virtual_read(struct dump_virtual *d, uint64_t limit_ns);

/*
 * Looks again, for about `limit_ns`, at threads that wait for what others own: these are owned for certain if nothing
 * has changed. True when it has seen all.
 */
bool dump_virtual_again(struct dump_virtual *d, uint64_t limit_ns);

/* Emits what is left, and says what is missing. */
void dump_virtual_finish(struct dump_virtual *d);

#endif
