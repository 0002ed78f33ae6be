// SPDX-License-Identifier: Apache-2.0
/* The tables and views in a database: their declarations, and what people read about them. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "query.h"
#include "table.h"
#include "texts.h"

int query_tables(struct query *q)
{
	return query_facts(q) ?: query_definitions(q) ?: query_samples(q) ?: query_stacks(q) ?: query_events(q);
}

int query_add_tables(struct query *q, const struct query_table *tables, size_t count)
{
	int err = 0;

	for (size_t i = 0; i < count && !err; i++)
		err = VEC_PUSH(&q->tables, tables[i]);
	return err;
}

void query_tables_free(struct query *q)
{
	for (size_t i = 0; i < q->columns.count; i++)
		free(q->columns.at[i]);
	for (size_t i = 0; i < q->names.count; i++)
		free(q->names.at[i]);
	for (uint32_t k = 0; q->index && k < BRAID_JVM_EVENTS; k++)
		free(q->index->kinds[k].at);
	free(q->index);
	free(q->losses.at);
	free(q->columns.at);
	free(q->names.at);
	free(q->tables.at);
}

char *query_declaration(const struct query_table *t)
{
	sqlite3_str *s = sqlite3_str_new(NULL);

	sqlite3_str_appendf(s, "CREATE TABLE \"%w\"", t->name);
	for (size_t i = 0; i < t->count; i++)
		sqlite3_str_appendf(s, "%s\"%w\" %s%s", i ? ", " : "(", t->columns[i].name, t->columns[i].type,
				    t->columns[i].role == ROLE_KEY ? " PRIMARY KEY" : "");
	sqlite3_str_appendf(s, ")");
	return sqlite3_str_finish(s);
}

int query_execute(struct query *q, const char *format, ...)
{
	va_list args;
	char *sql, *why = NULL;
	int err;

	va_start(args, format);
	sql = sqlite3_vmprintf(format, args);
	va_end(args);
	if (!sql)
		return -ENOMEM;
	err = sqlite3_exec(q->db, sql, NULL, NULL, &why);
	sqlite3_free(sql);
	if (err && why) {
		free(q->why);
		q->why = strdup(why);
	}
	sqlite3_free(why);
	return err == SQLITE_OK ? 0 : err == SQLITE_NOMEM ? -ENOMEM : 1;
}

int query_make_tables(struct query *q, const char *database)
{
	int err = 0;

	for (size_t i = 0; i < q->tables.count && !err; i++)
		err = query_execute(q, "CREATE VIRTUAL TABLE %s.%s USING braid(%s)", database, q->tables.at[i].name,
				    q->tables.at[i].name);
	return err;
}

int query_make_views(struct query *q)
{
	struct query_text t;
	int err = 0;

	for (size_t i = 0; query_text_get(i, &t) && !err; i++)
		if (t.view)
			err = query_execute(q, "CREATE VIEW %.*s AS %.*s", t.name_length, t.name, t.sql_length, t.sql);
	return err;
}

/* ---- for people ---- */

/* As it has to be written in a query. */
static void print_name(FILE *out, const char *name, int width)
{
	if (sqlite3_keyword_check(name, (int)strlen(name)))
		fprintf(out, "  \"%s\"%*s", name, width - (int)strlen(name) - 2, "");
	else
		fprintf(out, "  %-*s", width, name);
}

static void print_table(FILE *out, const struct query_table *t)
{
	fprintf(out, "%s: %s\n", t->name, t->about);
	for (size_t i = 0; i < t->count; i++) {
		print_name(out, t->columns[i].name, 20);
		fprintf(out, "  %-7s  %s\n", t->columns[i].type, t->columns[i].about);
	}
	putc('\n', out);
}

static void print_view(FILE *out, const struct query_text *t)
{
	int length;
	const char *about = query_text_about(t, 0, &length);

	fprintf(out, "%.*s (view): %.*s\n", t->name_length, t->name, length, about);
	for (size_t i = 1; (about = query_text_about(t, i, &length)); i++) {
		int name = (int)strcspn(about, ":");

		fprintf(out, "  %-20.*s           %.*s\n", name, about, length - name - 2, about + name + 2);
	}
	putc('\n', out);
}

int query_schema(FILE *out)
{
	struct query q = {0};
	struct query_text t;
	int err = query_tables(&q);

	for (size_t i = 0; i < q.tables.count && !err; i++)
		print_table(out, &q.tables.at[i]);
	query_tables_free(&q);
	if (err)
		return err;
	for (size_t i = 0; query_text_get(i, &t); i++)
		if (t.view)
			print_view(out, &t);
	return 0;
}

void query_list(FILE *out)
{
	struct query_text t;
	const char *about;
	int length;

	for (size_t i = 0; query_text_get(i, &t); i++)
		if (!t.view && (about = query_text_about(&t, 0, &length)))
			fprintf(out, "%-20.*s  %.*s\n", t.name_length, t.name, length, about);
}

char *query_named(const char *name)
{
	struct query_text t;

	for (size_t i = 0; query_text_get(i, &t); i++)
		if (!t.view && (int)strlen(name) == t.name_length && strncmp(name, t.name, strlen(name)) == 0)
			return strndup(t.sql, (size_t)t.sql_length);
	return NULL;
}
