// SPDX-License-Identifier: Apache-2.0
/* Prints what a heap dump has, as text and JSON. Each function returns 0 or a negative errno. */
#ifndef BRAID_REPORT_HPROF_H
#define BRAID_REPORT_HPROF_H

#include <stdio.h>

#include <hprof/by_root.h>
#include <hprof/holders.h>
#include <hprof/path.h>
#include <hprof/suspects.h>

struct hprof_report {
	const char *path; /* of the file */
	struct hprof *h;
	struct hprof_paths paths;
	struct hprof_suspects suspects;
	unsigned rows;
	unsigned levels;  /* of the tree of dominators */
	unsigned percent; /* the least share of a suspect */
};

int hprof_text(FILE *out, struct hprof_report *r);
int hprof_json(FILE *out, struct hprof_report *r);

/* What the roots retain, by root. */
int hprof_by_root_text(FILE *out, const struct hprof_report *r, const struct hprof_by_root *b);
int hprof_by_root_json(FILE *out, const struct hprof_report *r, const struct hprof_by_root *b);

/* Who holds the objects of a class. */
int hprof_holders_text(FILE *out, struct hprof_report *r, const char *class_name, const struct hprof_holders *f);
int hprof_holders_json(FILE *out, struct hprof_report *r, const char *class_name, const struct hprof_holders *f);

/* What holds the object at that place; 0: nothing does, of the object `number`. */
int hprof_path_text(FILE *out, struct hprof_report *r, uint32_t number);
int hprof_path_json(FILE *out, struct hprof_report *r, uint32_t number);

#endif
