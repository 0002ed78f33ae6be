// SPDX-License-Identifier: Apache-2.0
#ifndef BRAID_TESTS_UNWIND_TABLES_H
#define BRAID_TESTS_UNWIND_TABLES_H

#include "unit/program.h"
#include "unwind/table.h"

static inline struct unwind_table *table_of(const char *path)
{
	struct unwind_table *t = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
	ck_assert_int_eq(unwind_table_build(&t, fd), 0);
	close(fd);
	return t;
}

/* Checks what the header promises about every table. */
static inline void table_check(const struct unwind_table *t)
{
	uint32_t row = 0, unsupported = 0;

	ck_assert_uint_gt(t->row_count, 0);
	for (uint32_t i = 1; i < t->row_count; i++) {
		ck_assert_uint_lt(t->rows[i - 1].pc, t->rows[i].pc);
		ck_assert_uint_ne(t->rows[i - 1].rule, t->rows[i].rule);
	}
	for (uint32_t i = 0; i < t->row_count; i++)
		unsupported += braid_rule_cfa(t->rows[i].rule) == BRAID_CFA_UNSUPPORTED;
	ck_assert_uint_eq(t->unsupported, unsupported);
	ck_assert_uint_eq(t->first_page, t->rows[0].pc >> BRAID_UNWIND_PAGE_SHIFT);
	for (uint32_t page = 0; page <= t->page_count; page++) {
		uint64_t start = (uint64_t)(t->first_page + page) << BRAID_UNWIND_PAGE_SHIFT;

		while (row < t->row_count && t->rows[row].pc < start)
			row++;
		ck_assert_uint_eq(t->index[page], row);
	}
	ck_assert_uint_eq(t->index[t->page_count], t->row_count);
	ck_assert_uint_eq(t->rows[t->row_count - 1].rule, BRAID_CFA_NONE);
}

#endif
