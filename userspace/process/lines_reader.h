// SPDX-License-Identifier: Apache-2.0
/*
 * Reads debug information in a child process with limits on memory and time: a small file can unpack to any size, and
 * its tables can lead a reader anywhere. lines.c calls this.
 */
#ifndef BRAID_PROCESS_LINES_READER_H
#define BRAID_PROCESS_LINES_READER_H

#include "modules.h"

#include "symbol/lines.h"

struct lines_reader;

/* Starts the reader of a module's lines. NULL: it cannot be started. */
struct lines_reader *lines_reader_start(const struct module *module);
/*
 * As lines_find(). The strings are valid until the next call. *given_up is set when the child has ended without an
 * answer; no more answers come then.
 */
size_t lines_reader_find(struct lines_reader *r, uint64_t address, struct line_place to[LINES_DEPTH_MAX],
			 bool *given_up);
void lines_reader_end(struct lines_reader *r);

#endif
