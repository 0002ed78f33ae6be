// SPDX-License-Identifier: Apache-2.0
/* What the commands share that make traces from traces. */
#ifndef BRAID_CLI_EDIT_H
#define BRAID_CLI_EDIT_H

#include <edit/edit.h>

#include "cli/common.h"

/* Input of edit_argp, the child parser for --output, which is needed: the new trace's name. */
struct edit_output {
	const char *path;
};

extern const struct argp edit_argp;

/* Opens the new trace, which is none of the inputs; NULL, with an error printed: it cannot be written. */
struct trace_writer *edit_output_open(const char *path, const char *const *inputs, size_t count);

/* Closes it, and prints what it has. `err` is the operation's. False, with an error printed: it is not complete. */
bool edit_output_close(struct trace_writer *w, const char *path, const struct edit_counts *c, int err);

#endif
