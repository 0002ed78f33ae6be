// SPDX-License-Identifier: Apache-2.0
/*
 * Perf maps: text files in which programs that make machine code name it, a function per line: start and size in
 * hexadecimal, then the name (tools/perf/Documentation/jit-interface.txt of the kernel). Where lines overlap, the last
 * one counts.
 */
#ifndef BRAID_SYMBOL_PERF_MAP_H
#define BRAID_SYMBOL_PERF_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_MAP_BYTES_MAX (256ULL << 20) /* more of a file is not read: only its end */
#define PERF_MAP_NAME_MAX 512		  /* what is behind is cut */

/* A wanted address, and what the map says of it. */
struct perf_map_query {
	uint64_t address;
	uint64_t start;
	uint64_t size; /* 0: nothing */
	char *name;    /* malloc'ed, printable */
};

/*
 * Answers queries, which are sorted by their addresses. *cut: the file was longer than what was read of it. 0 or a
 * negative errno.
 */
int perf_map_find(int fd, struct perf_map_query *queries, size_t count, bool *cut);

#endif
