// SPDX-License-Identifier: Apache-2.0
/* One bit for every eight bytes of a heap, in chunks that exist where bits are set. */
#ifndef BRAID_HEAPDUMP_MARKS_H
#define BRAID_HEAPDUMP_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct marks {
	uint64_t low, high;
	uint64_t **chunks;
	size_t count, used, most; /* chunks; most: a limit */
	bool exhausted;		  /* there was no memory for one, or no more are allowed */
};

/* `bytes`: what the heap can have in memory, which limits the chunks. 0 or -ENOMEM. */
int marks_open(struct marks *m, uint64_t low, uint64_t high, uint64_t bytes);
void marks_free(struct marks *m);

/* Whether it is an address of the heap where an object can begin. */
static inline bool marks_cover(const struct marks *m, uint64_t address)
{
	return address >= m->low && address < m->high && !(address & 7);
}

/* The address must be covered. True: it was not set before, and is now. */
bool marks_set(struct marks *m, uint64_t address);
void marks_clear(struct marks *m, uint64_t address);
/* Of any address. */
bool marks_has(const struct marks *m, uint64_t address);

/* The largest power of two, from 8 to 256, of which all addresses that are set are multiples. */
uint64_t marks_alignment(const struct marks *m);

/* The first address from `address` on that is set; 0: none. */
uint64_t marks_next(const struct marks *m, uint64_t address);

#endif
