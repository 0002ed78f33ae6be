// SPDX-License-Identifier: Apache-2.0
/* What code under test says on standard error: tests check it, and their own output is quiet. */
#ifndef BRAID_TESTS_SAID_H
#define BRAID_TESTS_SAID_H

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static FILE *said_file;
static int said_before;

static inline void said_begin(void)
{
	said_file = tmpfile();
	ck_assert_ptr_nonnull(said_file);
	said_before = dup(STDERR_FILENO);
	ck_assert_int_ge(dup2(fileno(said_file), STDERR_FILENO), 0);
}

static inline void said_end(void)
{
	ck_assert_int_ge(dup2(said_before, STDERR_FILENO), 0);
	close(said_before);
	fclose(said_file);
}

/* How many lines contain the text. */
static inline int said(const char *text)
{
	char line[1024];
	int count = 0;

	rewind(said_file);
	while (fgets(line, sizeof(line), said_file))
		count += strstr(line, text) != NULL;
	return count;
}

#endif
