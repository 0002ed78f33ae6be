// SPDX-License-Identifier: Apache-2.0
/* Which thread ran on a CPU, by the CPUs that times off the CPU left and came back to, and by samples. */
#ifndef BRAID_WALL_RUNS_H
#define BRAID_WALL_RUNS_H

#include <util/vec.h>

#include "wall.h"

/*
 * A thread on a CPU, from and until times at which it is known to have been there. Short times off the CPU may be in
 * between.
 */
struct wall_run {
	uint32_t cpu, thread; /* thread: index of wall->threads */
	uint64_t start_ns, end_ns;
};

typedef VEC(struct wall_run) wall_runs;

/*
 * Appends all of them, by CPU and time, without overlaps; `samples`: also those that only samples show, from the first
 * of these to the last. The wall has no window. 0 or -ENOMEM.
 */
int wall_runs_find(const struct wall *w, bool samples, wall_runs *to);

/* The CPU that a thread came back to at the end of its time off the CPU; UINT32_MAX: not known. */
uint32_t wall_run_cpu(const struct jvm_event_row *row);

#endif
