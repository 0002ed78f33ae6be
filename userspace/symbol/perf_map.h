// SPDX-License-Identifier: Apache-2.0
/*
 * Perf maps: text files in which programs name the machine code that they generate, one function per line: start and
 * size in hexadecimal, then the name (tools/perf/Documentation/jit-interface.txt of the kernel). Where lines overlap,
 * the last one counts. process/ calls it; files are not trusted.
 */
#ifndef BRAID_SYMBOL_PERF_MAP_H
#define BRAID_SYMBOL_PERF_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_MAP_BYTES_MAX (256ULL << 20) /* of a larger file only the end is read */
#define PERF_MAP_NAME_MAX 512		  /* longer names are truncated */

/* An address, and the map's answer. */
struct perf_map_query {
	uint64_t address;
	uint64_t start;
	uint64_t size; /* 0: nothing */
	char *name;    /* malloc'ed, printable */
};

/*
 * Answers queries, which are sorted by address, as long as there are any. *cut: some are not answered, and only the
 * end of the file was read. 0 or a negative errno: after -ETIME, at the end of a stint (util/stint.h), some are
 * answered.
 */
int perf_map_find(int fd, struct perf_map_query *queries, size_t count, bool *cut);

#endif
