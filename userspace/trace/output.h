// SPDX-License-Identifier: Apache-2.0
/* The destination of a trace: a file of its own, or a stream. writer.c uses it. */
#ifndef BRAID_TRACE_OUTPUT_H
#define BRAID_TRACE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/vec.h"

struct trace_output {
	int fd;		   /* or -1 */
	bool stream;	   /* a pipe or the like: written bytes cannot be taken back */
	char *path;	   /* of a file that is not open yet: `fd` locks what is there, or is -1 */
	VEC(uint8_t) held; /* written before the file is open */
};

/* See trace_writer_prepare() and trace_writer_begin(). After a failure there is nothing to close. */
int trace_output_prepare(struct trace_output *out, const char *path);
int trace_output_begin(struct trace_output *out);
int trace_output_close(struct trace_output *out);

/* Writes everything. -EPIPE: the stream's reader has ended; -ETIMEDOUT: it does not read. */
int trace_output_write(struct trace_output *out, const uint8_t *p, size_t len);

/* Takes back what was written after the first `len` bytes, unless it is a stream. Failure leaves it there. */
void trace_output_cut(struct trace_output *out, uint64_t len);

#endif
