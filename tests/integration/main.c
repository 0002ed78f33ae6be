// SPDX-License-Identifier: Apache-2.0
/*
 * Runs tests/integration/SUBJECT/t_NAME.sh, each in its own directory, the longest first, three at a time on two CPUs,
 * since each waits for half of its time; then those with "# alone: why" in their head, one after the other. Each is one
 * test of Check, whose summary ends the output. A script succeeds with 0; with 77 it has printed why it cannot run
 * here. A failed test is not repeated. KEEP=1 keeps the directories of a run with a failed test. With a budget of
 * seconds, scripts are chosen at random, so all have their turn in some run, and those that are not expected to end in
 * time are left out.
 */
#include "tests/integration/script.h"
#include <check.h>
#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LONGEST 5 /* printed at the end */

static char suite_dir[] = "/tmp/braid-tests-XXXXXX";
static struct script *scripts; /* in the order of their starts */
static int count, finished;
static double begin_s;
static bool interrupted;
static TTest *tests; /* Check keeps the address of each */

static struct {
	unsigned int classes;
	int jobs, times;
	int budget_s; /* 0: none */
	bool list;
	char **patterns; /* NULL-terminated */
} options = {.times = 1};

static char *path_of(const char *dir, const char *name, const char *suffix)
{
	char *path;

	if (asprintf(&path, "%s/%s%s", dir, name, suffix) < 0)
		abort();
	return path;
}

/* ---- running them ---- */

static const char *verdict(const struct script *s)
{
	switch (s->status) {
	case 0:
		return "ok";
	case CANNOT_RUN:
		return "SKIPPED";
	case TIMED_OUT:
		return "FAILED: TIMED OUT";
	case INTERRUPTED:
		return "INTERRUPTED";
	default:
		return "FAILED";
	}
}

static void print_output(const struct script *s)
{
	FILE *f = fopen(s->output, "re");
	char line[1024];

	while (f && fgets(line, sizeof(line), f))
		printf("    | %s%s", line, strchr(line, '\n') ? "" : "\n");
	if (f)
		fclose(f);
}

static void finish(pid_t pid, int how, const struct rusage *used)
{
	for (int i = 0; i < count; i++) {
		struct script *s = &scripts[i];

		if (s->supervisor != pid)
			continue;
		s->supervisor = 0;
		s->took_s = now_s() - s->start_s;
		s->cpu_s = (double)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) +
			   (double)(used->ru_utime.tv_usec + used->ru_stime.tv_usec) / 1e6;
		s->status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
		printf("  %3d/%d %-32s %6.1f s, CPU %5.1f s  %s\n", ++finished, count, s->name, s->took_s, s->cpu_s,
		       verdict(s));
		if (s->status)
			print_output(s);
		fflush(stdout);
		return;
	}
}

/* Waits for a child's end or for a signal that ends everything; returns the number of children that have ended. */
static int wait_some(const sigset_t *waited)
{
	int signal = sigwaitinfo(waited, NULL), ended = 0, how;
	struct rusage used;
	pid_t pid;

	if (signal > 0 && signal != SIGCHLD) {
		interrupted = true;
		for (int i = 0; i < count; i++)
			if (scripts[i].supervisor > 0)
				kill(scripts[i].supervisor, SIGTERM);
	}
	while ((pid = wait4(-1, &how, WNOHANG, &used)) > 0) {
		finish(pid, how, &used);
		ended++;
	}
	return ended;
}

/* Whether it ends before the budget's end even if it takes twice as long as its head says. */
static bool fits(const struct script *s)
{
	return !options.budget_s || now_s() + 2 * s->takes_s < begin_s + options.budget_s;
}

static void run_those(bool alone, int jobs, const sigset_t *waited, const sigset_t *usual)
{
	int next = 0, running = 0;

	for (;;) {
		for (; next < count && running < jobs && !interrupted; next++) {
			if (scripts[next].alone != alone || !fits(&scripts[next]))
				continue;
			if (script_start(&scripts[next], waited, usual) == 0)
				running++;
		}
		if (!running)
			return;
		running -= wait_some(waited);
	}
}

static void run_all(void)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD};
	sigset_t waited, usual;

	sigemptyset(&waited);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaddset(&waited, ends[i]);
	sigprocmask(SIG_BLOCK, &waited, &usual);
	run_those(false, options.jobs, &waited, &usual);
	run_those(true, 1, &waited, &usual);
	sigprocmask(SIG_SETMASK, &usual, NULL);
}

/* Scripts for which there was no time are none of the tests. */
static void drop_left_out(void)
{
	int kept = 0;

	if (!options.budget_s || interrupted)
		return;
	printf("no time for:");
	for (int i = 0; i < count; i++) {
		if (scripts[i].start_s > 0)
			scripts[kept++] = scripts[i];
		else
			printf(" %s", scripts[i].name);
	}
	printf("; %d of %d have run\n", kept, count);
	count = kept;
}

