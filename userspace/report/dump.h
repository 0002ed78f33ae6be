// SPDX-License-Identifier: Apache-2.0
/* Thread dumps as text and JSON; cli/threads.c calls them. */
#ifndef BRAID_REPORT_DUMP_H
#define BRAID_REPORT_DUMP_H

#include <stdbool.h>
#include <stdio.h>

#include <dump/dump.h>

struct dump_style {
	bool all;	/* every thread by itself */
	bool deadlocks; /* nothing but deadlocks */
};

void dump_text(FILE *out, const struct dump_view *v, const struct dump_style *style);
void dump_json(FILE *out, const struct dump_view *v, const struct dump_style *style);

#endif
