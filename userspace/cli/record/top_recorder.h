// SPDX-License-Identifier: Apache-2.0
/*
 * A recording in a process of its own, which `braid top` reads as it is made. Its end does not touch the terminal, and it
 * ends in order when its reader is gone.
 */
#ifndef BRAID_CLI_TOP_RECORDER_H
#define BRAID_CLI_TOP_RECORDER_H

#include <config/options.h>

#define SAID_LINE 200
#define SAID_LINES 20

struct top_recorder {
	pid_t pid;  /* 0: none, or it has ended */
	int trace;  /* the pipe that it writes to; whoever reads it takes it over */
	int status; /* its exit status, when it has ended */
	int said;   /* the pipe with what it says; -1: it writes to standard error */
	char line[SAID_LINE];
	size_t length;
	char lines[SAID_LINES][SAID_LINE]; /* the last ones */
	unsigned count;
};

/* Handles the signals that end a recording; for its reader, which then ends it. */
void top_recorder_signals(void (*handler)(int number));

/* Starts it. `quiet`: what it says is kept, for a screen is in the way. 0 or a negative errno. */
int top_recorder_start(struct top_recorder *r, const struct record_options *o, bool quiet);

/* Takes what it has said. Returns the last whole line that is new, or NULL. */
const char *top_recorder_said(struct top_recorder *r);

/* Asks it to end. */
void top_recorder_stop(const struct top_recorder *r);
/* Waits for its end, once its trace has been read to the end. */
void top_recorder_wait(struct top_recorder *r);

/* Prints what it has said to standard error. */
void top_recorder_tell(const struct top_recorder *r);

#endif
