// SPDX-License-Identifier: Apache-2.0
/* Which pages of a process are in RAM, and which of them were not before. */
#ifndef BRAID_RESIDENT_PAGES_H
#define BRAID_RESIDENT_PAGES_H

#include "resident.h"

/* Addresses, of whole pages. */
struct page_run {
	uint64_t start, end;
};

struct page_runs {
	VEC(struct page_run) all; /* by address, not overlapping */
};

/* The pages of a process that has been read just before. 0, or a negative errno: -ESRCH, -EACCES, -ENOMEM, -EFBIG. */
int page_runs_read(struct page_runs *to, const struct resident *r);

/* Those of `after` that are not in `before`. 0 or -ENOMEM. */
int page_runs_new(struct page_runs *to, const struct page_runs *before, const struct page_runs *after);
void page_runs_free(struct page_runs *p);

#endif