static int longer(const void *a, const void *b)
{
	double x = ((const struct script *)a)->took_s, y = ((const struct script *)b)->took_s;

	return (x < y) - (x > y);
}

static void print_longest(double took_s)
{
	struct script *sorted = calloc((size_t)count, sizeof(*sorted));
	double cpu_s = 0;
	int skipped = 0;

	if (!sorted)
		return;
	memcpy(sorted, scripts, (size_t)count * sizeof(*sorted));
	qsort(sorted, (size_t)count, sizeof(*sorted), longer);
	printf("longest:");
	for (int i = 0; i < count; i++) {
		cpu_s += sorted[i].cpu_s;
		skipped += sorted[i].status == CANNOT_RUN;
		if (i < LONGEST)
			printf("%s %s %.1f s", i ? "," : "", sorted[i].name, sorted[i].took_s);
	}
	printf("; all %d (%d skipped): %.0f s, CPU %.0f s, %d at a time\n", count, skipped, took_s, cpu_s,
	       options.jobs);
	fflush(stdout);
	free(sorted);
}

/* ---- for Check: each has run already ---- */

START_TEST(script)
{
	const struct script *s = &scripts[_i];

	ck_assert_msg(s->status != TIMED_OUT, "not done after %d s", script_limit_s(s));
	ck_assert_msg(s->status != JVM_CRASHED, "a JVM crashed");
	ck_assert_msg(s->status == 0 || s->status == CANNOT_RUN, "exit status %d", s->status);
}
END_TEST

static int report(void)
{
	Suite *suite = suite_create("integration");
	TCase *tc = tcase_create("scripts");
	SRunner *runner = srunner_create(suite);
	int failed;

	tests = calloc((size_t)count, sizeof(*tests));
	if (!tests)
		return 1;
	suite_add_tcase(suite, tc);
	for (int i = 0; i < count; i++) {
		tests[i] = *script;
		tests[i].name = scripts[i].name;
		tcase_add_loop_test(tc, &tests[i], i, i + 1);
	}
	srunner_set_fork_status(runner, CK_NOFORK);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed;
}

/* ---- which ones ---- */

/* A pattern matches a subject, a name or both. */
static bool matches(const struct script *s, const char *pattern)
{
	char subject[NAME_MAX + 1];
	const char *slash = strchr(s->name, '/');

	snprintf(subject, sizeof(subject), "%.*s", (int)(slash - s->name), s->name);
	return fnmatch(pattern, s->name, 0) == 0 || fnmatch(pattern, subject, 0) == 0 ||
	       fnmatch(pattern, slash + 1, 0) == 0;
}

static bool is_selected(const struct script *s)
{
	if (!(options.classes & s->class))
		return false;
	for (char **p = options.patterns; *p; p++)
		if (matches(s, *p))
			return true;
	return !options.patterns[0];
}

static int scripts_add(const struct script *s)
{
	struct script *grown = realloc(scripts, (size_t)(count + options.times) * sizeof(*scripts));

	if (!grown) {
		perror("scripts");
		return 1;
	}
	scripts = grown;
	for (int n = 0; n < options.times; n++) {
		scripts[count] = *s;
		scripts[count++].status = INTERRUPTED; /* until it has run */
	}
	return 0;
}

/* SUBJECT/t_NAME.sh, relative to the directory of all subjects. */
static int script_add(const char *dir, const char *path)
{
	const char *slash = strchr(path, '/');
	struct script s = {.path = path_of(dir, path, "")};

	if (script_read(&s))
		return 1;
	if (asprintf(&s.name, "%.*s/%.*s", (int)(slash - path), path, (int)(strlen(slash) - strlen("/t_.sh")),
		     slash + strlen("/t_")) < 0)
		abort();
	return is_selected(&s) ? scripts_add(&s) : 0;
}

static int scripts_read(const char *dir)
{
	size_t skipped = strlen(dir) + 1;
	char *pattern = path_of(dir, "*/t_*.sh", "");
	glob_t found;
	int bad = glob(pattern, 0, NULL, &found);

	if (bad)
		fprintf(stderr, "%s: no tests\n", pattern);
	for (size_t i = 0; !bad && i < found.gl_pathc; i++)
		bad = script_add(dir, found.gl_pathv[i] + skipped);
	if (!bad && !count)
		fputs("No such test.\n", stderr);
	return bad || !count;
}

