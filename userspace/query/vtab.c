// SPDX-License-Identifier: Apache-2.0
/* SQLite's view of a table: conditions that the rows' source evaluates, scans, values. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

struct vtab {
	sqlite3_vtab base; /* first, for SQLite */
	const struct query *query;
	const struct query_table *table;
};

/* ---- tables ---- */

static const struct query_table *find_table(const struct query *q, const char *name)
{
	for (size_t i = 0; i < q->tables.count; i++)
		if (strcmp(q->tables.at[i].name, name) == 0)
			return &q->tables.at[i];
	return NULL;
}

/* argv[3] is the module's argument: the table's name. */
static int vtab_connect(sqlite3 *db, void *ctx, int argc, const char *const *argv, sqlite3_vtab **out, char **why)
{
	struct query *q = ctx;
	const struct query_table *t = argc > 3 ? find_table(q, argv[3]) : NULL;
	struct vtab *v;
	char *declaration;
	int err;

	if (!t) {
		*why = sqlite3_mprintf("no such table");
		return SQLITE_ERROR;
	}
	declaration = query_declaration(t);
	err = declaration ? sqlite3_declare_vtab(db, declaration) : SQLITE_NOMEM;
	sqlite3_free(declaration);
	v = err ? NULL : sqlite3_malloc(sizeof(*v));
	if (!v)
		return err ? err : SQLITE_NOMEM;
	*v = (struct vtab){.query = q, .table = t};
	*out = &v->base;
	return sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
}

static int vtab_disconnect(sqlite3_vtab *base)
{
	sqlite3_free(base);
	return SQLITE_OK;
}

/* ---- plans ---- */

/* How a condition limits a scan: the characters of a plan's idxStr, in the order of xFilter's arguments. */
enum { LIMIT_FROM = 'f', LIMIT_TO = 't', LIMIT_AT = 'a', LIMIT_EQUAL = '0' /* plus the role */ };

/* 0: the condition limits nothing. */
static char limit_of(enum query_role role, unsigned char op)
{
	if (role == ROLE_TIME) {
		if (op == SQLITE_INDEX_CONSTRAINT_GE || op == SQLITE_INDEX_CONSTRAINT_GT)
			return LIMIT_FROM;
		if (op == SQLITE_INDEX_CONSTRAINT_LE || op == SQLITE_INDEX_CONSTRAINT_LT)
			return LIMIT_TO;
		return op == SQLITE_INDEX_CONSTRAINT_EQ ? LIMIT_AT : 0;
	}
	return role != ROLE_NONE && op == SQLITE_INDEX_CONSTRAINT_EQ ? (char)(LIMIT_EQUAL + role) : 0;
}

/* What is left of `rows` under a limit: rules of thumb, which only choose the order of a join. */
static double rows_left(double rows, char limit)
{
	switch (limit) {
	case LIMIT_EQUAL + ROLE_KEY:
		return 1;
	case LIMIT_EQUAL + ROLE_STACK:
		return rows / 1000;
	case LIMIT_EQUAL + ROLE_DEPTH:
		return rows / 30;
	case LIMIT_AT:
		return rows / 1000;
	default:
		return rows / 10;
	}
}

/* Whether a limit makes the scan shorter, and not only its result. */
static bool is_seek(const struct query_table *t, char limit)
{
	return limit == LIMIT_EQUAL + ROLE_KEY || limit == LIMIT_FROM || limit == LIMIT_TO || limit == LIMIT_AT ||
	       (limit == LIMIT_EQUAL + ROLE_STACK && t->rows->by_stack);
}

static int vtab_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct vtab *v = (const struct vtab *)base;
	const struct query_table *t = v->table;
	double rows = (double)t->rows->count(v->query, t) + 1, cost = rows;
	char *plan = sqlite3_malloc(info->nConstraint + 1);
	int used = 0;

	if (!plan)
		return SQLITE_NOMEM;
	for (int i = 0; i < info->nConstraint; i++) {
		int column = info->aConstraint[i].iColumn;
		char limit = column < 0 ? 0 : limit_of(t->columns[column].role, info->aConstraint[i].op);

		if (!limit || !info->aConstraint[i].usable)
			continue;
		plan[used++] = limit;
		info->aConstraintUsage[i].argvIndex = used;
		rows = rows_left(rows, limit);
		if (is_seek(t, limit))
			cost = rows_left(cost, limit);
	}
	plan[used] = '\0';
	info->idxStr = plan;
	info->needToFreeIdxStr = 1;
	info->estimatedRows = (sqlite3_int64)rows + 1;
	info->estimatedCost = cost + 1;
	if (strchr(plan, LIMIT_EQUAL + ROLE_KEY))
		info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
	info->orderByConsumed = info->nOrderBy == 1 && t->rows->by_time && info->aOrderBy[0].iColumn >= 0 &&
				!info->aOrderBy[0].desc && t->columns[info->aOrderBy[0].iColumn].role == ROLE_TIME;
	return SQLITE_OK;
}

