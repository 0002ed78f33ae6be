// SPDX-License-Identifier: Apache-2.0
/* Runs of subcommands that read a trace, which is the synthetic one, in a directory of the test's. */
#ifndef BRAID_TESTS_COMMANDS_FIXTURE_H
#define BRAID_TESTS_COMMANDS_FIXTURE_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cli/cli.h>
#include <trace/trace.h>

#include "unit/run.h"

/* One directory for all tests, since a test that ends its process cannot remove its own. */
static char directory[] = "/tmp/braid-test-commands-XXXXXX";
static char trace_path[64], output_path[64], error_path[64];

static inline void make_directory(void)
{
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(trace_path, sizeof(trace_path), "%s/trace", directory);
	snprintf(output_path, sizeof(output_path), "%s/output", directory);
	snprintf(error_path, sizeof(error_path), "%s/error", directory);
}

static inline void remove_directory(void)
{
	char older[80]; /* a file that a test has just written */

	snprintf(older, sizeof(older), "%s.old", trace_path);
	unlink(older);
	unlink(trace_path);
	unlink(output_path);
	unlink(error_path);
	rmdir(directory);
}

/* With the synthetic trace written; the test may write more. */
static inline struct trace_writer *begin_trace(void)
{
	struct trace_writer *w;

	unlink(trace_path);
	ck_assert_int_eq(trace_writer_open(&w, trace_path), 0);
	for (size_t i = 0; i < SYNTHETIC_COUNT; i++)
		ck_assert_int_eq(trace_writer_put(w, &synthetic[i]), 0);
	return w;
}

static inline void write_trace(void)
{
	ck_assert_int_eq(trace_writer_close(begin_trace()), 0);
}

static char error_text[4096];

static inline void read_back(const char *path, char *text, size_t size)
{
	FILE *in = fopen(path, "r");

	ck_assert_ptr_nonnull(in);
	text[fread(text, 1, size - 1, in)] = '\0';
	fclose(in);
}

/* Runs a subcommand with its output in files and returns its standard output; error_text gets its standard error. */
static inline char *output_of(int (*command)(int, char **), int expected, const char *const *args)
{
	char *argv[16];
	int argc = 0, status, out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
	char *text = calloc(1, 1 << 20);

	for (; args[argc]; argc++)
		argv[argc] = (char *)(uintptr_t)args[argc];
	argv[argc] = NULL;
	fflush(stdout);
	ck_assert_ptr_nonnull(freopen(output_path, "w", stdout));
	ck_assert_ptr_nonnull(freopen(error_path, "w", stderr));
	status = command(argc, argv);
	fflush(stdout);
	fflush(stderr);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	close(out);
	close(err);
	read_back(output_path, text, 1 << 20);
	read_back(error_path, error_text, sizeof(error_text));
	ck_assert_msg(status == expected, "status %d: %s", status, error_text);
	return text;
}

/* Runs a subcommand that must fail with status 1 and print `expected` in one line. */
static inline void refused(int (*command)(int, char **), const char *expected, const char *const *args)
{
	char *text = output_of(command, 1, args);
	const char *end = strchr(error_text, '\n');

	ck_assert_msg(strstr(error_text, expected) != NULL, "%s", error_text);
	ck_assert_ptr_nonnull(end);
	ck_assert_str_eq(end, "\n");
	ck_assert_str_eq(text, "");
	free(text);
}

#define RUN(command, ...) output_of(command, 0, (const char *const[]){"braid x", __VA_ARGS__, NULL})

#endif
