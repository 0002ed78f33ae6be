// SPDX-License-Identifier: Apache-2.0
/* Tests of perf maps: which line names an address, and what a broken or huge file costs. */
#include "symbol/perf_map.h"
#include "util/stint.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

Suite *test_perf_map(void);

static int file_of(const char *text, size_t length)
{
	int fd = memfd_create("perf map", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, length), (ssize_t)length);
	return fd;
}

/* The name of an address between two others, "" when it has none. */
static const char *name_of(int fd, uint64_t address)
{
	struct perf_map_query q[3] = {{.address = 1}, {.address = address}, {.address = UINT64_MAX}};
	static char name[PERF_MAP_NAME_MAX];
	bool cut = true;

	ck_assert_int_eq(perf_map_find(fd, q, 3, &cut), 0);
	ck_assert(!cut);
	snprintf(name, sizeof(name), "%s", q[1].name ? q[1].name : "");
	ck_assert(!q[1].name || (address >= q[1].start && address - q[1].start < q[1].size));
	for (size_t i = 0; i < 3; i++)
		free(q[i].name);
	return name;
}

START_TEST(lines)
{
	static const char text[] = "1000 100 first\n7f0000000000 10 far away; with 'spaces'\n1080 100 second\n"
				   "2000 0 empty\n3000 10\n3010 10 \nfff0000000000000 ffffffffffffffff wraps\n"
				   "0x4000 10 prefixed\nx 10 no number\n12345678901234567 1 too long\n\n"
				   "5000 10 con\033trol\n6000 10 half of a li";
	int fd = file_of(text, sizeof(text) - 1);

	ck_assert_str_eq(name_of(fd, 0x0fff), "");
	ck_assert_str_eq(name_of(fd, 0x1000), "first");
	ck_assert_str_eq(name_of(fd, 0x107f), "first");
	ck_assert_str_eq(name_of(fd, 0x1080), "second"); /* where they overlap, the last line counts */
	ck_assert_str_eq(name_of(fd, 0x117f), "second");
	ck_assert_str_eq(name_of(fd, 0x1180), "");
	ck_assert_str_eq(name_of(fd, 0x7f0000000005), "far away; with 'spaces'");
	ck_assert_str_eq(name_of(fd, 0x2000), "");
	ck_assert_str_eq(name_of(fd, 0x3000), "");
	ck_assert_str_eq(name_of(fd, 0x3010), "");
	ck_assert_str_eq(name_of(fd, 0x4000), "");
	ck_assert_str_eq(name_of(fd, 0x5000), "con?trol");
	ck_assert_str_eq(name_of(fd, 0x6000), ""); /* the line is not complete yet */
	ck_assert_str_eq(name_of(fd, 0xfff0000000000000), "");
	close(fd);
}
END_TEST

/* Lines across the borders of the pieces in which the file is read, and a line longer than a piece. */
START_TEST(long_files)
{
	size_t size, line = 300000;
	char *text, *filler = malloc(line + 1);
	FILE *f = open_memstream(&text, &size);
	int fd;

	memset(filler, 'x', line);
	filler[line] = '\0';
	for (int i = 0; i < 20000; i++)
		fprintf(f, "%x 10 name %d\n", 0x100000 + i * 16, i);
	fprintf(f, "90000 10 %s\n", filler);
	fprintf(f, "a0000 10 last\n");
	fclose(f);
	fd = file_of(text, size);
	for (int i = 0; i < 20000; i += 97) {
		char expected[32];

		snprintf(expected, sizeof(expected), "name %d", i);
		ck_assert_str_eq(name_of(fd, (uint64_t)(0x100000 + i * 16 + 15)), expected);
	}
	filler[PERF_MAP_NAME_MAX - 1] = '\0';
	ck_assert_str_eq(name_of(fd, 0x90000), filler);
	ck_assert_str_eq(name_of(fd, 0xa0000), "last");
	close(fd);
	free(text);
	free(filler);
}
END_TEST

/*
 * A file beyond the limit is read from its end. Each of its lines covers everything, which costs no more than other
 * lines.
 */
START_TEST(huge_file)
{
	static const char end[] = "\n1000 1000 all\n1000 1000 all\n1000 1000 all of it\n";
	struct perf_map_query q[0x1001] = {0};
	bool cut = true;
	int fd = file_of("", 0);

	ck_assert_int_eq(pwrite(fd, "1000 1000 cut off\n", 18, 0), 18);
	ck_assert_int_eq(pwrite(fd, end, sizeof(end) - 1, (off_t)PERF_MAP_BYTES_MAX), sizeof(end) - 1);
	for (uint64_t i = 0; i < 0x1000; i++)
		q[i].address = 0x1000 + i;
	ck_assert_int_eq(perf_map_find(fd, q, 0x1000, &cut), 0);
	ck_assert(!cut); /* nothing is missing */
	for (size_t i = 0; i < 0x1000; i++) {
		ck_assert_str_eq(q[i].name, "all of it");
		free(q[i].name);
	}
	q[0] = (struct perf_map_query){.address = 0x2000};
	ck_assert_int_eq(perf_map_find(fd, q, 1, &cut), 0);
	ck_assert(cut);
	ck_assert_ptr_null(q[0].name);
	close(fd);
}
END_TEST

/* Reading ends with its time, and when all queries are answered. */
START_TEST(limited)
{
	struct perf_map_query q[2] = {{.address = 0x1000}, {.address = 0x100000 + 19999 * 16}};
	size_t size;
	bool cut;
	char *text;
	FILE *f = open_memstream(&text, &size);
	int fd;

	for (int i = 0; i < 20000; i++)
		fprintf(f, "%x 10 name %0128d\n", 0x100000 + i * 16, i);
	fclose(f);
	fd = file_of(text, size);
	stint_begin(0, NULL);
	ck_assert_int_eq(perf_map_find(fd, q, 2, &cut), -ETIME);
	ck_assert_ptr_null(q[0].name);
	ck_assert_ptr_nonnull(q[1].name); /* by the last line */
	free(q[1].name);
	stint_begin(0, NULL);
	q[1].name = NULL;
	ck_assert_int_eq(perf_map_find(fd, q + 1, 1, &cut), 0);
	ck_assert_ptr_nonnull(q[1].name);
	free(q[1].name);
	stint_end();
	close(fd);
	free(text);
}
END_TEST

Suite *test_perf_map(void)
{
	Suite *s = suite_create("perf map");
	TCase *t = tcase_create("files");

	tcase_add_test(t, lines);
	tcase_add_test(t, long_files);
	tcase_add_test(t, huge_file);
	tcase_add_test(t, limited);
	suite_add_tcase(s, t);
	return s;
}
