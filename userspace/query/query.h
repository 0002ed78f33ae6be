// SPDX-License-Identifier: Apache-2.0
/*
 * Questions in SQL about a trace. SQLite sees the trace as virtual tables (table.h) and as views on them; nothing is
 * copied. Queries read only: no other file, no extension, and a bounded memory.
 */
#ifndef BRAID_QUERY_QUERY_H
#define BRAID_QUERY_QUERY_H

#include <stdint.h>
#include <stdio.h>

#include <analyze/analysis.h>
#include <trace/trace.h>

struct query;

/* What a query reads. All of it must outlive the query. */
struct query_input {
	const struct analysis *an;
	const struct trace_reader *reader; /* has read all of the trace */
	uint64_t file_bytes;
};

/*
 * 0, a negative errno, or 1, see query_why(); *out is to be closed in any case. `memory_bytes` is what SQLite may use;
 * more makes queries fail.
 */
int query_open(struct query **out, const struct query_input *in, uint64_t memory_bytes);
void query_close(struct query *q);

enum query_format { QUERY_TABLE, QUERY_CSV, QUERY_TSV, QUERY_JSON };

/*
 * Writes the rows of one SELECT. 0; a negative errno: the output's or memory's; 1: the query is wrong, or failed, and
 * query_why() says why.
 */
int query_run(struct query *q, FILE *out, const char *sql, enum query_format format);
const char *query_why(const struct query *q);

/* Prints the tables and views with their columns. 0 or -ENOMEM. */
int query_schema(FILE *out);

/* Prints the ready queries. */
void query_list(FILE *out);

/* The SQL of a ready query, to be freed; NULL: there is none of that name, or no memory. */
char *query_named(const char *name);

/*
 * Writes all tables and views to an SQLite file, which is empty before. 0, a negative errno, or 1, see query_why();
 * *out is to be closed in any case, and the file is whole only then.
 */
int query_export(struct query **out, const char *path, const struct query_input *in);

#endif
