// SPDX-License-Identifier: Apache-2.0
/* Rows of a query as text. run.c uses it. */
#ifndef BRAID_QUERY_OUTPUT_H
#define BRAID_QUERY_OUTPUT_H

#include <sqlite3.h>
#include <stdio.h>

#include "query.h"

struct output;

/* 0 or -ENOMEM; *made is then NULL. */
int output_begin(struct output **made, FILE *out, sqlite3_stmt *s, enum query_format format);
/* Takes the statement's row. 0 or -ENOMEM. */
int output_row(struct output *o);
/* Writes what is left, unless there was an error, and frees. Returns `err`, or its own. `o` may be NULL. */
int output_end(struct output *o, int err);

#endif
