// SPDX-License-Identifier: Apache-2.0
/* `braid heap FILE`: what holds what in a heap dump. */
#ifndef BRAID_CLI_HEAP_FILE_H
#define BRAID_CLI_HEAP_FILE_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

struct heap_file {
	const char *path;	/* NULL: the command is about a process */
	bool one;		/* only what holds one object is asked for */
	bool by_root;		/* print what the roots retain */
	uint64_t address;	/* its id */
	const char *class_name; /* only what holds the objects of this class is asked for; NULL: it is not */
	unsigned levels, percent;
	uint64_t memory;    /* bytes */
	const char *option; /* the last option that needs a file; NULL: none was given */
};

/* The child parser for the options that need a file. Its input is a struct heap_file. */
extern const struct argp heap_file_argp;

/* Prints its result or its error. */
bool heap_file_print(const struct heap_file *f, unsigned rows, bool as_json);

#endif
