// SPDX-License-Identifier: Apache-2.0
/* A check of a fuzz target, whose failure ends it. */
#ifndef BRAID_TESTS_FUZZ_MUST_H
#define BRAID_TESTS_FUZZ_MUST_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static inline void must(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
	abort();
}

#endif
