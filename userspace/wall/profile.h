// SPDX-License-Identifier: Apache-2.0
/*
 * Where the time of threads went, as stacks: those of the samples, scaled to the time that each thread ran, and those
 * on which threads were off the CPU, with what they waited for as the last frame.
 */
#ifndef BRAID_WALL_PROFILE_H
#define BRAID_WALL_PROFILE_H

#include "wall.h"

/* The weights are ns, and their sum is that of the threads' lives, and of the times for which virtual threads were
 * unmounted. 0 or -ENOMEM. `idle`: with that of idle threads. */
int wall_profile(const struct wall *w, bool idle, struct profile *p);

#endif
