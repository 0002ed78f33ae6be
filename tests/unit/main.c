// SPDX-License-Identifier: Apache-2.0
/*
 * Runs every suite of a directory, tests/unit or tests/unit/agent: a file test_NAME.c defines `Suite *test_NAME(void)`.
 * Arguments select suites by name.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

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

static int wanted(const char *name, int argc, char **argv)
{
	if (argc < 2)
		return 1;
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	SRunner *runner = srunner_create(NULL);
	int failed;

	/* The timeout only ends a test that hangs; no result depends on the machine's speed. */
	setenv("CK_DEFAULT_TIMEOUT", "60", 0);
	for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++)
		if (wanted(suites[i].name, argc, argv))
			srunner_add_suite(runner, suites[i].make());
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
