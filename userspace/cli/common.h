// SPDX-License-Identifier: Apache-2.0
/* What subcommands share: options, loading of traces, output files. All errors are said here, in one line. */
#ifndef BRAID_CLI_COMMON_H
#define BRAID_CLI_COMMON_H

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#include <analyze/views.h>
#include <export/export.h>
#include <trace/trace.h>

#define EXIT_USAGE 2
#define EXIT_DAMAGED 3 /* the trace was read as far as it could be, and all of that was written */

/* ---- options ---- */

/* Input of common_argp, the child parser for --pid, --tid, --comm, --from, --to, --include, --exclude, --norm and
 * --top. */
struct common {
	struct filter filter;
	unsigned top; /* UINT_MAX when not given */
};

extern const struct argp common_argp;

/* argp_parse, with usage errors ending the program with EXIT_USAGE. */
int common_parse(const struct argp *argp, int argc, char **argv, void *input);

/* The command line of a command that takes no arguments and writes text or JSON; `doc` as in struct argp. */
void common_parse_json(const char *doc, int argc, char **argv, bool *json);

/* What --event names: the kind, 0 for samples. Ends the program for what it does not know. */
uint32_t common_event(struct argp_state *state, const char *arg);

/* What `record` writes and the other commands read when no FILE is given. */
#define DEFAULT_TRACE "braid.trace"

/* The one FILE argument: for ARGP_KEY_ARG and ARGP_KEY_END. */
error_t common_file_arg(int key, char *arg, struct argp_state *state, const char **file);

unsigned common_top(const struct common *c, unsigned otherwise);

/* ---- input ---- */

struct loaded {
	const char *path;
	struct trace_reader *reader;
	struct analyzer *analyzer;
	struct analysis *analysis;
	struct views *views;
	struct report_source source;
};

/* Called before each record is fed; ctx as given. */
typedef void (*common_record_fn)(void *ctx, const struct trace_rec *rec, const struct analyzer *a);

/* Opens a trace. On failure says why and returns false. */
bool common_open(struct trace_reader **reader, const char *path);

/* Reads the whole of `path` into l->analyzer, keeping samples when the filter has a time window. */
bool common_read(struct loaded *l, const char *path, const struct filter *filter, common_record_fn fn, void *ctx);

/* common_read, and what the filter wants of it into l->analysis and l->views. */
bool common_load(struct loaded *l, const char *path, const struct filter *filter);

/* The second half of common_load. */
bool common_analyze(struct loaded *l, const struct filter *filter);

/* Warns of a trace that is damaged or that did not end in order. `ignored`: its records without meaning. */
void common_report_state(const char *path, const struct report_source *source, bool ended, uint64_t ignored);

/* The exit status of a command that has written all it had to say about the trace, or has failed. */
int common_status(const struct loaded *l, bool ok);

void common_unload(struct loaded *l);

/* ---- output ---- */

/*
 * Opens `path` for writing, NULL or "-" for stdout; a file has the mode of the trace `input`, and is refused when it is
 * the trace itself or another user's. NULL after saying why.
 */
FILE *common_output_open(const char *path, const char *input);

/* Flushes and closes; false, after saying why, when not everything was written. `err` is what the export returned. */
bool common_output_close(FILE *out, const char *path, int err);

#endif
