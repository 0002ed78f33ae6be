// SPDX-License-Identifier: Apache-2.0
/* Tests of what is said to own a process's memory. */
#include <resident/pages.h>
#include <resident/resident.h>
#include <resident/resident_state.h>

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

Suite *test_resident(void);

static int track(struct resident *r, const char *text)
{
	FILE *f = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	int err = f ? resident_add_tracking(r, f) : -errno;

	if (f)
		fclose(f);
	return err;
}

START_TEST(reads_the_tracking_of_a_jvm)
{
	struct resident r = {0};

	ck_assert_int_eq(
		track(&r,
		      "4711:\n\nVirtual memory map:\n\n"
		      "[0x00000000f0000000 - 0x0000000100000000] reserved 262144KB for Java Heap from\n"
		      "\t[0x00000000f0000000 - 0x00000000f4000000] committed 65536KB from\n"
		      "[0x00007f0000000000 - 0x00007f0000100000] reserved and committed 1024KB for Thread Stack from\n"
		      "[0x10 - 0x8] reserved 1KB for nothing\n[0x1000 - 0x2000] reserved 4KB for Code"),
		0);
	ck_assert_uint_eq(r.ranges.count, 3);
	ck_assert_str_eq(r.ranges.at[0].name, "Java Heap");
	ck_assert_uint_eq(r.ranges.at[0].end - r.ranges.at[0].start, 256U << 20);
	ck_assert_str_eq(r.ranges.at[1].name, "Thread Stack");
	ck_assert_str_eq(r.ranges.at[2].name, "Code");
	resident_free(&r);
	ck_assert_int_eq(track(&r, "Native memory tracking is not enabled\n"), -EINVAL);
	resident_free(&r);
}
END_TEST

/* The process writes the answer: no name steers a terminal, is invalid in JSON, or ends inside a character. */
START_TEST(names_are_printable)
{
	struct resident r = {0};

	ck_assert_int_eq(track(&r, "[0x1000 - 0x2000] reserved 4KB for a\033[1m\302\233b\342\200\256c\377d from\n"
				   "[0x2000 - 0x3000] reserved 4KB for "
				   "12345678901234567890123456789012345678901234567890123456789012\303\244 from\n"),
			 0);
	ck_assert_uint_eq(r.ranges.count, 2);
	ck_assert_str_eq(r.ranges.at[0].name, "a?[1m?b?c\357\277\275d");
	ck_assert_str_eq(r.ranges.at[1].name, "12345678901234567890123456789012345678901234567890123456789012");
	resident_free(&r);
}
END_TEST

static const struct resident_part *part_at(const struct resident *r, const void *address)
{
	for (size_t i = 0; i < r->parts.count; i++)
		if ((uintptr_t)address >= r->parts.at[i].start && (uintptr_t)address < r->parts.at[i].end)
			return &r->parts.at[i];
	return NULL;
}

/* A range that is a part of a mapping has the pages that are in it, and the rest has the others. */
START_TEST(divides_mappings)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, 16 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct resident r = {0};
	char text[128];

	ck_assert_ptr_ne(at, MAP_FAILED);
	ck_assert_int_eq(madvise(at, 16 * page, MADV_NOHUGEPAGE), 0);
	for (size_t i = 2; i < 7; i++)
		at[i * page] = 1;
	snprintf(text, sizeof(text), "[%p - %p] reserved 16KB for Mine\n", (void *)(at + 4 * page),
		 (void *)(at + 8 * page));
	ck_assert_int_eq(track(&r, text), 0);
	ck_assert_int_eq(resident_read(&r, getpid()), 0);
	ck_assert_uint_eq(part_at(&r, at + 4 * page)->resident, 3 * page);
	ck_assert_uint_eq(part_at(&r, at + 4 * page)->owner, RESIDENT_TRACKED);
	ck_assert_str_eq(part_at(&r, at + 4 * page)->name, "Mine");
	ck_assert_uint_eq(part_at(&r, text)->owner, RESIDENT_STACK);
	ck_assert_uint_eq(part_at(&r, (void *)(uintptr_t)track)->owner, RESIDENT_LIBRARY);
	resident_free(&r);
	munmap(at, 16 * page);
}
END_TEST

/* A block of malloc is found wherever it is in a mapping, and what only looks like one is not. */
START_TEST(finds_blocks)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, 16 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct resident r = {0};

	ck_assert_ptr_ne(at, MAP_FAILED);
	ck_assert_int_eq(madvise(at, 16 * page, MADV_NOHUGEPAGE), 0);
	for (size_t i = 0; i < 16; i++)
		at[i * page + 100] = 1;
	((uint64_t *)(at + 3 * page))[1] = 4 * page | 2;
	((uint64_t *)(at + 8 * page))[1] = UINT64_C(1) << 40 | 2; /* too large */
	((uint64_t *)(at + 9 * page))[1] = 2 * page;		  /* not mapped by itself */
	((uint64_t *)(at + 12 * page))[1] = 2 * page | 2;
	ck_assert_int_eq(resident_read(&r, getpid()), 0);
	for (size_t i = 0; i < 16; i++)
		ck_assert_int_eq(part_at(&r, at + i * page)->owner == RESIDENT_MALLOC,
				 (i >= 3 && i < 7) || (i >= 12 && i < 14));
	ck_assert_uint_eq(part_at(&r, at + 3 * page)->resident, 4 * page);
	resident_free(&r);
	munmap(at, 16 * page);
}
END_TEST

