// SPDX-License-Identifier: Apache-2.0
/* What differs between two recordings, as text and as JSON: `braid diff`. */
#ifndef BRAID_REPORT_DIFF_H
#define BRAID_REPORT_DIFF_H

#include <analyze/kinds.h>
#include <compare/diff.h>

#include "report.h"

struct diff_report {
	const struct diff *diff;
	const struct diff_options *options;
	const char *path[DIFF_SIDES];
	uint64_t duration_ns[DIFF_SIDES];
	const char *what;    /* "CPU time", "allocated", "cycles" */
	const char *row;     /* what a row is about: "method", "stack", "class" */
	enum kind_unit unit; /* of amounts; times are in ns */
	unsigned top;	     /* rows that are printed */
	bool all;	     /* also of methods that may differ by chance */
};

void diff_text(FILE *out, const struct diff_report *r);
void diff_json(FILE *out, const struct diff_report *r);

#endif
