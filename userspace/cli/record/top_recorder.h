// SPDX-License-Identifier: Apache-2.0
/*
 * A recording in a process of its own, which `braid top` reads as it is made. Its end does not touch the terminal, and
 * it ends in order when its reader is gone.
 */
#ifndef BRAID_CLI_TOP_RECORDER_H
#define BRAID_CLI_TOP_RECORDER_H

#include <config/options.h>

#define MESSAGE_BYTES 200
#define MESSAGES_KEPT 20

struct top_recorder {
	pid_t pid;    /* 0: none, or it has ended */
	int trace;    /* the pipe of its trace, which the reader of the trace closes */
	int status;   /* its exit status, when it has ended */
	int messages; /* the pipe of its messages; -1: they go to standard error */
	char line[MESSAGE_BYTES];
	size_t length;
	char kept[MESSAGES_KEPT][MESSAGE_BYTES]; /* the last messages */
	unsigned count;
};

/* Handles the signals that end a recording; for its reader, which then ends it. */
void top_recorder_signals(void (*handler)(int number));

/* Starts it. `quiet`: its messages are kept, for they would destroy a screen. 0 or a negative errno. */
int top_recorder_start(struct top_recorder *r, const struct record_options *o, bool quiet);

/* Reads its messages. Returns the last one that is new, or NULL. */
const char *top_recorder_message(struct top_recorder *r);

/* Asks it to end. */
void top_recorder_stop(const struct top_recorder *r);
/* Waits for its end, once its trace has been read to the end. */
void top_recorder_wait(struct top_recorder *r);

/* Prints the kept messages to standard error. */
void top_recorder_print(const struct top_recorder *r);

#endif
