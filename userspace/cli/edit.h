// SPDX-License-Identifier: Apache-2.0
/* What the commands share that make traces from traces. */
#ifndef BRAID_CLI_EDIT_H
#define BRAID_CLI_EDIT_H

#include <edit/edit.h>

#include "common.h"

/* For ARGP_KEY_END: the new trace needs a name. */
void edit_check_output(const struct argp_state *state, const char *output);

/* Opens the new trace, which is none of the inputs; NULL, with an error printed: it cannot be written. */
struct trace_writer *edit_output_open(const char *path, const char *const *inputs, size_t count);

/* Closes it, and prints what it has. `err` is the operation's. False, with an error printed: it is not complete. */
bool edit_output_close(struct trace_writer *w, const char *path, const struct edit_counts *c, int err);

#endif
