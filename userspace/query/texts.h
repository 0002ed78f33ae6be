// SPDX-License-Identifier: Apache-2.0
/*
 * The SQL that is built into the program: views (views/NAME.sql) and ready queries (ready/NAME.sql). Their first lines
 * are comments: what it is about, and, of a view, a line `name: meaning` for each column.
 */
#ifndef BRAID_QUERY_TEXTS_H
#define BRAID_QUERY_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

/* Pieces of the program's text, which are not terminated by zeros. */
struct query_text {
	bool view; /* else a ready query */
	const char *name;
	int name_length;
	const char *sql; /* with its comments */
	int sql_length;
};

/* The number'th one; false: there are no more. */
bool query_text_get(size_t number, struct query_text *t);

/* The number'th line of its comment; NULL: there are no more. */
const char *query_text_about(const struct query_text *t, size_t number, int *length);

#endif
