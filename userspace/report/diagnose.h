// SPDX-License-Identifier: Apache-2.0
/* What is wrong in a recording, as text and as JSON. `braid diagnose` and the report's first lines print it. */
#ifndef BRAID_REPORT_DIAGNOSE_H
#define BRAID_REPORT_DIAGNOSE_H

#include <stdio.h>

#include <diagnose/diagnose.h>

/* `path` is the trace's, for the commands to look closer. */
void diagnosis_text(FILE *out, const struct diagnosis *d, const char *path);
void diagnosis_json(FILE *out, const struct diagnosis *d, const char *path);

/*
 * The worst finding, what looks closer, and the names of others: lines of the report's summary, and how many they are.
 */
void diagnosis_lines(FILE *out, const struct diagnosis *d, const char *path);
size_t diagnosis_line_count(const struct diagnosis *d);

/* The table of all rules. */
void rules_text(FILE *out);
void rules_json(FILE *out);

#endif
