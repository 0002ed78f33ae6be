// SPDX-License-Identifier: Apache-2.0
/* Writes the tables and views of a query to an SQLite file. */
#include <errno.h>

#include "query.h"
#include "table.h"

/* Rows go from the virtual table of this name, which is in the temporary database, to a table in the file. */
static int copy_table(struct query *q, const struct query_table *t)
{
	char *declaration = query_declaration(t);
	int err = declaration ? query_execute(q, "%s", declaration) : -ENOMEM;

	sqlite3_free(declaration);
	err = err ?: query_execute(q, "INSERT INTO main.%s SELECT * FROM temp.%s", t->name, t->name);
	for (size_t i = 0; i < t->count && !err; i++)
		if (t->columns[i].role == ROLE_STACK && t->rows->by_stack)
			err = query_execute(q, "CREATE INDEX main.%s_%s ON %s(%s)", t->name, t->columns[i].name,
					    t->name, t->columns[i].name);
	return err;
}

int query_export(struct query **out, const char *path, const struct query_input *in)
{
	struct query *q;
	int err = query_new(&q, in, path);

	/* The file is new, so a failure leaves nothing that would have to be restored. */
	err = err
		      ?: query_execute(
				 q,
				 "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
				 "BEGIN");
	err = err ?: query_make_tables(q, "temp");
	for (size_t i = 0; !err && i < q->tables.count; i++)
		err = copy_table(q, &q->tables.at[i]);
	err = err ?: query_make_views(q);
	err = err ?: query_execute(q, "COMMIT");
	*out = q;
	return err;
}
