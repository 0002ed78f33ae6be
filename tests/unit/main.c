// SPDX-License-Identifier: Apache-2.0
/*
 * Runs every suite of a directory, tests/unit or tests/unit/agent: a file test_NAME.c defines `Suite *test_NAME(void)`.
 * Arguments select suites by name. Suites run side by side, in processes that each take the next one: many tests wait,
 * and each is a process of its own. With CK_FORK=no, all run in this process.
 */
#include <check.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SUITE(name) Suite *name(void);
#include "suites.h"
#undef SUITE

static const struct {
	const char *name;
	Suite *(*make)(void);
} suites[] = {
#define SUITE(name) {#name, name},
#include "suites.h"
#undef SUITE
};

#define SUITES (sizeof(suites) / sizeof(suites[0]))

/* Of all processes. */
struct shared {
	atomic_uint next; /* of `suites` */
	atomic_uint checks, failures, errors;
};

/* ---- the last assertion that held ---- */

/*
 * Check has each assertion that holds written to a file, for the place of one that is the last: a system call for each
 * of millions. The linker calls these instead of Check's own functions: the place is in memory that a runner shares
 * with its test, and is written when the test has ended by a signal, or before its time.
 */
struct place {
	_Atomic(const char *) file; /* NULL: none yet */
	atomic_int line;
};

static struct place *last;
static pid_t parent; /* whose children are tests */

void __real__mark_point(const char *file, int line);
void __wrap__mark_point(const char *file, int line);
pid_t __real_waitpid(pid_t pid, int *status, int options);
pid_t __wrap_waitpid(pid_t pid, int *status, int options);

void __wrap__mark_point(const char *file, int line)
{
	if (!last)
		return;
	atomic_store_explicit(&last->line, line, memory_order_relaxed);
	atomic_store_explicit(&last->file, file, memory_order_relaxed);
}

/* Of an assertion that fails, Check writes the place itself: the test then exits with EXIT_FAILURE. */
pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
	pid_t ended = __real_waitpid(pid, status, options);

	if (ended <= 0 || !last || getpid() != parent)
		return ended;
	if (last->file && *status && !(WIFEXITED(*status) && WEXITSTATUS(*status) == EXIT_FAILURE))
		__real__mark_point(last->file, last->line);
	last->file = NULL;
	return ended;
}

/* ---- a test's end ---- */

#ifdef BRAID_SANITIZED
#define LEAKS_AT_EXIT true /* a destructor looks for them */

extern char __bss_start[], _end[]; /* ld's */

/*
 * At each test's end all of the program's variables are searched for pointers. Those that nobody has touched would be
 * mapped then, page by page, in each test anew.
 */
static void map_variables(void)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)__bss_start & -page;

	/* Linux 5.14; without it, tests only take longer */
	madvise((void *)begin, (((uintptr_t)_end + page - 1) & -page) - begin, MADV_POPULATE_READ);
}
#else
#define LEAKS_AT_EXIT false

static void map_variables(void)
{
}
#endif

/*
 * The destructors of all libraries write to memory that a test has in common with its runner until then, which takes as
 * long as a small test. What a test itself has registered has run.
 */
static void leave(int status, void *unused)
{
	(void)unused;
	fflush(NULL);
	_exit(status);
}

static void places_begin(void)
{
	void *memory = mmap(NULL, sizeof(*last), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	last = memory == MAP_FAILED ? NULL : memory;
	parent = getpid();
}

/* ---- suites ---- */

static bool wanted(const char *name, int argc, char **argv)
{
	if (argc < 2)
		return true;
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return true;
	return false;
}

static void run_suite(struct shared *all, Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	unsigned failed;
	TestResult **results;

	srunner_run_all(runner, CK_SILENT);
	failed = (unsigned)srunner_ntests_failed(runner);
	results = srunner_failures(runner);
	for (unsigned i = 0; i < failed; i++)
		(tr_rtype(results[i]) == CK_ERROR ? &all->errors : &all->failures)[0]++;
	all->checks += (unsigned)srunner_ntests_run(runner);
	if (failed)
		srunner_print(runner, CK_NORMAL);
	fflush(stdout);
	free(results);
	srunner_free(runner);
}

static void run_suites(struct shared *all, int argc, char **argv)
{
	for (unsigned i; (i = all->next++) < SUITES;)
		if (wanted(suites[i].name, argc, argv))
			run_suite(all, suites[i].make());
}

/* Whether all processes came to their end. */
static bool side_by_side(struct shared *all, int argc, char **argv)
{
	long processes = 2 * sysconf(_SC_NPROCESSORS_ONLN);
	bool ended = true;
	int status;

	for (long i = 0; i < processes; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			places_begin();
			map_variables();
			if (!LEAKS_AT_EXIT)
				on_exit(leave, NULL);
			run_suites(all, argc, argv);
			exit(EXIT_SUCCESS);
		}
		ended &= pid > 0;
	}
	while (wait(&status) > 0)
		ended &= WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
	return ended;
}

int main(int argc, char **argv)
{
	struct shared *all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const char *fork_mode = getenv("CK_FORK");
	bool ended = true;
	unsigned failed;

	if (all == MAP_FAILED)
		return EXIT_FAILURE;
	/* The timeout only ends a test that hangs; no result depends on the machine's speed. */
	setenv("CK_DEFAULT_TIMEOUT", "120", 0);
	if (fork_mode && strcmp(fork_mode, "no") == 0)
		run_suites(all, argc, argv);
	else
		ended = side_by_side(all, argc, argv);
	failed = all->failures + all->errors;
	/* Check's own words for the sum of its suites. */
	printf("%u%%: Checks: %u, Failures: %u, Errors: %u\n",
	       all->checks ? 100 * (all->checks - failed) / all->checks : 0, all->checks, all->failures, all->errors);
	if (!ended)
		fprintf(stderr, "unit: a process that runs suites did not come to its end\n");
	return ended && all->checks && !failed ? EXIT_SUCCESS : EXIT_FAILURE;
}
