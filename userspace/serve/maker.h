// SPDX-License-Identifier: Apache-2.0
/*
 * A process that makes data: one at a time, with limits. What a strange trace makes it do ends with it, and its memory
 * is given back.
 */
#ifndef BRAID_SERVE_MAKER_H
#define BRAID_SERVE_MAKER_H

#include "data.h"

#include <sys/types.h>

#define MAKER_MEMORY (2ULL << 30)  /* bytes of its own */
#define MAKER_OUTPUT (512UL << 20) /* bytes of data */

struct maker_result {
	int err;
	struct data_facts facts;
	uint64_t cpu_ns;
	uint64_t memory_bytes; /* at most, at any time */
};

struct maker {
	pid_t pid; /* 0: none */
	int fd;	   /* what it writes to */
	int floor; /* descriptors above this one are none of its business */
	struct maker_result *result;
};

/*
 * 0 or a negative errno; maker_close() then. The process has no descriptors that are opened after this: a connection is
 * not kept open by it.
 */
int maker_open(struct maker *m);
int maker_start(struct maker *m, const struct data_request *request);
/*
 * Whether it has ended by now. If so, *fd is its data, which the caller closes, or -1, and *result says what they are;
 * an end by a signal is -ENOMEM.
 */
bool maker_ended(struct maker *m, int *fd, struct maker_result *result);
/* Ends it. */
void maker_close(struct maker *m);

#endif
