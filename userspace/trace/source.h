// SPDX-License-Identifier: Apache-2.0
/*
 * Where a reader has its bytes from: a file, which may grow, or a stream, of which memory has what is not read yet.
 * reader.c uses it.
 */
#ifndef BRAID_TRACE_SOURCE_H
#define BRAID_TRACE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/vec.h"

/* Small blocks come side by side: a definition block, one of events, and the header of a sample block. */
#define TRACE_AHEAD_BYTES 4096U

struct trace_source {
	int fd;		/* or -1 */
	uint64_t size;	/* bytes that are known to be there */
	bool stream;	/* a pipe or a socket; `fd` does not block */
	bool ended;	/* a stream: no more will come */
	uint64_t first; /* a stream: the position of the first byte that is held */
	VEC(uint8_t) held;
	bool changes;	    /* a file that is being written: nothing is read ahead */
	uint64_t ahead_pos; /* a file: what is read ahead */
	size_t ahead_bytes;
	uint8_t ahead[TRACE_AHEAD_BYTES];
};

/* Returns the bytes read, fewer only at the end of what is there, or a negative errno. */
ssize_t trace_source_read(struct trace_source *s, uint64_t pos, void *buf, size_t len);

/* Finds out how much is there now. Of a stream, what is before `pos` is forgotten. 0 or a negative errno. */
int trace_source_more(struct trace_source *s, uint64_t pos);

/* Whether something still writes: a stream's other end is open, or a recording has locked the file. */
bool trace_source_grows(const struct trace_source *s);

void trace_source_close(struct trace_source *s);

#endif
