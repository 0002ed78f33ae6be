// SPDX-License-Identifier: Apache-2.0
/* Tests of the trace's destinations: kept files, streams, and disks that are too small. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/trace_fixture.h"

Suite *test_trace_output(void);

static char *old_of(const char *path)
{
	char *old;

	ck_assert_int_ge(asprintf(&old, "%s.old", path), 0);
	return old;
}

/* Records `samples` samples. */
static void record(const char *path, uint32_t samples)
{
	struct trace_writer *w;

	ck_assert_int_eq(trace_writer_open(&w, path), 0);
	for (uint32_t i = 0; i < samples; i++)
		fixture_sample(w, i + 1, 0);
	ck_assert_int_eq(trace_writer_close(w), 0);
}

static uint64_t samples_of(const char *path)
{
	struct fixture_text got;

	ck_assert_int_eq(fixture_read(path, &got), 0);
	free(got.text);
	return got.records;
}

START_TEST(former_trace_is_kept)
{
	char *path = fixture_path(), *old = old_of(path), *link = fixture_path();
	struct trace_writer *w;
	struct stat st;

	record(path, 1);
	record(path, 2);
	ck_assert_uint_eq(samples_of(old), 1);
	ck_assert_uint_eq(samples_of(path), 2);
	record(path, 3);
	ck_assert_uint_eq(samples_of(old), 2);
	ck_assert_uint_eq(samples_of(path), 3);
	/* the link keeps its target, and nothing is renamed */
	ck_assert_int_eq(symlink(path, link), 0);
	record(link, 4);
	ck_assert_uint_eq(samples_of(old), 2);
	ck_assert_uint_eq(samples_of(path), 4);
	ck_assert_int_eq(lstat(link, &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	/* a file that is no trace is not renamed over */
	fixture_store(old, "my thesis", 9);
	ck_assert_int_eq(trace_writer_open(&w, path), -ENOTEMPTY);
	ck_assert_uint_eq(samples_of(path), 4);
	unlink(link);
	unlink(path);
	unlink(old);
	free(link);
	free(old);
	free(path);
}
END_TEST

/* What has not begun changes nothing, and holds what is written to it. */
START_TEST(a_recording_that_does_not_begin_leaves_the_former_trace)
{
	char *path = fixture_path(), *old = old_of(path);
	struct trace_writer *w, *other;

	ck_assert_int_eq(trace_writer_prepare(&w, path), 0);
	fixture_sample(w, 1, 0);
	ck_assert_int_eq(trace_writer_flush(w), 0);
	ck_assert_int_eq(trace_writer_close(w), 0);
	ck_assert_int_ne(access(path, F_OK), 0);
	record(path, 1);
	record(path, 2);
	ck_assert_int_eq(trace_writer_prepare(&w, path), 0);
	fixture_sample(w, 1, 0);
	ck_assert_int_eq(trace_writer_flush(w), 0);
	ck_assert_int_eq(trace_writer_open(&other, path), -EBUSY);
	ck_assert_int_eq(trace_writer_close(w), 0);
	ck_assert_uint_eq(samples_of(old), 1);
	ck_assert_uint_eq(samples_of(path), 2);
	ck_assert_int_eq(trace_writer_prepare(&w, path), 0);
	for (uint32_t i = 0; i < 3; i++) {
		fixture_sample(w, i + 1, 0);
		ck_assert_int_eq(trace_writer_flush(w), 0);
		if (i == 1)
			ck_assert_int_eq(trace_writer_begin(w), 0);
	}
	ck_assert_int_eq(trace_writer_close(w), 0);
	ck_assert_uint_eq(samples_of(old), 2);
	ck_assert_uint_eq(samples_of(path), 3);
	unlink(path);
	unlink(old);
	free(old);
	free(path);
}
END_TEST

/* The owner of a trace that is written under sudo in a directory with `mode`. */
static uid_t owner_in(mode_t mode, uid_t owner)
{
	char dir[] = "/tmp/braid-test-sudo-XXXXXX", path[64];
	struct stat st;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chmod(dir, mode), 0);
	ck_assert_int_eq(chown(dir, owner, 0), 0);
	snprintf(path, sizeof(path), "%s/a.trace", dir);
	record(path, 1);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	unlink(path);
	rmdir(dir);
	return st.st_uid;
}

START_TEST(sudo_trace_is_its_users)
{
	if (geteuid() != 0)
		return;
	setenv("SUDO_UID", "4711", 1);
	setenv("SUDO_GID", "4712", 1);
	ck_assert_uint_eq(owner_in(0755, 4711), 4711);
	ck_assert_uint_eq(owner_in(01777, 0), 4711);
	ck_assert_uint_eq(owner_in(0755, 0), 0); /* a system directory */
	ck_assert_uint_eq(owner_in(0755, 4713), 0);
	setenv("SUDO_UID", "-4711", 1);
	ck_assert_uint_eq(owner_in(01777, 0), 0);
	setenv("SUDO_UID", "4711x", 1);
	ck_assert_uint_eq(owner_in(01777, 0), 0);
	unsetenv("SUDO_UID");
	ck_assert_uint_eq(owner_in(01777, 0), 0);
	unsetenv("SUDO_GID");
}
END_TEST

/* Files that others made or can write, and links, are not written to. */
START_TEST(foreign_files_are_refused)
{
	char *path = fixture_path(), *link = fixture_path();
	struct trace_writer *w;
	struct stat st;

	fixture_store(path, "", 0);
	ck_assert_int_eq(chmod(path, 0666), 0);
	ck_assert_int_eq(trace_writer_open(&w, path), -EUSERS);
	ck_assert_int_eq(symlink(path, link), 0);
	ck_assert_int_eq(trace_writer_open(&w, link), -EUSERS);
	ck_assert_int_eq(chmod(path, 0644), 0);
	record(path, 1);
	ck_assert_uint_eq(samples_of(path), 1);
	if (geteuid() == 0) {
		ck_assert_int_eq(lchown(link, 65534, 65534), 0);
		ck_assert_int_eq(trace_writer_open(&w, link), -EUSERS);
		ck_assert_uint_eq(samples_of(path), 1);
		unlink(path);
		ck_assert_int_eq(mkfifo(path, 0600), 0);
		ck_assert_int_eq(chown(path, 65534, 65534), 0);
		ck_assert_int_eq(trace_writer_open(&w, path), -EUSERS);
		unlink(path);
		fixture_store(path, "", 0);
		ck_assert_int_eq(chown(path, 65534, 65534), 0);
		ck_assert_int_eq(trace_writer_open(&w, path), -EUSERS);
	}
	unlink(path);
	ck_assert_int_eq(trace_writer_open(&w, link), -ENOLINK);
	ck_assert_int_ne(stat(path, &st), 0);
	unlink(link);
	free(link);
	free(path);
}
END_TEST

START_TEST(stream_without_reader)
{
	struct trace_writer *w;
	char name[32];
	int pipes[2], err = 0;

	signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(pipe(pipes), 0);
	snprintf(name, sizeof(name), "/dev/fd/%d", pipes[1]);
	ck_assert_int_eq(trace_writer_open(&w, name), 0);
	ck_assert(trace_writer_streams(w));
	close(pipes[1]);
	close(pipes[0]);
	for (uint32_t i = 0; i < 100; i++)
		fixture_sample(w, i + 1, 0);
	err = trace_writer_flush(w);
	ck_assert_int_eq(err, -EPIPE);
	ck_assert_uint_eq(trace_writer_samples(w), 0);
	ck_assert_int_eq(trace_writer_close(w), -EPIPE);
}
END_TEST

/* Puts a name and a sample, which compress badly. */
static int put_named(struct trace_writer *w, uint32_t i)
{
	char text[64];
	struct trace_rec rec = {.kind = TRACE_NAME, .name = {.name = i}};
	struct trace_rec sample = {.kind = TRACE_SAMPLE, .sample = {.time_ns = i, .node = i}};
	uint64_t x = i * 0x9e3779b97f4a7c15ULL;

	snprintf(text, sizeof(text), "%016llx%016llx", (unsigned long long)x,
		 (unsigned long long)(x * x * 0xd6e8feb86659fd93ULL));
	rec.name.text = (struct trace_str){text, (uint32_t)strlen(text)};
	return trace_writer_put(w, &rec) ?: trace_writer_put(w, &sample);
}

/*
 * Of 4,000 samples in one block, a disk of `limit` bytes keeps some; whatever is in the file is complete and in order.
 */
START_TEST(full_disk_keeps_what_fits)
{
	static const struct {
		rlim_t limit;
		uint64_t least, most; /* of the samples */
	} cases[] = {{2048, 1, 200}, {16384, 400, 2000}, {65536, 2000, 3999}};
	char *path = fixture_path();
	struct rlimit limit = {cases[_i].limit, RLIM_INFINITY};
	struct fixture_text got;
	struct trace_writer *w;
	struct stat st;
	uint64_t kept;
	int err;

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(trace_writer_open(&w, path), 0);
	for (uint32_t i = 1; i <= 4000; i++)
		ck_assert_int_eq(put_named(w, i), 0);
	setrlimit(RLIMIT_FSIZE, &limit); /* no assertion while the limit holds: Check writes to a file, too */
	err = trace_writer_flush(w);
	limit.rlim_cur = RLIM_INFINITY;
	setrlimit(RLIMIT_FSIZE, &limit);
	ck_assert_int_eq(err, -EFBIG);
	ck_assert_int_eq(put_named(w, 1), -EFBIG);
	kept = trace_writer_samples(w);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq((uint64_t)st.st_size, trace_writer_bytes(w));
	ck_assert_int_eq(trace_writer_close(w), -EFBIG);
	ck_assert_uint_ge(kept, cases[_i].least);
	ck_assert_uint_le(kept, cases[_i].most);
	ck_assert_int_eq(fixture_read(path, &got), 0);
	ck_assert_uint_eq(got.records, 2 * kept); /* each with its name */
	ck_assert_uint_eq(got.damage.bad_blocks + got.damage.skipped_bytes + got.damage.bad_records, 0);
	ck_assert(!got.damage.truncated && !got.damage.missing_blocks && got.damage.no_index);
	free(got.text);
	unlink(path);
	free(path);
}
END_TEST

Suite *test_trace_output(void)
{
	Suite *s = suite_create("trace_output");
	TCase *tc = tcase_create("trace_output");

	tcase_add_test(tc, former_trace_is_kept);
	tcase_add_test(tc, a_recording_that_does_not_begin_leaves_the_former_trace);
	tcase_add_test(tc, sudo_trace_is_its_users);
	tcase_add_test(tc, foreign_files_are_refused);
	tcase_add_test(tc, stream_without_reader);
	tcase_add_loop_test(tc, full_disk_keeps_what_fits, 0, 3);
	suite_add_tcase(s, tc);
	return s;
}
