// SPDX-License-Identifier: Apache-2.0
/* `braid import`: makes a trace from the file of another tool. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <import/import.h>
#include <util/log.h>
#include <util/quantity.h>

#include "cli/cli.h"
#include "cli/common.h"

struct import_options {
	const char *file, *output;
	enum import_format format;
};

enum { OPT_FORMAT = 0x200 };

#define FORMAT_NAMES "collapsed, perf, pprof or jfr"

static const struct argp_option options[] = {
	{"output", 'o', "OUT", 0, "The new trace (default " DEFAULT_TRACE ")", 0},
	{"from-format", OPT_FORMAT, "FORMAT", 0, "What FILE is: " FORMAT_NAMES " (default: its content decides)", 0},
	{0},
};

static const char doc[] =
	"Makes a trace from what another tool recorded, for all commands that read traces. FILE is - for standard "
	"input, and may be packed by gzip or zstd.\vExamples:\n"
	"  braid import stacks.txt\n"
	"  braid import -o jfr.trace recording.jfr\n"
	"  perf script -i perf.data -F +pid | braid import -o perf.trace -\n"
	"  braid import --from-format pprof -o heap.trace heap.pb.gz\n"
	"\n"
	"Formats:\n"
	"  collapsed  stacks of flame graph tools, a line for each: frames from the\n"
	"             root, ';' between them, a space and a weight. Suffixes say what\n"
	"             a frame is: _[j] compiled, _[i] inlined, _[0] interpreted, _[1]\n"
	"             C1, _[k] kernel. A first frame '[name tid=N]' is the thread\n"
	"  perf       the text of `perf script` or `braid script`\n"
	"  pprof      profiles of Go and of other tools\n"
	"  jfr        recordings of the JDK's Flight Recorder and of async-profiler,\n"
	"             with allocations, waits and collections\n"
	"\n"
	"What a file does not have is not in the trace. Collapsed stacks and profiles of pprof have no times: commands that need "
	"them say so. `braid info` prints what was imported, and what was left out. Of a damaged file, everything that can be "
	"read is imported, and the exit status is 3.";

static error_t import_parse(int key, char *arg, struct argp_state *state)
{
	struct import_options *o = state->input;

	switch (key) {
	case 'o':
		o->output = common_output_name(state, "-o", arg);
		return 0;
	case OPT_FORMAT:
		o->format = import_format_named(arg);
		if (o->format == IMPORT_FORMATS)
			argp_error(state, "--from-format: unknown format '%s'; use " FORMAT_NAMES, arg);
		return 0;
	case ARGP_KEY_ARG:
		if (o->file)
			argp_error(state, "unexpected argument '%s'", arg);
		o->file = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->file)
			argp_error(state, "name the file, or - for standard input");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void print_result(const struct import_options *o, const struct import_result *r)
{
	char size[QUANTITY_TEXT];
	struct stat st;

	if (stat(o->output, &st) == 0 && S_ISREG(st.st_mode))
		printf("%s: %" PRIu64 " sample%s and %" PRIu64 " other event%s from %s, %s\n", o->output, r->samples,
		       plural(r->samples), r->events, plural(r->events), r->format,
		       size_text(size, (uint64_t)st.st_size));
}

/* Prints why there is no trace, or only a part of one. */
static void print_failure(const struct import_options *o, const struct import_result *r, bool writing, int err)
{
	const char *file = strcmp(o->file, "-") == 0 ? "standard input" : o->file;

	if (writing)
		log_error("%s: %s; it is not complete", o->output, trace_writer_why(err));
	else if (*r->refused)
		log_error("%s %s", file, r->refused);
	else if (err == -E2BIG)
		log_error("%s has more different frames or stacks than a trace can have", file);
	else
		log_error("cannot read %s: %s", file, strerror(-err));
}

int cmd_import(int argc, char **argv)
{
	static const struct argp argp = {options, import_parse, "FILE", doc, 0, 0, 0};
	struct import_options o = {.output = DEFAULT_TRACE};
	struct import_result result;
	struct trace_writer *w;
	bool writing, on_stdout;
	int err, closed;

	if (common_parse(&argp, argc, argv, &o))
		return EXIT_FAILURE;
	if (!common_output_is_not(o.output, o.file))
		return EXIT_FAILURE;
	err = trace_writer_prepare(&w, o.output);
	if (err) {
		log_error("cannot write %s: %s", o.output, trace_writer_why(err));
		return EXIT_FAILURE;
	}
	err = import_file(w, o.file, o.format, &result, &writing);
	on_stdout = trace_writer_on_stdout(w);
	closed = trace_writer_close(w);
	if (!err && closed) {
		err = closed;
		writing = true;
	}
	if (err) {
		print_failure(&o, &result, writing, err);
		return EXIT_FAILURE;
	}
	if (!on_stdout)
		print_result(&o, &result);
	if (!*result.damage)
		return EXIT_SUCCESS;
	log_warning("%s is damaged: %s", o.file, result.damage);
	return EXIT_DAMAGED;
}
