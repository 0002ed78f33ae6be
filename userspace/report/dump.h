// SPDX-License-Identifier: Apache-2.0
/* Thread dumps as text and JSON: one of them for cli/process/threads.c, what there are in a trace for report.c. */
#ifndef BRAID_REPORT_DUMP_H
#define BRAID_REPORT_DUMP_H

#include <stdbool.h>
#include <stdio.h>

#include <views/views.h>
#include <dump/dumps.h>
#include <dump/owned.h>

#include <util/json.h>

struct dump_style {
	bool all;		   /* every thread by itself */
	bool deadlocks;		   /* nothing but deadlocks */
	bool at;		   /* when it began */
	const struct owned *owned; /* the monitors that threads own; NULL: not asked for */
};

void dump_text(FILE *out, const struct dump_view *v, const struct dump_style *style);
void dump_json(FILE *out, const struct dump_view *v, const struct dump_style *style);

/* The monitors that a thread owns: their count, and the first in *first. 0 if they were not asked for. */
size_t dump_owned(const struct dump_view *v, const struct dump_style *style, const struct dump_thread *t,
		  const struct owned_lock **first);

/* A line for each thread of a deadlock. */
void dump_deadlock_text(FILE *out, const struct dump_view *v, size_t number, bool stacks);
void dump_deadlock_json(struct json *j, const char *key, const struct dump_view *v, size_t number, bool stacks);

/* ---- dumps.c: nothing, if the trace has no dumps ---- */
void text_dumps(FILE *out, const struct views *v);
void json_dumps(struct json *j, const struct views *v);
/* The same as text_dumps() of dumps that are known. */
void text_known_dumps(FILE *out, const struct views *v, const struct dumps *d);

#endif
