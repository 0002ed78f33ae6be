// SPDX-License-Identifier: Apache-2.0
/* What commands for people do when they print to a terminal: colours, and a pager, as git has them. */
#ifndef BRAID_CLI_TERMINAL_H
#define BRAID_CLI_TERMINAL_H

#include <argp.h>
#include <stdbool.h>

enum terminal_colour { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

/* Input of terminal_argp, the child parser for --color and --no-pager. */
struct terminal_options {
	enum terminal_colour colour;
	bool no_pager;
};

extern const struct argp terminal_argp;

/* To be called before anything is printed, and once. */
void terminal_begin(const struct terminal_options *o);
/* To be called when everything is printed: waits for the pager's end. */
void terminal_end(void);

#endif
