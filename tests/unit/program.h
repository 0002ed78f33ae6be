// SPDX-License-Identifier: Apache-2.0
/* For tests that build programs with the machine's compiler: a directory that is removed after the test. */
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

/* Where damage is looked for: a third each in the first bytes of a file, in what is read most, and anywhere. */
struct damage {
	size_t head, at, span;
	size_t cut_step; /* from one length to the next, of files that are too short */
	void (*attempt)(const unsigned char *data, size_t size);
};

/* The memory is exactly as large as the file, so that a sanitizer sees what reads over its end. */
static inline void damage_attempt(const struct damage *d, const unsigned char *data, size_t size)
{
	unsigned char *copy = malloc(size ? size : 1);

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, data, size);
	d->attempt(copy, size);
	free(copy);
}

/* A file of the directory with some bits wrong, then cut. BRAID_TEST_FLIPS=N for more than a quick look. */
static inline void damage_file(const char *name, const struct damage *d)
{
	const char *more = getenv("BRAID_TEST_FLIPS");
	long flips = more ? atol(more) : 600;
	unsigned int seed = 1;
	unsigned char *data;
	size_t size;

	data = read_file(path_in(name), &size);
	for (long i = 0; i < flips; i++) {
		size_t base = i % 3 == 1 ? d->at : 0, span = i % 3 == 0 ? d->head : i % 3 == 1 ? d->span : size;
		size_t at = base + (size_t)rand_r(&seed) % span;
		unsigned char bit = (unsigned char)(1U << rand_r(&seed) % 8);

		if (at >= size)
			continue;
		data[at] ^= bit;
		damage_attempt(d, data, size);
		if (i % 4) /* let some damage pile up, but not all */
			data[at] ^= bit;
		if (i % 200 == 199) {
			free(data);
			data = read_file(path_in(name), &size);
		}
	}
	for (size_t cut = 0; cut < size; cut += cut < 2000 ? 97 : d->cut_step)
		damage_attempt(d, data, cut);
	free(data);
}

/* A test in a directory of its own. */
static inline void add(Suite *suite, const char *name, const TTest *test)
{
	TCase *tc = tcase_create(name);

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, directory_make, directory_remove);
	tcase_add_test(tc, test);
	suite_add_tcase(suite, tc);
}

#endif
