// SPDX-License-Identifier: Apache-2.0
/* The file of a heap dump, compressed by the ending of its name: .gz, .zst, or not at all. */
#ifndef BRAID_HEAPDUMP_OUTPUT_H
#define BRAID_HEAPDUMP_OUTPUT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct output;

/*
 * Opens a file that does not exist yet, or "-", standard output. A negative errno: -EEXIST, or why it cannot be made.
 * When `stop` is set, writing to standard output ends, whose reader may have stopped reading.
 *
 * Under sudo the file belongs to the caller, and only its owner may read it: it has all data of a program.
 */
int output_open(struct output **out, const char *path, const atomic_bool *stop);

/* Writes all of it, or returns a negative errno. */
int output_write(struct output *o, const void *bytes, size_t size);

/* Removes the file, while it may still be written. */
void output_remove(const struct output *o);

/* Completes the file and closes it; *bytes: its size. With `keep` false it is removed. Frees `o`. */
int output_close(struct output *o, bool keep, uint64_t *bytes);

#endif
