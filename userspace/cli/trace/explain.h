// SPDX-License-Identifier: Apache-2.0
/* What the files of `braid explain` share: explain.c has its options. */
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
	struct idle_options idle;
	struct filter span; /* its id, or what it has */
	unsigned slowest;   /* spans */
	bool diff;
	struct what_if what_if;
	unsigned top;
	bool json;
};

/* ---- explain_output.c ---- */

/* Each prints, and returns 0 or -ENOMEM; *ok false: what is asked for is not there, as it says. */
int explain_print(struct explain_options *o, struct timeline *tl, const struct stretch *s, bool *ok);
/* typical_of: of so many spans `against` is the typical one; 0: it was asked for. */
int explain_print_diff(const struct explain_options *o, struct timeline *tl, const struct stretch *s,
		       const struct stretch *against, size_t typical_of);

/* ---- explain_thread.c ---- */

/*
 * The one thread of that name or number that has times; a virtual one if no other is called so. ROW_NONE: there is
 * none, or several, which is reported. `window`: a thread that has times in it is preferred; NULL: any.
 */
int explain_find_thread(struct wall *w, const char *path, const char *thread, const struct window *window,
			uint32_t *found);

/* ---- explain_spans.c ---- */

int explain_print_spans(struct explain_options *o, const char *path, struct wall *w, bool *ok);

#endif
