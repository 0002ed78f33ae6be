// SPDX-License-Identifier: Apache-2.0
/* What the files of this room offer each other. */
#ifndef BRAID_RESIDENT_STATE_H
#define BRAID_RESIDENT_STATE_H

#include "resident.h"

#define RESIDENT_RANGES_MAX 200000U /* a process has at most 65,530 mappings by default, and as many threads */
#define RESIDENT_MAPPINGS_MAX 1000000U
#define RESIDENT_TURNS 1000U /* looks at threads that run, 2 ms apart */

/* A mapping as /proc/PID/smaps has it. */
struct resident_mapping {
	uint64_t start, end, offset, resident, swapped;
	char permissions[5];
	bool shared;
	const char *path; /* "": none */
};

/* /proc/PID/pagemap: which pages are in RAM. */
struct pagemap {
	int fd;
	uint64_t words;	       /* that may still be read, where the kernel cannot find pages by itself */
	uint64_t first, count; /* pages of which `kept` is, see pagemap_has() */
	uint64_t kept[512];
};

/* 0, or a negative errno: -ESRCH, -EACCES. */
int pagemap_open(struct pagemap *p, pid_t pid);
void pagemap_close(struct pagemap *p);
/* Whether a page is in RAM. It is quick for pages that are asked for in order. */
bool pagemap_has(struct pagemap *p, uint64_t address);
/*
 * Calls for each run of pages in a range of addresses that are in RAM, in their order; neighbours may be several runs.
 * 0, or a negative errno: -ESRCH, and -EFBIG if there are too many addresses to look at; it has called for some of
 * them.
 */
typedef void (*pagemap_fn)(void *ctx, uint64_t start, uint64_t end);
int pagemap_walk(struct pagemap *p, uint64_t start, uint64_t end, pagemap_fn fn, void *ctx);

int resident_add_range(struct resident *r, const struct resident_range *range);

/* ranges.c: what the JVM's tables and the kernel say of heap, code cache and threads. `libjvm`: its first mapping, by
 * which its tables are found, or 0. */
int resident_find_ranges(struct resident *r, uint64_t libjvm, uint64_t libjvm_end);
/*
 * The bytes of the block that begins at a page: a large one, for which glibc has called mmap; it begins with a chunk's
 * sizes. 0: none does.
 */
uint64_t resident_block(const struct resident *r, uint64_t at, uint64_t end);
/* The owner of a mapping, or of a part of it, that is in no range. */
enum resident_owner resident_guess(const struct resident *r, const struct resident_mapping *m);

#endif
