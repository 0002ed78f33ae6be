// SPDX-License-Identifier: Apache-2.0
/*
 * A thread dump: one event for every thread of the target processes, with its stack and what it waits for. Nothing is
 * stopped. The stack of a thread that is off the CPU is unwound here from a copy; one that runs is sampled meanwhile.
 * session.c and samples.c call this.
 */
#ifndef BRAID_RECORD_DUMP_H
#define BRAID_RECORD_DUMP_H

#include "session.h"

struct dump;

int dump_new(struct dump **out, struct session *s);
void dump_free(struct dump *d);

/* To be called at each tick. It ends the recording when the dump is complete. `d` may be NULL, here and below. */
void dump_tick(struct dump *d, uint64_t now);

/* A sample of a thread was taken. */
void dump_sample(struct dump *d, const struct thread *thread, uint32_t node);

#endif
