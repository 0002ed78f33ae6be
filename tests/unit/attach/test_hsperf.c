// SPDX-License-Identifier: Apache-2.0
/* Tests of hsperf.c: performance counters in files that others have written. */
#include "attach/hsperf.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A performance counter file with three strings, as HotSpot writes it. */
static size_t perf_make(unsigned char *to)
{
	static const char *const names[] = {"sun.rt.javaCommand", "java.property.java.version", "java.rt.vmArgs"};
	static const char *const values[] = {"org.Main a b", "17.0.21", "-Xmx1g -XX:+DisableAttachMechanism"};
	int32_t at = 32;

	memset(to, 0, 1024);
	memcpy(to, "\xca\xfe\xc0\xc0\x01\x02\x00\x01", 8);
	memcpy(to + 24, &(int32_t){32}, 4);
	memcpy(to + 28, &(int32_t){3}, 4);
	for (int i = 0; i < 3; i++) {
		int32_t name = 20, data = name + (int32_t)strlen(names[i]) + 1, units = (int32_t)strlen(values[i]) + 1;
		int32_t length = (data + units + 7) & ~7;

		memcpy(to + at, &length, 4);
		memcpy(to + at + 4, &name, 4);
		memcpy(to + at + 8, &units, 4);
		to[at + 12] = 'B';
		memcpy(to + at + 16, &data, 4);
		strcpy((char *)to + at + name, names[i]);
		strcpy((char *)to + at + data, values[i]);
		at += length;
	}
	return (size_t)at;
}

START_TEST(counters)
{
	unsigned char data[1024];
	struct hsperf p;
	size_t n = perf_make(data);

	ck_assert_int_eq(hsperf_parse(data, n, &p), 0);
	ck_assert_str_eq(p.command, "org.Main a b");
	ck_assert_str_eq(p.version, "17.0.21");
	ck_assert_str_eq(p.args, "-Xmx1g -XX:+DisableAttachMechanism");
	data[7] = 0;
	ck_assert_int_eq(hsperf_parse(data, n, &p), -EAGAIN);
	data[0] = 0;
	ck_assert_int_eq(hsperf_parse(data, n, &p), -EINVAL);
	ck_assert_int_eq(hsperf_parse(data, 31, &p), -EINVAL);
}
END_TEST

/* Appends a number to the counters of perf_make(). */
static size_t perf_number(unsigned char *to, size_t at, const char *name, int64_t value)
{
	int32_t count, data = (20 + (int32_t)strlen(name) + 8) & ~7, length = data + 8;

	memcpy(&count, to + 28, 4);
	count++;
	memcpy(to + 28, &count, 4);
	memcpy(to + at, &length, 4);
	memcpy(to + at + 4, &(int32_t){20}, 4);
	to[at + 12] = 'J';
	memcpy(to + at + 16, &data, 4);
	strcpy((char *)to + at + 20, name);
	memcpy(to + at + (size_t)data, &value, 8);
	return at + (size_t)length;
}

/* How long the JVM has stood still is in ticks. */
START_TEST(stopped)
{
	unsigned char data[1024];
	struct hsperf p;
	size_t n = perf_make(data);

	ck_assert_int_eq(hsperf_parse(data, n, &p), 0);
	ck_assert(!p.has_stopped);
	n = perf_number(data, n, "sun.rt.safepointTime", 1500);
	ck_assert_int_eq(hsperf_parse(data, n, &p), 0);
	ck_assert(!p.has_stopped);
	n = perf_number(data, n, "sun.os.hrt.frequency", 1000000);
	ck_assert_int_eq(hsperf_parse(data, n, &p), 0);
	ck_assert(p.has_stopped);
	ck_assert_uint_eq(p.stopped_ns, 1500000);
	ck_assert_int_eq(hsperf_parse(data, n - 8, &p), 0);
	ck_assert(!p.has_stopped);
}
END_TEST

/*
 * Truncated at every length and damaged at every byte. Nothing outside is read (the copy is exact, for valgrind and
 * ASan), and the results end in zeros.
 */
