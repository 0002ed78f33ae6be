// SPDX-License-Identifier: Apache-2.0
#include "texts.h"

#include <string.h>

/* Each file, behind a line "@views NAME" or "@ready NAME": see the Makefile. */
extern const char queries_blob_start[], queries_blob_end[];

#define VIEW "@views "
#define READY "@ready "

static const char *line_end(const char *at)
{
	const char *end = memchr(at, '\n', (size_t)(queries_blob_end - at));

	return end ? end + 1 : queries_blob_end;
}

bool query_text_get(size_t number, struct query_text *t)
{
	const char *at = queries_blob_start, *body;

	for (;;) {
		if (at == queries_blob_end)
			return false;
		body = line_end(at);
		t->view = strncmp(at, VIEW, sizeof(VIEW) - 1) == 0;
		t->name = at + (t->view ? sizeof(VIEW) : sizeof(READY)) - 1;
		t->name_length = (int)(body - 1 - t->name);
		for (at = body; at < queries_blob_end && *at != '@';)
			at = line_end(at);
		t->sql = body;
		t->sql_length = (int)(at - body);
		if (!number--)
			return true;
	}
}

const char *query_text_about(const struct query_text *t, size_t number, int *length)
{
	const char *at = t->sql;

	for (; strncmp(at, "-- ", 3) == 0; at = line_end(at)) {
		*length = (int)(line_end(at) - 1 - (at + 3));
		if (!number--)
			return at + 3;
	}
	return NULL;
}
