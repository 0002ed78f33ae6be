// SPDX-License-Identifier: Apache-2.0
/* What `braid heap` and `braid threads` share: a short recording of one process, whose records stay in memory. */
#ifndef BRAID_CLI_SNAPSHOT_H
#define BRAID_CLI_SNAPSHOT_H

#include "cli/common.h"

#include "config/event_config.h"
#include "config/options.h"

struct snapshot {
	struct record_options record;
	struct event_selection selection;
	struct loaded live; /* views and analysis of all records */
	pid_t pid;
	bool as_json;
	const char *what; /* is printed, for messages */
};

/* The child parser for PID, --output, --json and --verbose. Its input is a struct snapshot. */
extern const struct argp snapshot_argp;

/* The defaults, before the options are parsed. */
void snapshot_init(struct snapshot *s, const char *what);

/* Takes a record. False: the records are given up, because there was not enough memory. */
bool snapshot_feed(struct snapshot *s, const struct trace_rec *rec);

/*
 * Records as `record` and `selection` say. A tap of `record` has to feed the records. On failure prints the reason and
 * returns false.
 */
bool snapshot_record(struct snapshot *s);

/* The same, and analyzes. */
bool snapshot_run(struct snapshot *s);

void snapshot_free(struct snapshot *s);

#endif
