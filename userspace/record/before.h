// SPDX-License-Identifier: Apache-2.0
/*
 * Threads that have been off the CPU since before they were followed. They walk their stacks when they come back, which
 * takes a program at each switch of the machine. So when nothing else needs that program, they are walked here, as
 * those that sleep when the recording ends. session.c and its neighbours call this.
 */
#ifndef BRAID_RECORD_BEFORE_H
#define BRAID_RECORD_BEFORE_H

#include "asleep.h"

struct before;

int before_new(struct before **out, struct session *s);
void before_free(struct before *b);

/* To be called at each tick. Walks take a part of it at most. */
void before_tick(struct before *b);

/* What is known of a thread whose current or last time off the CPU has BRAID_OFFCPU_BEFORE. */
struct asleep_known before_known(const struct before *b, const struct process *process, uint32_t tid);

#endif
