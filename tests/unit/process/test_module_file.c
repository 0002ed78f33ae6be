// SPDX-License-Identifier: Apache-2.0
/* Tests of finding the file behind a mapping, by its identity and not by its name. */
#include "proc/procfs.h"
#include "process/module_file.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

Suite *test_module_file(void);

struct found {
	uint64_t address;
	struct mapping_fact fact;
	char path[4096];
};

static void take(void *ctx, const struct mapping_fact *fact)
{
	struct found *f = ctx;

	if (f->address < fact->start || f->address >= fact->end)
		return;
	f->fact = *fact;
	snprintf(f->path, sizeof(f->path), "%s", fact->path);
	f->fact.path = f->path;
}

static char dir[64], library[96], other[96];

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	ck_assert_int_eq(fclose(f), 0);
}

static void setup(void)
{
	strcpy(dir, "/tmp/braid-unit-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(library, sizeof(library), "%s/library", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	write_file(library, "the library");
	write_file(other, "another one");
}

static void teardown(void)
{
	unlink(library);
	unlink(other);
	rmdir(dir);
}

static void *map(struct found *f)
{
	int fd = open(library, O_RDONLY | O_CLOEXEC);
	void *page = mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	ck_assert_ptr_ne(page, MAP_FAILED);
	close(fd);
	f->address = (uint64_t)page;
	ck_assert_int_eq(procfs_mappings(getpid(), take, f), 0);
	ck_assert_str_eq(f->path, library);
	return page;
}

static void expect(const struct mapping_fact *fact, const char *text)
{
	struct module_file file = module_open(getpid(), fact);
	char read_text[16] = "";

	ck_assert_int_ge(file.fd, 0);
	ck_assert(file.certain);
	ck_assert_int_gt(pread(file.fd, read_text, sizeof(read_text) - 1, 0), 0);
	ck_assert_str_eq(read_text, text);
	close(file.fd);
}

START_TEST(a_mapped_file_opens_by_its_path_and_without)
{
	struct found f = {0};
	void *page = map(&f);

	expect(&f.fact, "the library");
	munmap(page, 1);
	expect(&f.fact, "the library");
}
END_TEST

START_TEST(what_has_taken_its_place_is_not_opened)
{
	struct found f = {0};
	void *page = map(&f);

	ck_assert_int_eq(rename(other, library), 0);
	if (geteuid() == 0) /* through the mapping */
		expect(&f.fact, "the library");
	munmap(page, 1);
	ck_assert_int_eq(module_open(getpid(), &f.fact).fd, -ESTALE);
	unlink(library);
	ck_assert_int_eq(module_open(getpid(), &f.fact).fd, -ENOENT);
}
END_TEST

START_TEST(no_device_and_no_pipe_is_opened)
{
	struct found f = {0};

	munmap(map(&f), 1);
	unlink(library);
	ck_assert_int_eq(mkfifo(library, 0600), 0);
	ck_assert_int_eq(module_open(getpid(), &f.fact).fd, -ENOENT);
}
END_TEST

Suite *test_module_file(void)
{
	Suite *s = suite_create("module_file");
	TCase *t = tcase_create("open");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_mapped_file_opens_by_its_path_and_without);
	tcase_add_test(t, what_has_taken_its_place_is_not_opened);
	tcase_add_test(t, no_device_and_no_pipe_is_opened);
	suite_add_tcase(s, t);
	return s;
}
