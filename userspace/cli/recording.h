// SPDX-License-Identifier: Apache-2.0
/* What a recording is asked for on the command line: the options that all commands share that record. */
#ifndef BRAID_CLI_RECORDING_H
#define BRAID_CLI_RECORDING_H

#include <argp.h>
#include <stdbool.h>

#include <config/event_config.h>
#include <config/options.h>

/* Input of recording_argp, the child parser for --pid, --all, --frequency, --event, --preset, ... */
struct recording {
	struct record_options options;
	struct event_selection selection;
	bool given; /* any of them */
	bool frequency_given, period_given;
};

extern const struct argp recording_argp;

/* The defaults; to be called before parsing. */
void recording_init(struct recording *r);
void recording_free(struct recording *r);

/* Completes the options behind the last one. Those that do not fit together end the program. */
void recording_complete(struct recording *r, struct argp_state *state);

/* A help filter that lists the events and the presets in front of the text behind the options. */
char *recording_help(int key, const char *text, void *input);

#endif
