// SPDX-License-Identifier: Apache-2.0
/*
 * Arrays whose length a file determines. What exceeds the memory that is allowed is in temporary files without a name,
 * mapped, so that the kernel can write it out when memory is short. Their blocks are reserved at once: a full disk is
 * an error, not a signal.
 */
#ifndef BRAID_UTIL_SCRATCH_H
#define BRAID_UTIL_SCRATCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct scratch_room {
	char dir[512];	 /* of temporary files */
	uint64_t memory; /* bytes that may be in memory */
	uint64_t used;	 /* of them */
};

struct scratch {
	void *at;
	uint64_t bytes;
	int file; /* a descriptor and 1; 0: in memory */
	struct scratch_room *room;
};

/* For what is read from the file `path`: temporary files are in TMPDIR, in the directory of `path`, or in /tmp. */
void scratch_room(struct scratch_room *room, const char *path, uint64_t memory);

/* A file without a name: a descriptor or a negative errno. */
int scratch_file(const struct scratch_room *room);

/* Makes it that large; new bytes are zero. 0 or a negative errno, which leaves it as it was. */
int scratch_resize(struct scratch *s, struct scratch_room *room, uint64_t bytes);

void scratch_free(struct scratch *s);

/* Makes room for one more item of `size` bytes behind `count` of them. 0 or a negative errno. */
int scratch_more(struct scratch *s, struct scratch_room *room, uint64_t count, uint64_t size);

/*
 * Sorts `count` items of `size` bytes, at most SCRATCH_ITEM, where they are: qsort() would need as much memory again.
 */
#define SCRATCH_ITEM 256
void scratch_sort(struct scratch *s, uint64_t count, size_t size, int (*compare)(const void *, const void *));

#endif