START_TEST(damaged_counters)
{
	static const unsigned char bad[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
	unsigned char data[1024];
	size_t n = perf_make(data);
	struct hsperf p;

	for (size_t i = 0; i <= n; i++) {
		unsigned char *copy = malloc(n);

		ck_assert_ptr_nonnull(copy);
		memcpy(copy, data, n);
		ck_assert_int_eq(hsperf_parse(copy, i, &p), i < 32 ? -EINVAL : 0);
		for (size_t k = 0; i < n && k < sizeof(bad); k++) {
			copy[i] = bad[k];
			hsperf_parse(copy, n, &p);
			ck_assert_ptr_nonnull(memchr(p.command, 0, sizeof(p.command)));
			ck_assert_ptr_nonnull(memchr(p.args, 0, sizeof(p.args)));
			ck_assert_ptr_nonnull(memchr(p.version, 0, sizeof(p.version)));
		}
		free(copy);
	}
}
END_TEST

/*
 * Reads the file in a child. The process's user exchanges it for a FIFO at the child's stop number `at`, and each
 * system call has two. Nobody opens the FIFO: then it would take a writer. Returns the number of stops.
 */
static int read_exchanged(const struct proc_status *status, const char *file, const char *fifo, int fifo_fd, int at)
{
	struct proc_maps maps = {0};
	struct hsperf perf;
	char place[32];
	int state, stops = 0;
	pid_t parent = getpid(), child = fork();

	if (child == 0) {
		alarm(60); /* even if the test hangs */
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) || raise(SIGSTOP))
			_exit(1);
		(void)hsperf_read(parent, status, &maps, &perf);
		_exit(0);
	}
	snprintf(place, sizeof(place), "/proc/self/fd/%d", fifo_fd);
	while (waitpid(child, &state, 0) == child && WIFSTOPPED(state)) {
		if (++stops == at)
			ck_assert_int_eq(renameat2(AT_FDCWD, file, AT_FDCWD, fifo, RENAME_EXCHANGE), 0);
		ck_assert_int_lt(open(place, O_WRONLY | O_NONBLOCK | O_CLOEXEC), 0);
		ck_assert_int_eq(errno, ENXIO);
		ck_assert_int_eq(ptrace(PTRACE_SYSCALL, child, NULL, NULL), 0);
	}
	ck_assert(WIFEXITED(state) && WEXITSTATUS(state) == 0);
	if (stops >= at)
		ck_assert_int_eq(renameat2(AT_FDCWD, file, AT_FDCWD, fifo, RENAME_EXCHANGE), 0);
	return stops;
}

START_TEST(file_exchanged)
{
	char dir[] = "/tmp/hsperfdata_braid-XXXXXX", file[64], fifo[64];
	struct proc_status status = {.ns_pid = 2000000000, .uid = geteuid()};
	struct proc_maps maps = {0};
	unsigned char data[1024];
	struct hsperf perf;
	size_t size = perf_make(data);
	int fd;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/%d", dir, (int)status.ns_pid);
	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ck_assert_int_eq(write(fd, data, size), (ssize_t)size);
	close(fd);
	ck_assert_int_eq(hsperf_read(getpid(), &status, &maps, &perf), 0);
	ck_assert_str_eq(perf.version, "17.0.21");
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	fd = open(fifo, O_PATH | O_CLOEXEC);
	for (int at = 1; read_exchanged(&status, file, fifo, fd, at) >= at; at++)
		;
	close(fd);
	unlink(file);
	unlink(fifo);
	ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

Suite *test_hsperf(void);
Suite *test_hsperf(void)
{
	Suite *s = suite_create("hsperf");
	TCase *t = tcase_create("hsperf");

	tcase_add_test(t, counters);
	tcase_add_test(t, stopped);
	tcase_add_test(t, damaged_counters);
	tcase_add_test(t, file_exchanged);
	suite_add_tcase(s, t);
	return s;
}
