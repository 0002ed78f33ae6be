// SPDX-License-Identifier: Apache-2.0
/* The destination of a trace: a file of its own, or a stream. writer.c uses it. */
#ifndef BRAID_TRACE_OUTPUT_H
#define BRAID_TRACE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_output {
	int fd;
	bool stream; /* a pipe or the like: written bytes cannot be taken back */
};

/* See trace_writer_open(). */
int trace_output_open(struct trace_output *out, const char *path);

/* Writes everything. -EPIPE: the stream's reader has ended; -ETIMEDOUT: it does not read. */
int trace_output_write(const struct trace_output *out, const uint8_t *p, size_t len);

#endif
