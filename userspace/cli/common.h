// SPDX-License-Identifier: Apache-2.0
/*
 * What the subcommands share: options, loading of traces, output files. It prints all its errors itself, in one line
 * each.
 */
#ifndef BRAID_CLI_COMMON_H
#define BRAID_CLI_COMMON_H

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include <views/views.h>
#include <report/report.h>
#include <trace/trace.h>

#define EXIT_USAGE 2
#define EXIT_DAMAGED 3 /* everything that could be read was written; the trace is damaged */

/* ---- options ---- */

/*
 * Input of common_argp, the child parser for --pid, --tid, --comm, --cgroup, --from, --to, --include, --exclude, --norm
 * and --top.
 */
struct common {
	struct filter filter;
	unsigned top; /* UINT_MAX by default */
};

extern const struct argp common_argp;

/* Input of idle_argp, the child parser for --idle and --no-idle. */
struct idle_options {
	struct filter *filter;
	bool none;
};

extern const struct argp idle_argp;

/* argp_parse; a usage error ends the program with EXIT_USAGE. */
int common_parse(const struct argp *argp, int argc, char **argv, void *input);

/* Parses the command line of a command without arguments that writes text or JSON; `doc` as in struct argp. */
void common_parse_json(const char *doc, int argc, char **argv, bool *json);

/* Values of the option `name`: a time, and a "number of `what`". For another text they end the program. */
void common_time(struct argp_state *state, const char *name, const char *arg, bool *has, struct moment *m);
unsigned common_number(struct argp_state *state, const char *name, const char *what, const char *arg);

/* A value of --span, and of --trace; for another text they end the program. */
void common_span(struct argp_state *state, struct filter *f, const char *arg);
void common_trace(struct argp_state *state, struct filter *f, const char *arg);

/*
 * How long something lasts, in ns, 1 ms at least; the address of --source-link. For another text they end the program.
 */
uint64_t common_length(struct argp_state *state, const char *name, const char *arg);
const char *common_source_link(struct argp_state *state, const char *arg);

/* The value of --max-pause, in ns; for another text it ends the program. */
uint64_t common_pause(struct argp_state *state, const char *arg);

/* The name of a new file, which is not empty, as the variable of a script can be. */
const char *common_output_name(struct argp_state *state, const char *option, const char *arg);

/*
 * Whether what --event names is neither a kind of events nor samples: then it is a tracepoint, function or USDT probe.
 */
bool common_event_named(const char *arg);

/* The file that `record` writes and the other commands read by default. */
#define DEFAULT_TRACE "braid.trace"

/* The one FILE argument: for ARGP_KEY_ARG and ARGP_KEY_END. */
error_t common_file_arg(int key, char *arg, struct argp_state *state, const char **file);

/* The id of a "process" or "thread", which Linux lets end at 2^22; for another text it ends the program. */
pid_t common_id(struct argp_state *state, const char *what, const char *arg);

/* The one PID argument, as common_file_arg(). */
error_t common_pid_arg(int key, char *arg, struct argp_state *state, pid_t *pid);

unsigned common_top(const struct common *c, unsigned otherwise);

/* ---- common_input.c: input ---- */

struct loaded {
	const char *path;
	struct trace_reader *reader;
	struct analyzer *analyzer;
	struct analysis *analysis;
	struct views *views;
	struct report_source source;
};

/* Called before each record is fed; ctx is the caller's. */
typedef void (*common_record_fn)(void *ctx, const struct trace_rec *rec, const struct analyzer *a);

/* Opens a trace. On failure prints the reason and returns false. */
bool common_open(struct trace_reader **reader, const char *path);

/* Feeds all of `path` to l->analyzer, which keeps samples when the filter has a time window. */
bool common_read(struct loaded *l, const char *path, const struct filter *filter, common_record_fn fn, void *ctx);

/* common_read, and then fills l->analysis and l->views under the filter. */
bool common_load(struct loaded *l, const char *path, const struct filter *filter);

/* The same without l->views, which take a while. */
bool common_load_analysis(struct loaded *l, const char *path, const struct filter *filter);

/* As common_load_analysis(), if it does not matter which threads samples are of. */
bool common_load_stacks(struct loaded *l, const char *path, const struct filter *filter);

/* As common_load_analysis(), and every sample is kept with its time. */
bool common_load_samples(struct loaded *l, const char *path, const struct filter *filter);

/*
 * As common_load_samples(), with the samples only that are no further away than near() says from the moment, at which
 * `moment` begins. The analysis is of the whole recording, under `filter`.
 */
typedef uint64_t (*common_near_fn)(const struct analyzer *a);
bool common_load_near(struct loaded *l, const char *path, const struct filter *moment, common_near_fn near,
		      const struct filter *filter);

/* The steps behind common_read(): l->analysis, then l->views. False, with an error printed and the trace unloaded. */
bool common_make_analysis(struct loaded *l, const struct filter *filter);
bool common_make_views(struct loaded *l);
/* Both. */
bool common_analyze(struct loaded *l, const struct filter *filter);

/* Whether the recording has the filter's window; prints the reason if not. */
bool common_check_window(const struct loaded *l, const struct filter *filter);

/* Whether the trace has times, which `what` needs; prints the reason if not. */
bool common_has_times(const struct loaded *l, const char *what);

/*
 * Whether the trace may have what common_event_named() has found to be an event, and, if `one` is set, not two of the
 * name; prints the reason if not.
 */
bool common_has_event(const struct loaded *l, const char *event, bool one);

/*
 * Makes the spans that the filter makes of events, if it does, see span_pairs.h and span_calls.h. To be called between
 * reading, with samples kept, and analysis. False, with an error printed and the trace unloaded, if there are none.
 */
bool common_make_spans(struct loaded *l, const struct filter *f);

/*
 * Warns about a trace that is damaged or did not end in order. `ignored` counts its meaningless records. Returns
 * whether it is damaged.
 */
bool common_report_state(const char *path, const struct report_source *source, bool ended, uint64_t ignored);

/* The exit status of a command that has written its output, or has failed. */
int common_status(const struct loaded *l, bool ok);

void common_unload(struct loaded *l);

/* ---- common_output.c ---- */

/*
 * Opens `path` for writing; NULL or "-" is stdout. A file gets the mode of the trace `input`; the trace itself, other
 * users' files and links, and files that any user can write, are refused. On failure prints the reason and returns
 * NULL.
 */
FILE *common_output_open(const char *path, const char *input);

/* The same of several traces: only who may read each of them may read the file. */
FILE *common_output_of(const char *path, const char *const *inputs, size_t count);

/* A path without its directories. */
const char *common_name(const char *path);

/* False, with an error printed: `path` is the trace `input`. */
bool common_output_is_not(const char *path, const char *input);

/* The same, and it is not PATH.old either, which a new trace `path` replaces by the former one. */
bool common_output_keeps(const char *path, const char *input);

/*
 * Flushes and closes. When not everything was written, prints the reason and returns false. `err` is the export's
 * result.
 */
bool common_output_close(FILE *out, const char *path, int err);

/* Prints what `braid report` prints without --full, with what is suspicious, or only its summary. */
bool common_report(struct loaded *l, bool summary, unsigned top);

#endif
