// SPDX-License-Identifier: Apache-2.0
/*
 * `braid memory --watch --stacks`: whose stacks made the pages that a resident set has grown by. A page comes with a
 * page fault, which a recording has with its stack, in mappings of any owner and any age.
 */
#ifndef BRAID_CLI_MEMORY_STACKS_H
#define BRAID_CLI_MEMORY_STACKS_H

#include "snapshot.h"

#include "analyze/hash.h"
#include "resident/pages.h"
#include "util/json.h"

/* The last fault at a page. */
struct page_fault {
	uint64_t address; /* of the page */
	uint64_t bytes;	  /* new ones: of this page, and of those near it whose own fault is not known */
	const char *owner;
	uint32_t node; /* its stack's leaf; 0: none */
};

/* New pages of one owner and one stack, or one site. */
struct page_sum {
	const char *owner;
	uint64_t key;	/* equal for equal stacks, or sites */
	uint32_t stack; /* row, of a site one of them; ROW_NONE: none was recorded */
	uint64_t bytes;
};

struct page_sums {
	VEC(struct page_sum) all; /* the largest first */
	struct u64map of;	  /* owner and key to index + 1, until they are sorted */
};

struct memory_stacks {
	struct snapshot snapshot;
	/*
	 * Reads the process when all is recorded, and before the recording ends. NULL ends it: a message has said why.
	 * The second reading has to stay as it is.
	 */
	const struct resident *(*read)(void *ctx, bool begins);
	const struct resident *after;
	void *ctx;
	struct page_runs before, fresh; /* fresh: that have come since */
	VEC(struct page_fault) faults;
	struct u64map fault_of; /* page to index + 1, while it is recorded */
	uint32_t process;	/* id */
	uint64_t left_out;	/* faults at more pages than are kept */
	int err;
	struct page_sums sites, stacks;
	uint64_t bytes, named; /* of the new pages: all, and those with a stack */
	uint64_t near;	       /* of these, with the stack of a page near them */
};

/* Records until `watch_ns` has passed, or the user interrupts. False: a message has said why. */
bool memory_stacks_record(struct memory_stacks *s, pid_t pid, uint64_t watch_ns, bool attach);

void memory_stacks_text(const struct memory_stacks *s);
void memory_stacks_json(const struct memory_stacks *s, struct json *j);
void memory_stacks_free(struct memory_stacks *s);

#endif
