// SPDX-License-Identifier: Apache-2.0
/* How a recording does, on standard error: a line that is renewed, and what is said at its end. */
#ifndef BRAID_RECORD_SUMMARY_H
#define BRAID_RECORD_SUMMARY_H

#include "session.h"

struct summary {
	bool progress;	    /* renew the line */
	uint64_t start_ns;  /* sampling has begun */
	uint64_t began_cpu; /* what the start took */
	uint64_t shown_ns, shown_cpu;
};

uint64_t own_cpu_ns(void);

void summary_start(struct summary *p, bool progress, uint64_t now);

/* Renews the line, once a second. */
void summary_progress(struct summary *p, struct session *s, uint64_t now);

/* `walk_ns`: what the eBPF programs took. */
void summary_print(const struct summary *p, struct session *s, uint64_t walk_ns);

/* The trace cannot be written any more: why, and what of it there is. */
void summary_failure(struct session *s, int err);

#endif
