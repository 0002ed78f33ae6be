// SPDX-License-Identifier: Apache-2.0
/*
 * The recording's output on standard error: a progress line, a summary at the end and the message when the trace cannot
 * be written. session.c calls this.
 */
#ifndef BRAID_RECORD_SUMMARY_H
#define BRAID_RECORD_SUMMARY_H

#include "session.h"

struct summary {
	bool progress;	    /* show a progress line */
	uint64_t start_ns;  /* begin of sampling */
	uint64_t began_cpu; /* CPU time used by then */
	uint64_t shown_ns, shown_cpu;
};

uint64_t own_cpu_ns(void);

void summary_start(struct summary *p, bool progress, uint64_t now);

/* Updates the progress line at most once a second. */
void summary_progress(struct summary *p, struct session *s, uint64_t now);

/* `walk_ns`: CPU time of the eBPF programs. */
void summary_print(const struct summary *p, struct session *s, uint64_t walk_ns);

/* Reports why the trace can no longer be written, and what is left of it. */
void summary_failure(struct session *s, int err);

#endif
