// SPDX-License-Identifier: Apache-2.0
/* For tests that make programs with the compiler of the machine: a directory that goes away with the test. */
#ifndef BRAID_TESTS_PROGRAM_H
#define BRAID_TESTS_PROGRAM_H

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/braid-unwind-XXXXXX";

static inline void directory_make(void)
{
	strcpy(directory + sizeof(directory) - 7, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
}

static inline void run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static inline void run(const char *fmt, ...)
{
	char command[3000], quiet[4096];
	va_list ap;

	va_start(ap, fmt);
	ck_assert_int_lt(vsnprintf(command, sizeof(command), fmt, ap), (int)sizeof(command));
	va_end(ap);
	ck_assert_int_lt(snprintf(quiet, sizeof(quiet), "{ %s; } >'%s/said' 2>&1 || { cat '%s/said'; false; }", command,
				  directory, directory),
			 (int)sizeof(quiet));
	ck_assert_msg(system(quiet) == 0, "%s", command);
}

static inline void directory_remove(void)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	ck_assert_int_eq(system(command), 0);
}

static inline char *path_in(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static inline void write_text(const char *name, const char *text)
{
	FILE *f = fopen(path_in(name), "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

static inline unsigned char *read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "r");
	unsigned char *data;
	struct stat st;

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fstat(fileno(f), &st), 0);
	*size = (size_t)st.st_size;
	data = malloc(*size + 1);
	ck_assert_ptr_nonnull(data);
	ck_assert_uint_eq(fread(data, 1, *size, f), *size);
	fclose(f);
	return data;
}

#endif
