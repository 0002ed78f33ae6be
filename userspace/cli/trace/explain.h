// SPDX-License-Identifier: Apache-2.0
/* What the files of `braid explain` share: explain.c has its options and finds threads. */
#ifndef BRAID_CLI_TRACE_EXPLAIN_H
#define BRAID_CLI_TRACE_EXPLAIN_H

#include <report/explain.h>

#include "cli/common.h"

struct explain_options {
	const char *file, *thread;
	struct filter stretch;	  /* its --from and --to */
	struct filter against;	  /* the same of --against, if it has_from */
	const char *against_text; /* as written: its times, or a span's id */
	uint64_t against_span;
	struct filter filter; /* of the analysis: without a window, because reasons may be anywhere */
	struct filter span;   /* its id, or what it has */
	unsigned slowest;     /* spans */
	bool diff;
	struct what_if what_if;
	unsigned top;
	bool json;
};

/* ---- explain_output.c: each prints, and returns 0 or -ENOMEM; *ok false: what is asked for is not there, as it says ---- */

int explain_print(struct explain_options *o, struct timeline *tl, const struct stretch *s, bool *ok);
/* typical_of: of so many spans `against` is the typical one; 0: it was asked for. */
int explain_print_diff(const struct explain_options *o, struct timeline *tl, const struct stretch *s,
		       const struct stretch *against, size_t typical_of);

/* ---- explain_spans.c ---- */

int explain_print_spans(struct explain_options *o, const char *path, struct wall *w, bool *ok);

#endif
