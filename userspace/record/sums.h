// SPDX-License-Identifier: Apache-2.0
/*
 * Times off the CPU that the kernel side has added up by thread, reason and stack: takes them out of its maps, and
 * emits them as COUNTED events with a stack. session.c calls this.
 */
#ifndef BRAID_RECORD_SUMS_H
#define BRAID_RECORD_SUMS_H

#include "session.h"

#include "util/vec.h"

/* What was added up of a process. */
struct sums_process {
	uint32_t process; /* trace id */
	uint32_t pid;
	uint64_t count, ns;
};

struct sums {
	struct session *session;
	uint64_t read_ns;
	VEC(struct sums_process) processes;
};

/* Reads what is complete, if it is time to. */
void sums_tick(struct sums *a, uint64_t now);
/* Reads all the rest, when the kernel side has stopped and its events have been read, and says of which processes. */
void sums_finish(struct sums *a);
/* Counts a sum for its process, of which sums_finish() says how much was added up. */
void sums_note(struct sums *a, const struct process *process, const struct braid_sum *sum);
void sums_free(struct sums *a);

#endif
