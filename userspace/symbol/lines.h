// SPDX-License-Identifier: Apache-2.0
/* Source lines of native code, with the functions that were inlined there. */
#ifndef BRAID_SYMBOL_LINES_H
#define BRAID_SYMBOL_LINES_H

#include <stddef.h>
#include <stdint.h>

#define LINES_DEPTH_MAX 64

/* A function that an instruction belongs to; strings are the table's. */
struct line_place {
	const char *name; /* the linkage name when the debug information has one; "" when there is none */
	const char *file; /* as the compiler was given it; "" when unknown */
	int line;	  /* 0: unknown */
};

struct lines;

/*
 * The debug information of the ELF file open at `fd`, or of its separate debug file, which is looked for as
 * symbols_open_elf() does. -ENODATA when there is none, -EBADMSG when it cannot be read,
 * -EFBIG when it is larger than any real one.
 */
int lines_open(struct lines **out, int fd, const char *root, const char *path);
/* The same with a debug file that was found otherwise; it stays the caller's. */
int lines_open_with(struct lines **out, int fd, int debug_fd);
/* The functions around an ELF virtual address, innermost first, the outermost being no inlined one: how many. */
size_t lines_find(struct lines *l, uint64_t address, struct line_place to[LINES_DEPTH_MAX]);
void lines_free(struct lines *l);

#endif
