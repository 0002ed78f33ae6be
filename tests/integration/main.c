// SPDX-License-Identifier: Apache-2.0
/*
 * Runs tests/integration/t_NAME.sh, each as one test, in a directory of its own. A script succeeds with 0; with 77 it
 * says why it cannot run here. Arguments choose scripts by NAME.
 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIMIT_S 120
#define PATIENCE_S 5
#define CANNOT_RUN 77
#define TIMED_OUT (-1)

static const char *tests_dir;
static char suite_dir[] = "/tmp/braid-tests-XXXXXX";
static TTest *tests; /* Check keeps the address of each */

static char *path_of(const char *dir, const char *name, const char *suffix)
{
	char *path;

	if (asprintf(&path, "%s/%s%s", dir, name, suffix) < 0)
		abort();
	return path;
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- one script ---- */

static void become_script(const char *script, const char *dir, const char *output)
{
	int out = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
	int in = open("/dev/null", O_RDONLY);

	setpgid(0, 0);
	if (out < 0 || in < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0 || chdir(dir))
		_exit(126);
	execlp("bash", "bash", script, (char *)NULL);
	_exit(127);
}

/* False when there are none. */
static bool children_signal(int signal)
{
	char path[64], text[4096], *at, *end;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/children", (long)getpid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	for (at = text; strtol(at, &end, 10) > 0; at = end)
		kill((pid_t)strtol(at, NULL, 10), signal);
	return true;
}

/*
 * What the script has left running was given to this process, its subreaper: it has no other children. A recording that
 * is killed leaves files behind, so it is asked first.
 */
static void end_leftovers(void)
{
	const struct timespec step = {.tv_nsec = 10000000};
	double start = now_s();
	int signal = SIGTERM;

	while (children_signal(signal)) {
		nanosleep(&step, NULL);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (now_s() - start > PATIENCE_S)
			signal = SIGKILL;
	}
}

/* The exit status as a shell gives it, or TIMED_OUT. */
static int script_run(const char *script, const char *dir, const char *output)
{
	pid_t pid = fork();
	struct pollfd p;
	int status, n;

	if (pid == 0)
		become_script(script, dir, output);
	ck_assert_msg(pid > 0, "fork: %s", strerror(errno));
	p = (struct pollfd){.fd = (int)syscall(SYS_pidfd_open, (long)pid, 0L), .events = POLLIN};
	ck_assert_msg(p.fd >= 0, "pidfd_open: %s", strerror(errno));
	n = poll(&p, 1, LIMIT_S * 1000);
	close(p.fd);
	if (n <= 0)
		kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (n <= 0)
		return TIMED_OUT;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void print_file(const char *path, const char *mark)
{
	FILE *f = fopen(path, "re");
	char line[1024];

	while (f && fgets(line, sizeof(line), f))
		printf("%s%s", mark, line);
	if (f)
		fclose(f);
}

/* CK_FORK=yes, the default: everything here belongs to a process of this test alone. */
START_TEST(script)
{
	const char *name = tests[_i].name;
	char *path = path_of(tests_dir, name, ".sh"), *dir = path_of(suite_dir, name, ""),
	     *output = path_of(dir, "output", "");
	double start = now_s();
	int status;

	ck_assert_msg(mkdir(dir, 0755) == 0, "%s: %s", dir, strerror(errno));
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	status = script_run(path, dir, output);
	end_leftovers();
	printf("  %-28s %6.1f s  %s\n", name + 2, now_s() - start,
	       status == 0	      ? "ok"
	       : status == CANNOT_RUN ? "CANNOT RUN HERE"
				      : "FAILED");
	if (status)
		print_file(output, "    | ");
	fflush(stdout);
	free(path);
	free(dir);
	free(output);
	ck_assert_msg(status != TIMED_OUT, "not done after %d s", LIMIT_S);
	ck_assert_msg(status == 0 || status == CANNOT_RUN, "exit status %d", status);
}
END_TEST

/* ---- all scripts ---- */

static int is_script(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return n > 5 && strncmp(e->d_name, "t_", 2) == 0 && strcmp(e->d_name + n - 3, ".sh") == 0;
}

static bool wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], name + 2) == 0)
			return true;
	return argc < 2;
}

static int scripts_add(TCase *tc, int argc, char **argv)
{
	struct dirent **list;
	int count = scandir(tests_dir, &list, is_script, alphasort), added = 0;

	if (count < 0) {
		fprintf(stderr, "%s: %s; run this in the top directory\n", tests_dir, strerror(errno));
		return 0;
	}
	tests = calloc((size_t)count + 1, sizeof(*tests));
	for (int i = 0; i < count && tests; i++) {
		char *name = list[i]->d_name;

		name[strlen(name) - 3] = '\0';
		if (!wanted(name, argc, argv))
			continue;
		tests[added] = *script;
		tests[added].name = name;
		tcase_add_loop_test(tc, &tests[added], added, added + 1);
		added++;
	}
	return added;
}

static void suite_dir_remove(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		execlp("rm", "rm", "-rf", suite_dir, (char *)NULL);
		_exit(127);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	Suite *suite = suite_create("integration");
	TCase *tc = tcase_create("scripts");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, LIMIT_S + 30);
	tests_dir = realpath("tests/integration", NULL);
	if (!tests_dir || !getenv("BUILD") || !getenv("JAVA_HOME")) {
		fputs("Run this in the top directory with BUILD and JAVA_HOME set; `make test-integration` does.\n",
		      stderr);
		return EXIT_FAILURE;
	}
	if (!mkdtemp(suite_dir) || chmod(suite_dir, 0755) || setenv("SUITE_DIR", suite_dir, 1)) {
		perror(suite_dir);
		return EXIT_FAILURE;
	}
	if (!scripts_add(tc, argc, argv)) {
		fputs("No such test.\n", stderr);
		return EXIT_FAILURE;
	}
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	if (failed && getenv("KEEP"))
		fprintf(stderr, "kept: %s\n", suite_dir);
	else
		suite_dir_remove();
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
