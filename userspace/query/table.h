// SPDX-License-Identifier: Apache-2.0
/*
 * The tables of a query: their columns, what each says, and where the rows come from. Virtual tables, the schema that
 * --schema prints and the files of `export --format sqlite` are made from them, so each fact has one place. Rows are
 * made when they are asked for, from an analysis or from the trace's blocks.
 */
#ifndef BRAID_QUERY_TABLE_H
#define BRAID_QUERY_TABLE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <analyze/events.h>
#include <views/views.h>
#include <trace/trace.h>

#include "query.h"

/* What a scan can be limited by: conditions of a query that the rows' source evaluates. */
enum query_role {
	ROLE_NONE,
	ROLE_TIME,   /* a range, since the recording's start */
	ROLE_KEY,    /* the id of the row itself */
	ROLE_THREAD, /* an id */
	ROLE_STACK,  /* an id */
	ROLE_DEPTH,  /* of a frame */
	ROLES,
};

struct query_limits {
	int64_t from_ns, to_ns; /* since the start, inclusive */
	bool has[ROLES];
	int64_t equal[ROLES];
};

struct query_cursor;
struct query_column;

/* Gives the value of a column in the cursor's row to SQLite. */
typedef void (*query_get_fn)(sqlite3_context *to, const struct query_cursor *c, const struct query_column *col);

struct query_column {
	const char *name;
	const char *type; /* "INTEGER" or "TEXT" */
	enum query_role role;
	query_get_fn get;
	const char *about;
	uint32_t mask; /* of a flag: its bits */
};

struct query_table;
struct query;

struct query_rows {
	/* The number of rows, or an estimate of it. */
	uint64_t (*count)(const struct query *q, const struct query_table *t);
	/* Positions the cursor in front of the first row that its limits let through. 0 or a negative errno. */
	int (*begin)(struct query_cursor *c);
	/* 1: the cursor has a row, 0: at the end, or a negative errno. Rows beyond the limits may come, too. */
	int (*next)(struct query_cursor *c);
	bool by_time;  /* rows come in the order of their times */
	bool by_stack; /* those of a stack are found at once */
};

#define QUERY_COLUMNS_MAX 40

struct query_table {
	const char *name;
	const char *about;
	const struct query_rows *rows;
	const struct query_column *columns;
	size_t count;
	size_t of;     /* where struct analyzer has the table whose rows these are, or belong to; see TABLE_OF */
	uint32_t kind; /* of events, 0: of all kinds */
};

struct query_cursor {
	sqlite3_vtab_cursor base; /* first, for SQLite */
	const struct query *query;
	const struct query_table *table;
	struct query_limits limits;
	bool ended;
	int64_t row; /* number of the row in this scan */
	size_t at, end;
	struct event event;
	struct stack_sums_cursor sums;
	const struct stack_sum *sum;
	uint32_t stack, next_stack; /* rows of a->nodes */
	uint32_t xframe;
	uint32_t depth;
	uint32_t left; /* xframes of the node */
	struct trace_reader *reader;
	struct trace_rec rec;
};

/* An event, by time. */
struct query_event {
	uint64_t time_ns;
	size_t number; /* for events_get_summed() */
};

typedef VEC(struct query_event) query_event_list;

/* Made when a table of events is used first. */
struct query_index {
	bool made;
	int err;				  /* of making it */
	query_event_list kinds[BRAID_JVM_EVENTS]; /* by time; 0: of all kinds */
};

struct query {
	sqlite3 *db;
	const struct analysis *an;
	struct loss_views losses;
	const struct trace_reader *reader;
	uint64_t file_bytes;
	VEC(struct query_table) tables;
	VEC(struct query_column *) columns; /* of the tables of event kinds */
	VEC(char *) names;		    /* of these */
	struct query_index *index;	    /* of events */
	char *why;			    /* of the last error; NULL: none */
};

/* ---- schema.c ---- */

/* Fills q->tables. 0 or -ENOMEM. */
int query_tables(struct query *q);
int query_add_tables(struct query *q, const struct query_table *tables, size_t count);
void query_tables_free(struct query *q);

/* "CREATE TABLE name(...)", to be freed by sqlite3_free(); NULL: no memory. */
char *query_declaration(const struct query_table *t);

/* Runs SQL of this program's own, made as sqlite3_mprintf() does. 0, -ENOMEM or 1, see query_why(). */
int query_execute(struct query *q, const char *format, ...);

/* Makes the tables in `database`, as views on the trace, and the views in the main one. As query_execute(). */
int query_make_tables(struct query *q, const char *database);
int query_make_views(struct query *q);

/* ---- one for each group of tables; each adds its tables. 0 or -ENOMEM ---- */