static void shuffle(void)
{
	srandom((unsigned int)time(NULL));
	for (int i = count - 1; i > 0; i--) {
		int j = (int)(random() % (i + 1));
		struct script s = scripts[i];

		scripts[i] = scripts[j];
		scripts[j] = s;
	}
}

static int begins_earlier(const void *a, const void *b)
{
	const struct script *x = a, *y = b;

	return x->takes_s != y->takes_s ? y->takes_s - x->takes_s : strcmp(x->name, y->name);
}

static int options_read(int argc, char **argv)
{
	static const char usage[] =
		"usage: integration [-c CLASS,...] [-j JOBS] [-n TIMES] [-b SECONDS] [-l] [PATTERN...]\n"
		"Runs the tests whose subject, name or subject/name matches a pattern; without a pattern, those of the "
		"classes quick and normal\n"
		"(the third class is `long`). JOBS run at a time (three on two CPUs), each TIMES times; with "
		"-b, as many as end within SECONDS,\n"
		"chosen at random; -l only lists them.\n";
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int option, bad = 0;

	options.jobs = cpus > 0 ? (int)(cpus + (cpus + 1) / 2) : 1;
	while ((option = getopt(argc, argv, "c:j:n:b:l")) != -1) {
		if (option == 'c') {
			for (const char *word = optarg; *word; word += strcspn(word, ","), word += *word == ',')
				bad |= class_parse(word, strcspn(word, ","), &options.classes);
		} else if (option == 'j') {
			options.jobs = atoi(optarg);
		} else if (option == 'n') {
			options.times = atoi(optarg);
		} else if (option == 'b') {
			options.budget_s = atoi(optarg);
			bad |= options.budget_s < 1;
		} else if (option == 'l') {
			options.list = true;
		} else {
			bad = 1;
		}
	}
	options.patterns = argv + optind;
	if (!options.classes)
		options.classes = QUICK | NORMAL | (optind < argc ? LONG : 0U);
	if (bad || options.jobs < 1 || options.times < 1 || options.times > 9999) {
		fputs(usage, stderr);
		return 1;
	}
	return 0;
}

static int suite_dir_make(void)
{
	char number[16] = "";

	if (!mkdtemp(suite_dir) || chmod(suite_dir, 0755) || setenv("SUITE_DIR", suite_dir, 1)) {
		perror(suite_dir);
		return 1;
	}
	for (int i = 0; i < count; i++) {
		if (options.times > 1)
			snprintf(number, sizeof(number), ".%d", i);
		scripts[i].dir = path_of(suite_dir, scripts[i].name, number);
		*strrchr(scripts[i].dir, '/') = '-'; /* of SUBJECT/NAME */
		scripts[i].output = path_of(scripts[i].dir, "output", "");
	}
	return 0;
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

static void print_list(void)
{
	for (int i = 0; i < count; i++)
		printf("%-32s %-6s %3d s%s\n", scripts[i].name,
		       scripts[i].class == QUICK  ? "quick"
		       : scripts[i].class == LONG ? "long"
						  : "normal",
		       scripts[i].takes_s, scripts[i].alone ? ", alone" : "");
}

/* $BUILD/integration.failed has the names of the tests that have failed, or is missing. */
static int failed_write(const char *path)
{
	FILE *f;

	(void)unlink(path);
	for (int i = 0; i < count; i++) {
		if (scripts[i].status == 0 || scripts[i].status == CANNOT_RUN)
			continue;
		f = fopen(path, "ae");
		if (!f || fprintf(f, "%s\n", scripts[i].name) < 0 || fclose(f)) {
			perror(path);
			return 1;
		}
	}
	return 0;
}

static int run_and_report(void)
{
	char *failures = path_of(getenv("BUILD"), "integration", ".failed");
	int failed;

	if (suite_dir_make())
		return EXIT_FAILURE;
	begin_s = now_s();
	run_all();
	drop_left_out();
	print_longest(now_s() - begin_s);
	failed = report() + failed_write(failures);
	free(failures);
	if (failed && !interrupted && getenv("KEEP"))
		fprintf(stderr, "kept: %s\n", suite_dir);
	else
		suite_dir_remove();
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	const char *dir = realpath("tests/integration", NULL);

	if (options_read(argc, argv))
		return EXIT_FAILURE;
	if (!dir || !getenv("BUILD") || !getenv("JAVA_HOME")) {
		fputs("Run this in the top directory with BUILD and JAVA_HOME set; `make test-integration` does.\n",
		      stderr);
		return EXIT_FAILURE;
	}
	if (scripts_read(dir))
		return EXIT_FAILURE;
	qsort(scripts, (size_t)count, sizeof(*scripts), begins_earlier);
	if (options.budget_s)
		shuffle();
	if (!options.list)
		return run_and_report();
	print_list();
	return EXIT_SUCCESS;
}
