// SPDX-License-Identifier: Apache-2.0
/* Source lines of native code, with the inlined functions. process/ calls it. */
#ifndef BRAID_SYMBOL_LINES_H
#define BRAID_SYMBOL_LINES_H

#include <stddef.h>
#include <stdint.h>

#define LINES_DEPTH_MAX 64

/* A function that an instruction belongs to; the table owns the strings. */
struct line_place {
	const char *name; /* the linkage name if the debug information has it; "" if there is none */
	const char *file; /* as passed to the compiler; "" if unknown */
	int line;	  /* 0: unknown */
};

struct lines;

/*
 * The debug information of the ELF file open at `fd`, or of its separate debug file, which is found as in
 * symbols_open_elf(). -ENODATA without any, -EBADMSG when it is unreadable, -EFBIG when it is larger than any real one.
 */
int lines_open(struct lines **out, int fd, const char *root, const char *path);
/* The same with a debug file from another source; the caller keeps it. */
int lines_open_with(struct lines **out, int fd, int debug_fd);
/* The functions at an ELF virtual address, innermost first; the outermost one is not inlined. Returns their number. */
size_t lines_find(struct lines *l, uint64_t address, struct line_place to[LINES_DEPTH_MAX]);
void lines_free(struct lines *l);

#endif