/* ---- scans ---- */

static int vtab_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
	const struct vtab *v = (const struct vtab *)base;
	struct query_cursor *c = sqlite3_malloc(sizeof(*c));

	if (!c)
		return SQLITE_NOMEM;
	memset(c, 0, sizeof(*c));
	c->query = v->query;
	c->table = v->table;
	*out = &c->base;
	return SQLITE_OK;
}

static int vtab_close(sqlite3_vtab_cursor *base)
{
	struct query_cursor *c = (struct query_cursor *)base;

	trace_reader_close(c->reader);
	sqlite3_free(c);
	return SQLITE_OK;
}

/* An error of a scan, as SQLite has it. */
static int scan_error(struct query_cursor *c, int err)
{
	sqlite3_free(c->base.pVtab->zErrMsg);
	c->base.pVtab->zErrMsg = sqlite3_mprintf("cannot read the table %s: %s", c->table->name, strerror(-err));
	return err == -ENOMEM ? SQLITE_NOMEM : SQLITE_ERROR;
}

static int vtab_next(sqlite3_vtab_cursor *base)
{
	struct query_cursor *c = (struct query_cursor *)base;
	int got = c->table->rows->next(c);

	c->ended = got <= 0;
	c->row++;
	return got < 0 ? scan_error(c, got) : SQLITE_OK;
}

/*
 * A condition only makes the scan shorter: SQLite evaluates it again for each row. So a value that is no number, or
 * none of this size, limits nothing. Times are rounded outwards.
 */
static void take_limit(struct query_limits *l, char limit, sqlite3_value *value)
{
	int type = sqlite3_value_numeric_type(value);
	double real = sqlite3_value_double(value);
	int64_t low = sqlite3_value_int64(value), high = low;

	if ((type != SQLITE_INTEGER && type != SQLITE_FLOAT) || fabs(real) >= 0x1p62)
		return;
	if (type == SQLITE_FLOAT) {
		low = (int64_t)floor(real);
		high = (int64_t)ceil(real);
	}
	if (limit == LIMIT_FROM || limit == LIMIT_AT)
		l->from_ns = low > l->from_ns ? low : l->from_ns;
	if (limit == LIMIT_TO || limit == LIMIT_AT)
		l->to_ns = high < l->to_ns ? high : l->to_ns;
	if (limit > LIMIT_EQUAL && limit < LIMIT_EQUAL + ROLES && low == high) {
		l->has[limit - LIMIT_EQUAL] = true;
		l->equal[limit - LIMIT_EQUAL] = low;
	}
}

static int vtab_filter(sqlite3_vtab_cursor *base, int plan, const char *limits, int argc, sqlite3_value **argv)
{
	struct query_cursor *c = (struct query_cursor *)base;
	int err;

	(void)plan;
	c->limits = (struct query_limits){.from_ns = INT64_MIN, .to_ns = INT64_MAX};
	for (int i = 0; i < argc; i++)
		take_limit(&c->limits, limits[i], argv[i]);
	c->row = 0;
	err = c->table->rows->begin(c);
	return err ? scan_error(c, err) : vtab_next(base);
}

static int vtab_eof(sqlite3_vtab_cursor *base)
{
	return ((const struct query_cursor *)base)->ended;
}

static int vtab_column(sqlite3_vtab_cursor *base, sqlite3_context *to, int column)
{
	const struct query_cursor *c = (const struct query_cursor *)base;
	const struct query_column *col = &c->table->columns[column];

	col->get(to, c, col);
	return SQLITE_OK;
}

static int vtab_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *row)
{
	*row = ((const struct query_cursor *)base)->row;
	return SQLITE_OK;
}

int query_vtab_register(struct query *q)
{
	static const sqlite3_module module = {
		.xCreate = vtab_connect,
		.xConnect = vtab_connect,
		.xBestIndex = vtab_best_index,
		.xDisconnect = vtab_disconnect,
		.xDestroy = vtab_disconnect,
		.xOpen = vtab_open,
		.xClose = vtab_close,
		.xFilter = vtab_filter,
		.xNext = vtab_next,
		.xEof = vtab_eof,
		.xColumn = vtab_column,
		.xRowid = vtab_rowid,
	};

	return sqlite3_create_module_v2(q->db, "braid", &module, q, NULL) ? -ENOMEM : 0;
}
