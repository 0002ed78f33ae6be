// SPDX-License-Identifier: Apache-2.0
/* For tests of symbols: the symbols of a file, and the one at an address. Each test has its own directory. */
#ifndef BRAID_TESTS_SYMBOL_FIXTURE_H
#define BRAID_TESTS_SYMBOL_FIXTURE_H

#include "symbol/symbol.h"
#include "unit/program.h"

#include <time.h>

static inline struct symbols *symbols_of(const char *path, const char *root)
{
	struct symbols *s = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
	ck_assert_int_eq(symbols_open_elf(&s, fd, root, path + strlen(root)), 0);
	close(fd);
	return s;
}

/* The symbol that covers `address`; all zero when none does. */
static inline struct symbol symbol_at(const struct symbols *s, uint64_t address)
{
	struct symbol found = {0};

	(void)symbols_find(s, address, &found);
	return found;
}

static inline const char *name_at(const struct symbols *s, uint64_t address)
{
	struct symbol found = symbol_at(s, address);

	return found.name ? found.name : "";
}

static inline double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

#endif
