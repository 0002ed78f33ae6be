// SPDX-License-Identifier: Apache-2.0
/* Rows, their page index, and the search in them. */
#include "table.h"

#include "cfi.h"
#include "util/search.h"

#include <errno.h>
#include <stdlib.h>

/* 128 MiB of rows: many times as many as the largest programs have. */
#define ROWS_MAX (16UL << 20)

int rows_put(cfi_rows *rows, uint32_t pc, uint32_t rule)
{
	struct braid_unwind_row *last;

	while (rows->count && rows->at[rows->count - 1].pc >= pc)
		rows->count--;
	last = rows->count ? &rows->at[rows->count - 1] : NULL;
	if (last ? last->rule == rule : rule == BRAID_CFA_NONE)
		return 0;
	if (rows->count == ROWS_MAX)
		return -EFBIG;
	return VEC_PUSH(rows, (struct braid_unwind_row){.pc = pc, .rule = rule});
}

/* The index has the first row of each page, or of the next page that has one. Pages without rows can be a million. */
static int index_build(struct unwind_table *t)
{
	uint32_t page = 0, of_row;

	t->first_page = t->rows[0].pc >> BRAID_UNWIND_PAGE_SHIFT;
	t->page_count = (t->rows[t->row_count - 1].pc >> BRAID_UNWIND_PAGE_SHIFT) - t->first_page + 1;
	t->index = malloc((t->page_count + 1UL) * sizeof(*t->index));
	if (!t->index)
		return -ENOMEM;
	for (uint32_t row = 0; row < t->row_count; row++) {
		of_row = (t->rows[row].pc >> BRAID_UNWIND_PAGE_SHIFT) - t->first_page;
		while (page <= of_row)
			t->index[page++] = row;
	}
	t->index[t->page_count] = t->row_count;
	return 0;
}

int table_from_rows(struct unwind_table **out, struct braid_unwind_row *rows, size_t count)
{
	struct unwind_table *t = NULL;
	int err = -ENODATA;

	if (!count)
		goto out;
	err = -ENOMEM;
	t = calloc(1, sizeof(*t));
	if (!t)
		goto out;
	t->rows = rows;
	rows = NULL;
	t->row_count = (uint32_t)count;
	for (size_t i = 0; i < count; i++)
		t->unsupported += braid_rule_cfa(t->rows[i].rule) == BRAID_CFA_UNSUPPORTED;
	err = index_build(t);
	if (err)
		goto out;
	*out = t;
	t = NULL;
out:
	unwind_table_free(t);
	free(rows);
	return err;
}

uint32_t unwind_table_rule(const struct unwind_table *t, uint64_t pc)
{
	uint64_t page = pc >> BRAID_UNWIND_PAGE_SHIFT;
	size_t low;

	if (page < t->first_page)
		return BRAID_CFA_NONE;
	page -= t->first_page;
	if (page >= t->page_count) /* the last row ends the last function */
		return t->rows[t->row_count - 1].rule;
	low = SEARCH(i, t->index[page], t->index[page + 1], t->rows[i].pc <= pc);
	return low ? t->rows[low - 1].rule : BRAID_CFA_NONE;
}

void unwind_table_free(struct unwind_table *t)
{
	if (!t)
		return;
	free(t->rows);
	free(t->index);
	free(t);
}
