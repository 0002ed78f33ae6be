// SPDX-License-Identifier: Apache-2.0
/* All thread dumps of a trace, and the deadlocks in them. The commands and the exports use it. */
#ifndef BRAID_DUMP_DUMPS_H
#define BRAID_DUMP_DUMPS_H

#include "dump.h"

#define DUMPS_DEADLOCKS_MAX 64 /* that are kept; further ones are counted */

/* The same threads wait for each other in one dump or more. */
struct dumps_deadlock {
	const struct dump_view *view; /* the first dump that has it */
	size_t number;		      /* there */
	uint64_t key;
	uint64_t last_ns;
	uint64_t dumps;
};

struct dumps {
	VEC(struct dump_row) rows; /* of all dumps, by time and process */
	VEC(struct dump_ref) refs; /* by time */
	VEC(struct dumps_deadlock) deadlocks;
	VEC(struct dump_view *) views; /* of those deadlocks */
	uint64_t more;		       /* deadlocks of single dumps that are not kept */
	size_t unread;		       /* dumps of which it is not known what threads wait for, or not of all */
};

/* The dumps that the analysis selects. 0 or -ENOMEM. */
int dumps_list(struct dumps *d, const struct analysis *an);
/* The same with the deadlocks. */
int dumps_new(struct dumps *d, const struct analysis *an);
void dumps_free(struct dumps *d);

/* The last dump of the process that began until then; `pid` 0: of any process. NULL: there is none. */
const struct dump_ref *dumps_at(const struct dumps *d, uint32_t pid, uint64_t until_ns);

#endif