int query_definitions(struct query *q);
int query_facts(struct query *q);
int query_stacks(struct query *q);
int query_samples(struct query *q);
int query_events(struct query *q);

/* ---- run.c ---- */

/* A query on the SQLite file `path`, with the module and q->tables. On failure *out is to be closed, too. */
int query_new(struct query **out, const struct query_input *in, const char *path);

/* ---- vtab.c ---- */

/* Registers the module `braid`: CREATE VIRTUAL TABLE x USING braid(table). 0 or -ENOMEM. */
int query_vtab_register(struct query *q);

/* ---- tables and their columns ---- */

/* A table `name` whose columns are in the array of this name. */
#define TABLE_OF(name, about, rows, member)                                                                            \
	{                                                                                                              \
#name, about, rows, name, sizeof(name) / sizeof((name)[0]), offsetof(struct analyzer, member), 0       \
	}
#define TABLE(name, about, rows)                                                                                       \
	{                                                                                                              \
#name, about, rows, name, sizeof(name) / sizeof((name)[0]), 0, 0                                       \
	}

#define LIMITED(name, role, get, about)                                                                                \
	{                                                                                                              \
		name, "INTEGER", role, get, about, 0                                                                   \
	}
#define INTEGER(name, get, about) LIMITED(name, ROLE_NONE, get, about)
#define TEXT(name, get, about)                                                                                         \
	{                                                                                                              \
		name, "TEXT", ROLE_NONE, get, about, 0                                                                 \
	}

/* Defines a query_get_fn by what it does with its arguments `to`, `c` and `col`. */
#define GETTER(name, ...)                                                                                              \
	static void name(sqlite3_context *to, const struct query_cursor *c, const struct query_column *col)            \
	{                                                                                                              \
		(void)c;                                                                                               \
		(void)col;                                                                                             \
		__VA_ARGS__;                                                                                           \
	}

static inline const struct table *query_table_at(const struct analyzer *a, const struct query_table *t)
{
	return (const void *)((const char *)a + t->of);
}

static inline const struct table *query_table_of(const struct query_cursor *c)
{
	return query_table_at(c->query->an->a, c->table);
}

/* ---- values ---- */

static inline void put_number(sqlite3_context *to, uint64_t n)
{
	sqlite3_result_int64(to, n > INT64_MAX ? INT64_MAX : (int64_t)n);
}

/* What identifies something and may have all 64 bits; 0: NULL. */
static inline void put_id(sqlite3_context *to, uint64_t id)
{
	if (id)
		sqlite3_result_int64(to, (int64_t)id);
}

/* Text that lives as long as the query; empty: NULL. */
static inline void put_text(sqlite3_context *to, const char *text)
{
	if (*text)
		sqlite3_result_text(to, text, -1, SQLITE_STATIC);
}

/* A string of the analyzer. */
static inline void put_string(sqlite3_context *to, const struct query_cursor *c, uint32_t id)
{
	put_text(to, strpool_get(&c->query->an->a->strings, id));
}

/* The time since the recording's start, negative before it. */
static inline int64_t query_since(const struct query *q, uint64_t time_ns)
{
	return (int64_t)(time_ns - q->an->start_ns);
}

/* The same; a time that is 0 is not known. */
static inline void put_time(sqlite3_context *to, const struct query_cursor *c, uint64_t time_ns)
{
	if (time_ns)
		sqlite3_result_int64(to, query_since(c->query, time_ns));
}

/* The id of a row of a table; ROW_NONE: 0. */
static inline uint32_t query_id(const struct table *t, uint32_t row)
{
	return row == ROW_NONE ? 0 : t->ids[row];
}

static inline void put_row(sqlite3_context *to, const struct table *t, uint32_t row)
{
	put_id(to, query_id(t, row));
}

/* ---- scans of what has rows from 0 on ---- */

static inline int query_next_at(struct query_cursor *c)
{
	return ++c->at < c->end;
}

/* Lets query_next_at() go from `first` until `end`. */
static inline void query_from_to(struct query_cursor *c, size_t first, size_t end)
{
	c->at = first - 1;
	c->end = end;
}

/* The same for all rows of `t`, or for the one whose id the limit of this role is. */
static inline void query_from_table(struct query_cursor *c, const struct table *t, enum query_role role)
{
	int64_t id = c->limits.equal[role];
	size_t row = id > 0 && id <= UINT32_MAX ? table_find(t, (uint32_t)id) : TABLE_NONE;

	if (!c->limits.has[role])
		query_from_to(c, 0, t->count);
	else if (row == TABLE_NONE)
		query_from_to(c, 0, 0);
	else
		query_from_to(c, row, row + 1);
}

#endif
