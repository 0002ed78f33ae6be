// SPDX-License-Identifier: Apache-2.0
/*
 * Unwind tables: call frame information of one module, compiled into the rows of <braid/unwind.h>. process/ builds them
 * for the kernel side and the deferred unwind.
 */
#ifndef BRAID_UNWIND_TABLE_H
#define BRAID_UNWIND_TABLE_H

#include <braid/unwind.h>

#include <stddef.h>
#include <stdint.h>

struct unwind_table {
	uint32_t first_page; /* the index begins at this page: pc >> BRAID_UNWIND_PAGE_SHIFT */
	uint32_t page_count; /* pages covered; index has page_count + 1 entries */
	uint32_t row_count;
	uint32_t unsupported;	       /* rows with BRAID_CFA_UNSUPPORTED */
	struct braid_unwind_row *rows; /* sorted by pc; neighbours with the same rule are merged */
	uint32_t *index;	       /* index[p]: number of rows with pc below the start of page first_page + p */
};

/*
 * Compiles the table of the ELF image open at `fd` (a file, or a memory image such as the vdso's): .eh_frame and, for
 * the ranges that it does not cover, .debug_frame; PLT sections without CFI get BRAID_CFA_PLT rows. -ENODATA without
 * any call frame information, -EBADMSG when it is unusable, -EFBIG when addresses exceed 32 bits (or the rows 16
 * million), -ENOTSUP when it is for another machine, or neither a program nor a library.
 */
int unwind_table_build(struct unwind_table **out, int fd);

/* The same from memory; `data` is only read during the call. */
int unwind_table_build_image(struct unwind_table **out, const void *data, size_t size);

/*
 * As unwind_table_build, through the disk cache ($XDG_CACHE_HOME/braid or ~/.cache/braid, else none): keyed by the
 * file's identity and content, ignored when damaged, written atomically. Files that other users can write bypass it.
 */
int unwind_table_get(struct unwind_table **out, int fd);

/* The rule at pc: 0 (BRAID_CFA_NONE) when no row covers it. The same search as the kernel side's. */
uint32_t unwind_table_rule(const struct unwind_table *t, uint64_t pc);

void unwind_table_free(struct unwind_table *t);

#endif