static uint64_t bytes_in(const struct page_runs *p, const char *start, const char *end)
{
	uint64_t from = (uintptr_t)start, to = (uintptr_t)end, sum = 0;

	for (size_t i = 0; i < p->all.count; i++) {
		uint64_t low = p->all.at[i].start > from ? p->all.at[i].start : from;
		uint64_t high = p->all.at[i].end < to ? p->all.at[i].end : to;

		sum += low < high ? high - low : 0;
	}
	return sum;
}

/* Reserved addresses, of which any process can have many terabytes, take no time. */
START_TEST(reserved_addresses)
{
	size_t bytes = (size_t)8 << 40;
	char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct page_runs runs = {0};
	struct resident r = {0};

	ck_assert_ptr_ne(at, MAP_FAILED);
	ck_assert_int_eq(madvise(at, bytes, MADV_NOHUGEPAGE), 0);
	at[bytes / 2] = 1;
	ck_assert_int_eq(resident_read(&r, getpid()), 0);
	ck_assert_uint_eq(part_at(&r, at + bytes / 2)->owner, RESIDENT_UNKNOWN);
	if (page_runs_read(&runs, &r) != -EFBIG)
		ck_assert_uint_eq(bytes_in(&runs, at, at + bytes), (size_t)sysconf(_SC_PAGESIZE));
	page_runs_free(&runs);
	resident_free(&r);
	munmap(at, bytes);
}
END_TEST

START_TEST(no_process)
{
	struct resident r = {0};

	ck_assert_int_eq(resident_read(&r, 999999999), -ESRCH);
	resident_free(&r);
}
END_TEST

#ifdef BRAID_SANITIZED
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* Pages between old ones, those of a new mapping, and none that were there. */
START_TEST(finds_new_pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, 16 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *other;
	struct page_runs before = {0}, after = {0}, fresh = {0};
	struct resident r = {0};
	int err;

	ck_assert_ptr_ne(at, MAP_FAILED);
	ck_assert_int_eq(madvise(at, 16 * page, MADV_NOHUGEPAGE), 0);
	at[2 * page] = at[3 * page] = at[8 * page] = 1;
	ck_assert_int_eq(resident_read(&r, getpid()), 0);
	err = page_runs_read(&before, &r);
	if (SANITIZED && err == -EFBIG) /* the sanitizer's addresses, before Linux 6.7 */
		return;
	ck_assert_int_eq(err, 0);
	ck_assert_uint_eq(bytes_in(&before, at, at + 16 * page), 3 * page);
	resident_free(&r);
	for (size_t i = 1; i < 10; i++)
		at[i * page] = 1;
	other = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	ck_assert_ptr_ne(other, MAP_FAILED);
	ck_assert_int_eq(resident_read(&r, getpid()), 0);
	ck_assert_int_eq(page_runs_read(&after, &r), 0);
	ck_assert_int_eq(page_runs_new(&fresh, &before, &after), 0);
	ck_assert_uint_eq(bytes_in(&after, at, at + 16 * page), 9 * page);
	ck_assert_uint_eq(bytes_in(&fresh, at, at + 16 * page), 6 * page);
	ck_assert_uint_eq(bytes_in(&fresh, at + 2 * page, at + 4 * page), 0);
	ck_assert_uint_eq(bytes_in(&fresh, at + 8 * page, at + 9 * page), 0);
	ck_assert_uint_eq(bytes_in(&fresh, other, other + 4 * page), 4 * page);
	for (size_t i = 1; i < fresh.all.count; i++)
		ck_assert_uint_le(fresh.all.at[i - 1].end, fresh.all.at[i].start);
	resident_free(&r);
	page_runs_free(&before);
	page_runs_free(&after);
	page_runs_free(&fresh);
	munmap(at, 16 * page);
	munmap(other, 4 * page);
}
END_TEST

/* Threads that run are waited for, all together for a limited time. */
START_TEST(threads_that_run)
{
	struct resident r = {.turns = 30};
	volatile uint64_t *count =
		mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne((void *)(uintptr_t)count, MAP_FAILED);
	r.pid = fork();
	if (r.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			++*count;
	}
	while (!*count) /* from then on it does nothing else */
		poll(NULL, 0, 1);
	for (unsigned int i = 0; i < 3; i++) {
		static const uint32_t left[] = {10, 0, 0};

		ck_assert_int_eq(resident_find_ranges(&r, 0, 0), 0);
		ck_assert_uint_eq(r.turns, left[i]);
		ck_assert_uint_eq(r.ranges.count, 0);
	}
	kill(r.pid, SIGKILL);
	waitpid(r.pid, NULL, 0);
	munmap((void *)(uintptr_t)count, sizeof(*count));
	resident_free(&r);
}
END_TEST

Suite *test_resident(void)
{
	Suite *s = suite_create("test_resident");
	TCase *t = tcase_create("resident");

	tcase_add_test(t, reads_the_tracking_of_a_jvm);
	tcase_add_test(t, names_are_printable);
	tcase_add_test(t, divides_mappings);
	tcase_add_test(t, finds_new_pages);
	tcase_add_test(t, finds_blocks);
	tcase_add_test(t, reserved_addresses);
	tcase_add_test(t, threads_that_run);
	tcase_add_test(t, no_process);
	suite_add_tcase(s, t);
	return s;
}
