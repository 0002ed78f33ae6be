// SPDX-License-Identifier: Apache-2.0
/* Tests of writers that are interrupted: what they have written can be read. */
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "unit/trace_fixture.h"

Suite *test_trace_writer(void);

/* Puts incompressible samples until `w` fails or all are put. */
static int put_noise(struct trace_writer *w, unsigned count)
{
	uint64_t x = 88172645463325252ULL;
	int err = 0;

	for (unsigned i = 0; i < count && !err; i++) {
		struct trace_rec rec = {.kind = TRACE_SAMPLE};

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		rec.sample.time_ns = x;
		rec.sample.node = i;
		err = trace_writer_put(w, &rec);
	}
	return err;
}

/* Check itself writes to a file, so the limit is lifted before each assertion. */
static void file_limit(rlim_t bytes)
{
	struct rlimit limit = {.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};

	signal(SIGXFSZ, SIG_IGN);
	MUST(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

START_TEST(disk_full)
{
	char *path = fixture_path();
	struct trace_writer *w;
	struct fixture_text got;
	struct stat st;
	uint64_t bytes;
	int first, again, flush;

	ck_assert_int_eq(trace_writer_open(&w, path), 0);
	file_limit(3 << 20);
	first = put_noise(w, 2000000);
	again = put_noise(w, 1);
	flush = trace_writer_flush(w);
	file_limit(RLIM_INFINITY);
	ck_assert_int_eq(first, -EFBIG);
	ck_assert_int_eq(again, -EFBIG);
	ck_assert_int_eq(flush, -EFBIG);
	bytes = trace_writer_bytes(w);
	ck_assert_uint_gt(bytes, 1 << 20);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq((uint64_t)st.st_size, bytes);
	/* There is room again, but a part is lost: nothing may follow it. */
	ck_assert_int_eq(trace_writer_close(w), -EFBIG);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq((uint64_t)st.st_size, bytes);
	ck_assert_int_eq(fixture_read(path, &got), 0);
	ck_assert_uint_gt(got.records, 100000);
	ck_assert(got.damage.no_index && !got.damage.truncated);
	ck_assert_uint_eq(got.damage.bad_blocks + got.damage.bad_records + got.damage.skipped_bytes, 0);
	free(got.text);
	unlink(path);
	free(path);
}
END_TEST

START_TEST(no_room_for_the_schema)
{
	char *path = fixture_path();
	struct trace_writer *w;
	struct stat st;
	int err;

	file_limit(100);
	err = trace_writer_open(&w, path);
	file_limit(RLIM_INFINITY);
	ck_assert_int_eq(err, -EFBIG);
	ck_assert_ptr_null(w);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_size, 0);
	unlink(path);
	free(path);
}
END_TEST

START_TEST(killed_writer)
{
	char *path = fixture_path();
	struct fixture_text got;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct trace_writer *w;

		if (trace_writer_open(&w, path) || put_noise(w, 300000) || trace_writer_flush(w) || put_noise(w, 1000))
			_exit(1);
		raise(SIGKILL);
	}
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	ck_assert_int_eq(fixture_read(path, &got), 0);
	ck_assert_uint_eq(got.records, 300000);
	ck_assert(got.damage.no_index && !got.damage.truncated && !got.damage.missing_blocks);
	free(got.text);
	unlink(path);
	free(path);
}
END_TEST

Suite *test_trace_writer(void)
{
	Suite *suite = suite_create("trace_writer");
	TCase *tc = tcase_create("trace_writer");

	tcase_add_test(tc, disk_full);
	tcase_add_test(tc, no_room_for_the_schema);
	tcase_add_test(tc, killed_writer);
	suite_add_tcase(suite, tc);
	return suite;
}
