// SPDX-License-Identifier: Apache-2.0
/*
 * Debug information is read in a process of its own, which has no more memory and time than it is given: a small file
 * can unpack to any size, and its tables can lead a reader anywhere.
 */
#ifndef BRAID_PROCESS_LINES_READER_H
#define BRAID_PROCESS_LINES_READER_H

#include "modules.h"

#include "symbol/lines.h"

struct lines_reader;

/* The reader of a module's lines; NULL when there can be none. */
struct lines_reader *lines_reader_start(const struct module *module);
/*
 * As lines_find(); the strings are good until the next call. *given_up is set when the process has ended before it
 * answered, and nothing more comes.
 */
size_t lines_reader_find(struct lines_reader *r, uint64_t address, struct line_place to[LINES_DEPTH_MAX],
			 bool *given_up);
void lines_reader_end(struct lines_reader *r);

#endif
