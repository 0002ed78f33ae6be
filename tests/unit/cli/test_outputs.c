// SPDX-License-Identifier: Apache-2.0
/* Tests of the files that subcommands write: who may read them, and what they do not write over. */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "unit/commands_fixture.h"

Suite *test_outputs(void);

static mode_t mode_of(const char *path)
{
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	return st.st_mode & 07777;
}

/* A user who may not read the trace may not read its exports, whatever the umask and whatever file was there before. */
START_TEST(outputs_are_private)
{
	char dir[] = "/tmp/braid-export-XXXXXX", path[64], link[64];

	umask(022);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/out", dir);
	snprintf(link, sizeof(link), "%s/link", dir);
	ck_assert_int_eq(chmod(trace_path, 0600), 0);
	free(RUN(cmd_report, "--html", path, trace_path));
	ck_assert_uint_eq(mode_of(path), 0600);
	ck_assert_int_eq(chmod(path, 0664), 0);
	free(RUN(cmd_export, "-o", path, trace_path));
	ck_assert_uint_eq(mode_of(path), 0600);
	ck_assert_int_eq(chmod(path, 0666), 0);
	refused(cmd_export, "any user can write it", (const char *const[]){"braid x", "-o", path, trace_path, NULL});
	ck_assert_int_eq(chmod(path, 0600), 0);
	ck_assert_int_eq(chmod(trace_path, 0640), 0);
	free(RUN(cmd_export, "-o", path, trace_path));
	ck_assert_uint_eq(mode_of(path), 0640);
	/* a dangling link would create the file it points to */
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(symlink(path, link), 0);
	refused(cmd_export, "cannot write ", (const char *const[]){"braid x", "-o", link, trace_path, NULL});
	ck_assert_int_ne(access(path, F_OK), 0);
	if (geteuid() == 0) { /* another user made the file before */
		fclose(fopen(path, "w"));
		ck_assert_int_eq(chown(path, 65534, 65534), 0);
		refused(cmd_export, "another user's file",
			(const char *const[]){"braid x", "-o", path, trace_path, NULL});
		ck_assert_int_eq(unlink(path), 0);
	}
	ck_assert_int_eq(unlink(link), 0);
	ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

/* Another user's link could lead to any file of the caller; the caller's own one is followed. */
START_TEST(links_of_others_are_not_followed)
{
	char path[80], link[80];
	struct stat st;

	snprintf(path, sizeof(path), "%s.precious", trace_path);
	snprintf(link, sizeof(link), "%s.link", trace_path);
	fclose(fopen(path, "w"));
	ck_assert_int_eq(symlink(path, link), 0);
	free(RUN(cmd_report, "--html", link, trace_path));
	ck_assert_int_eq(truncate(path, 4711), 0);
	if (geteuid() == 0) {
		ck_assert_int_eq(lchown(link, 65534, 65534), 0);
		refused(cmd_report, "another user's file or link",
			(const char *const[]){"braid x", "--html", link, trace_path, NULL});
		refused(cmd_export, "another user's file or link",
			(const char *const[]){"braid x", "-o", link, trace_path, NULL});
		ck_assert_int_eq(stat(path, &st), 0);
		ck_assert_int_eq(st.st_size, 4711);
	}
	ck_assert_int_eq(unlink(link), 0);
	ck_assert_int_eq(unlink(path), 0);
}
END_TEST

/* A page about two traces shows both. */
START_TEST(a_page_of_two_is_as_private_as_both)
{
	char other[80], page[80];
	struct stat st;

	snprintf(other, sizeof(other), "%s.other", trace_path);
	snprintf(page, sizeof(page), "%s.html", trace_path);
	ck_assert_int_eq(rename(trace_path, other), 0);
	write_trace();
	ck_assert_int_eq(chmod(other, 0600), 0);
	ck_assert_int_eq(chmod(trace_path, 0640), 0);
	free(RUN(cmd_diff, "--html", page, other, trace_path));
	ck_assert_uint_eq(mode_of(page), 0600);
	free(RUN(cmd_diff, "--html", page, trace_path, other));
	ck_assert_uint_eq(mode_of(page), 0600);
	if (geteuid() == 0) { /* of different users, and groups that may read them */
		ck_assert_int_eq(chmod(other, 0640), 0);
		ck_assert_int_eq(chown(trace_path, 65534, 65534), 0);
		free(RUN(cmd_diff, "--html", page, other, trace_path));
		ck_assert_int_eq(stat(page, &st), 0);
		ck_assert_uint_eq(st.st_uid, 0);
		ck_assert_uint_eq(st.st_mode & 07777, 0600);
	}
	ck_assert_int_eq(unlink(page), 0);
	ck_assert_int_eq(unlink(other), 0);
}
END_TEST

/* A new trace gives the former one of its name the name OUT.old, which can be the input's. */
START_TEST(inputs_are_not_replaced)
{
	char older[80];

	snprintf(older, sizeof(older), "%s.old", trace_path);
	ck_assert_int_eq(rename(trace_path, older), 0);
	write_trace();
	refused(cmd_cut, "would be replaced by the former ",
		(const char *const[]){"braid x", "--pid", "100", "-o", trace_path, older, NULL});
	free(RUN(cmd_info, older));
	/* without a former one nothing is renamed */
	ck_assert_int_eq(unlink(trace_path), 0);
	free(RUN(cmd_cut, "--pid", "100", "-o", trace_path, older));
	free(RUN(cmd_info, older));
}
END_TEST

static void stdin_is(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	ck_assert_int_eq(dup2(fd, STDIN_FILENO), STDIN_FILENO);
	close(fd);
}

/* A trace on standard input is looked at as one that is named. */
START_TEST(standard_input_is_an_input)
{
	char older[80], page[80];

	snprintf(older, sizeof(older), "%s.old", trace_path);
	snprintf(page, sizeof(page), "%s.html", trace_path);
	ck_assert_int_eq(chmod(trace_path, 0640), 0);
	stdin_is(trace_path);
	free(RUN(cmd_report, "--html", page, "-"));
	ck_assert_uint_eq(mode_of(page), 0640);
	ck_assert_int_eq(unlink(page), 0);
	stdin_is(trace_path);
	refused(cmd_export, "is the trace itself", (const char *const[]){"braid x", "-o", trace_path, "-", NULL});
	ck_assert_int_eq(rename(trace_path, older), 0);
	write_trace();
	stdin_is(older);
	refused(cmd_cut, "would be replaced by the former ",
		(const char *const[]){"braid x", "--pid", "100", "-o", trace_path, "-", NULL});
}
END_TEST

/* The exit status of an export whose standard output is a terminal; *shown: the bytes that the terminal got. */
static int export_to_terminal(const char *format, int *shown)
{
	char *argv[] = {(char[]){"braid export"}, (char[]){"--format"}, (char *)(uintptr_t)format, trace_path, NULL};
	int terminal = posix_openpt(O_RDWR | O_NOCTTY), status;
	pid_t pid;

	ck_assert(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		int fd = open(ptsname(terminal), O_RDWR | O_NOCTTY);

		if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || !freopen(error_path, "w", stderr))
			_exit(EXIT_FAILURE);
		status = cmd_export(4, argv);
		fflush(stdout);
		_exit(status);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(ioctl(terminal, FIONREAD, shown), 0);
	close(terminal);
	read_back(error_path, error_text, sizeof(error_text));
	return WEXITSTATUS(status);
}

START_TEST(a_terminal_gets_text_only)
{
	static const char *const binary[] = {"pprof", "otlp", "perfetto", "jfr"};
	int shown;

	for (size_t i = 0; i < sizeof(binary) / sizeof(binary[0]); i++) {
		ck_assert_int_eq(export_to_terminal(binary[i], &shown), 2);
		ck_assert_int_eq(shown, 0);
		ck_assert_msg(strstr(error_text, "is not text for a terminal"), "%s", error_text);
	}
	ck_assert_int_eq(export_to_terminal("collapsed", &shown), 0);
	ck_assert_int_gt(shown, 0);
}
END_TEST

Suite *test_outputs(void)
{
	Suite *s = suite_create("outputs");
	TCase *files = tcase_create("files");

	tcase_add_unchecked_fixture(files, make_directory, remove_directory);
	tcase_add_checked_fixture(files, write_trace, NULL);
	tcase_add_test(files, outputs_are_private);
	tcase_add_test(files, links_of_others_are_not_followed);
	tcase_add_test(files, a_page_of_two_is_as_private_as_both);
	tcase_add_test(files, inputs_are_not_replaced);
	tcase_add_test(files, standard_input_is_an_input);
	tcase_add_test(files, a_terminal_gets_text_only);
	suite_add_tcase(s, files);
	return s;
}
