// SPDX-License-Identifier: Apache-2.0
/* braid script: the events of a trace as text, one after the other. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <trace/codec.h>
#include <util/log.h>

#include "cli.h"
#include "common.h"

struct script_arguments {
	struct common common;
	const char *file;
	bool raw;
	struct script_options style;
};

enum { OPT_RAW = 0x200, OPT_LINES, OPT_ANNOTATE, OPT_EVENT };

static const struct argp_option options[] = {
	{"raw", OPT_RAW, 0, 0, "Every record as it is in the file, definitions too; other options do not count then",
	 0},
	{"event", OPT_EVENT, "KIND", 0, "Only these events: cpu, alloc, lock, gc_pause, ...; repeated: any of them", 0},
	{"lines", OPT_LINES, 0, 0,
	 "Behind each frame a line with its source line, where it is known (for native code: record --lines)", 0},
	{"annotate", OPT_ANNOTATE, 0, 0,
	 "Frame kinds as suffixes: _[j] compiled, _[i] inlined, _[0] interpreted, _[1] C1, _[k] kernel", 0},
	{0},
};

static const char doc[] =
	"Prints a trace's events, samples in the form of `perf script`, so that tools that read that form can be used."
	"\vExamples:\n"
	"  braid script braid.trace | stackcollapse-perf.pl | flamegraph.pl > flames.svg\n"
	"  braid script --event lock --from 1 --to 1.5 braid.trace\n"
	"  braid script --tid 4712 --from 1 --to 1.5 braid.trace\n"
	"  braid script --raw braid.trace | grep '^notice'\n\n"
	"A sample is a line `name pid/tid [cpu] seconds: samples event:`, one line for each frame from the leaf to the "
	"root, "
	"and an empty line. Blanks in names become '_', since readers end a name at a blank and a number. Frames of "
	"generated code are shown in /tmp/perf-PID.map, the file that perf would name them by. Other events are one "
	"line each with their fields; those with a stack have it behind them, in the form of a sample of the event "
	"braid:KIND, which readers of several events tell apart.";

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct script_arguments *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->common;
		return 0;
	case OPT_EVENT:
		o->style.events |= 1ULL << common_event(state, arg);
		return 0;
	case OPT_LINES:
		o->style.lines = true;
		return 0;
	case OPT_ANNOTATE:
		o->style.annotate = true;
		return 0;
	case OPT_RAW:
		o->raw = true;
		return 0;
	default:
		return common_file_arg(key, arg, state, &o->file);
	}
}

/* Definitions may follow the events that need them, so the file is read for names first and for events then. */
static int print_events(struct trace_reader *reader, const struct analysis *an, const struct filter *window,
			unsigned top, const struct script_options *style)
{
	const struct jvm_event_row *rows = an->a->events.at, *row;
	size_t left = an->a->events.count; /* the file may have grown since they were read */
	struct trace_rec rec;
	int err = 0;

	while (top && (err = trace_reader_next(reader, &rec)) == 1) {
		row = NULL;
		if (rec.kind == TRACE_JVM_EVENT && analyzer_keeps(&rec.jvm_event) && left) {
			row = rows++;
			left--;
		}
		if (rec.kind < TRACE_FIRST_EVENT || !filter_wants_time(window, an->a->first_ns, event_time_ns(&rec)))
			continue;
		top -= script_print(stdout, an, &rec, row, style);
		if (ferror(stdout))
			return 0;
	}
	return err < 0 ? err : 0;
}

static int print_raw(struct trace_reader *reader)
{
	struct trace_rec rec;
	int err;

	while ((err = trace_reader_next(reader, &rec)) == 1) {
		err = trace_rec_print(stdout, &rec);
		if (err)
			return ferror(stdout) ? 0 : err;
	}
	return err;
}

/* Opens the file (again) and prints it; `an` is NULL for raw records. */
static bool print_file(const char *path, const struct analysis *an, const struct filter *window, unsigned top,
		       const struct script_options *style)
{
	struct trace_reader *reader;
	int err;

	if (!common_open(&reader, path))
		return false;
	err = an ? print_events(reader, an, window, top, style) : print_raw(reader);
	trace_reader_close(reader);
	if (err)
		log_error("cannot read %s: %s", path, strerror(-err));
	return common_output_close(stdout, NULL, 0) && !err;
}

static bool print_named(struct script_arguments *o)
{
	struct filter *f = &o->common.filter;
	struct filter window = {.has_from = f->has_from, .has_to = f->has_to, .from_ns = f->from_ns, .to_ns = f->to_ns};
	struct loaded l;
	bool ok;

	/* The window is applied to each event; the analysis is only asked for names. */
	f->has_from = f->has_to = false;
	if (!common_load(&l, o->file, f))
		return false;
	ok = print_file(o->file, l.analysis, &window, common_top(&o->common, UINT_MAX), &o->style);
	common_unload(&l);
	return ok;
}

int cmd_script(int argc, char **argv)
{
	static const struct argp_child children[] = {{&common_argp, 0, 0, 0}, {0}};
	static const struct argp argp = {options, parse, "FILE", doc, children, 0, 0};
	struct script_arguments o = {0};
	bool ok;

	if (common_parse(&argp, argc, argv, &o))
		return EXIT_FAILURE;
	ok = o.raw ? print_file(o.file, NULL, NULL, 0, false) : print_named(&o);
	filter_free(&o.common.filter);
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
