// SPDX-License-Identifier: Apache-2.0
/* Opens the database of a query, locks it up, and runs one SELECT. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "query.h"
#include "table.h"

/* What a query may do. SQLite has no functions that read files unless an extension brings them. */
static int authorize(void *ctx, int action, const char *first, const char *second, const char *database,
		     const char *trigger)
{
	static const char *const pragmas[] = {"table_info", "table_xinfo"};

	(void)ctx;
	(void)database;
	(void)trigger;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return strcmp(second, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
	case SQLITE_PRAGMA:
		for (size_t i = 0; i < sizeof(pragmas) / sizeof(pragmas[0]); i++)
			if (strcmp(first, pragmas[i]) == 0)
				return SQLITE_OK;
		return SQLITE_DENY;
	default:
		return SQLITE_DENY;
	}
}

#define TEXT_BYTES_MAX (16 << 20) /* of one value */
#define SQL_BYTES_MAX (1 << 20)
#define DEPTH_MAX 200 /* of an expression, which SQLite evaluates on the C stack */

static int lock_up(struct query *q)
{
	static const struct {
		int limit, value;
	} limits[] = {
		{SQLITE_LIMIT_LENGTH, TEXT_BYTES_MAX},	  {SQLITE_LIMIT_SQL_LENGTH, SQL_BYTES_MAX},
		{SQLITE_LIMIT_EXPR_DEPTH, DEPTH_MAX},	  {SQLITE_LIMIT_ATTACHED, 0},
		{SQLITE_LIMIT_WORKER_THREADS, 0},	  {SQLITE_LIMIT_TRIGGER_DEPTH, 0},
		{SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
	};
	static const struct {
		int option, value;
	} options[] = {
		{SQLITE_DBCONFIG_DEFENSIVE, 1},
		{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
		{SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
		{SQLITE_DBCONFIG_DQS_DML, 0},
		{SQLITE_DBCONFIG_DQS_DDL, 0},
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		sqlite3_limit(q->db, limits[i].limit, limits[i].value);
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (sqlite3_db_config(q->db, options[i].option, options[i].value, NULL))
			return -EINVAL;
	return sqlite3_set_authorizer(q->db, authorize, NULL) ? -EINVAL : 0;
}

int query_new(struct query **out, const struct query_input *in, const char *path)
{
	struct query *q = calloc(1, sizeof(*q));

	*out = q;
	if (!q)
		return -ENOMEM;
	q->an = in->an;
	q->reader = in->reader;
	q->file_bytes = in->file_bytes;
	if (sqlite3_open_v2(path, &q->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL))
		return -ENOMEM;
	return query_vtab_register(q)
		       ?: query_tables(q)
		       ?: loss_views_fill(&q->losses, in->an->a)
		       ?: loss_views_add_damage(&q->losses, in->an->a, trace_reader_damage(in->reader));
}

int query_open(struct query **out, const struct query_input *in, uint64_t memory_bytes)
{
	struct query *q;
	int err = query_new(&q, in, ":memory:");

	/* Sorting and grouping go to files when they need much; what still needs memory has a limit. */
	err = err ?: query_execute(q, "PRAGMA temp_store = FILE");
	err = err ?: query_make_tables(q, "main");
	err = err ?: query_make_views(q);
	/* SQLite makes this table at its first use, and that is no reading. */
	err = err ?: query_execute(q, "SELECT name FROM pragma_table_info('losses')");
	err = err ?: lock_up(q);
	if (!err)
		sqlite3_hard_heap_limit64((sqlite3_int64)memory_bytes);
	*out = q;
	return err;
}

void query_close(struct query *q)
{
	if (!q)
		return;
	sqlite3_close(q->db);
	query_tables_free(q);
	free(q->why);
	free(q);
}

const char *query_why(const struct query *q)
{
	return q->why ? q->why : "unknown error";
}

/* ---- one SELECT ---- */

static int explain(struct query *q, const char *text)
{
	free(q->why);
	q->why = strdup(text);
	return 1;
}

static int failed(struct query *q, int err)
{
	switch (err) {
	case SQLITE_AUTH:
		return explain(q, "not allowed: a query only reads the tables of the trace");
	case SQLITE_NOMEM:
		return explain(q,
			       "it needs more memory than it may use; read a shorter time, or let --memory be larger");
	case SQLITE_FULL:
		return explain(q, "no room for its temporary files; name another directory in SQLITE_TMPDIR");
	default:
		return explain(q, sqlite3_errmsg(q->db));
	}
}

/* Blanks and comments, which SQLite takes for no statement. */
static bool is_nothing(struct query *q, const char *sql)
{
	sqlite3_stmt *s = NULL;
	bool nothing = sqlite3_prepare_v2(q->db, sql, -1, &s, NULL) == SQLITE_OK && !s;

	sqlite3_finalize(s);
	return nothing;
}

int query_run(struct query *q, FILE *out, const char *sql, enum query_format format)
{
	sqlite3_stmt *s = NULL;
	const char *rest = NULL;
	int err = sqlite3_prepare_v2(q->db, sql, -1, &s, &rest), got = SQLITE_ROW;
	struct output *o = NULL;

	if (err)
		return failed(q, err);
	if (!s || !sqlite3_column_count(s) || !is_nothing(q, rest)) {
		sqlite3_finalize(s);
		return explain(q, !s ? "there is no SELECT in it" : "one SELECT at a time");
	}
	err = output_begin(&o, out, s, format);
	while (!err && (got = sqlite3_step(s)) == SQLITE_ROW && !ferror(out))
		err = output_row(o);
	if (!err && got != SQLITE_ROW && got != SQLITE_DONE)
		err = failed(q, got);
	err = output_end(o, err);
	sqlite3_finalize(s);
	return err;
}
