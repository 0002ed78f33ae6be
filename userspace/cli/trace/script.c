// SPDX-License-Identifier: Apache-2.0
/* `braid script`: prints the events of a trace as text. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <analyze/stream.h>
#include <trace/codec.h>
#include <util/log.h>

#include "cli/cli.h"
#include "cli/common.h"

struct script_arguments {
	struct common common;
	const char *file;
	bool raw;
	struct script_options style;
};

enum { OPT_RAW = 0x200, OPT_LINES, OPT_ANNOTATE, OPT_EVENT, OPT_TIME };

static const struct argp_option options[] = {
	{"raw", OPT_RAW, 0, 0, "Print every record as it is in the file, including definitions; ignores other options",
	 0},
	{"event", OPT_EVENT, "KIND", 0,
	 "Only these events: cpu, alloc, lock, gc_pause, ..., or a tracepoint or probe; can be repeated", 0},
	{"time", OPT_TIME, "BASE", 0,
	 "Print times since the recording's start (start, the default), as time of day (wall), or since boot "
	 "(monotonic, the clock of perf and System.nanoTime)",
	 0},
	{"lines", OPT_LINES, 0, 0,
	 "Add the source line after each frame if it is known (native code needs record --lines)", 0},
	{"annotate", OPT_ANNOTATE, 0, 0,
	 "Mark frames by suffixes: _[j] compiled, _[i] inlined, _[0] interpreted, _[1] C1, _[k] kernel", 0},
	{0},
};

static const char doc[] =
	"Prints the events of a trace. Samples have the form of `perf script`, so tools that read that "
	"form can be used.\vExamples:\n"
	"  braid script braid.trace | stackcollapse-perf.pl | flamegraph.pl > f.svg\n"
	"  braid script --event lock --from 1 --to 1.5 braid.trace\n"
	"  braid script --tid 4712 --from 1 --to 1.5 braid.trace\n"
	"  braid script --raw braid.trace | grep '^notice'\n"
	"\n"
	"A sample is a line `name pid/tid [cpu] seconds: samples event:`, one line for each frame from the "
	"leaf to the root, and an empty line. A blank in a name becomes '_', because readers end a name at "
	"a blank and a number. Frames of generated code are shown in /tmp/perf-PID.map, where perf would "
	"look for their names. Other events are one line each, with their fields. If such an event has a "
	"stack, a sample of the event braid:KIND follows.";

static enum script_time parse_base(struct argp_state *state, const char *arg)
{
	static const char *const bases[] = {
		[SCRIPT_SINCE_START] = "start", [SCRIPT_WALL] = "wall", [SCRIPT_MONOTONIC] = "monotonic"};

	for (unsigned i = 0; i < sizeof(bases) / sizeof(bases[0]); i++)
		if (strcmp(arg, bases[i]) == 0)
			return (enum script_time)i;
	argp_error(state, "--time: unknown base '%s'; use start, wall or monotonic", arg);
	return SCRIPT_SINCE_START;
}

static error_t script_parse(int key, char *arg, struct argp_state *state)
{
	struct script_arguments *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->common;
		return 0;
	case OPT_EVENT:
		if (common_event_named(arg))
			return VEC_PUSH(&o->style.named, arg) ? ENOMEM : 0;
		o->style.events |= 1ULL << kind_named(arg);
		return 0;
	case OPT_TIME:
		o->style.time = parse_base(state, arg);
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

/* Definitions may follow the events that need them, so the file is read twice: first for names, then for events. */
static int print_events(struct trace_reader *reader, const struct analysis *an, unsigned top,
			const struct script_options *style)
{
	const struct jvm_event_row *row;
	struct trace_rec rec;
	struct stream s;
	int err = 0;

	stream_begin(&s, reader, an);
	while (top && (err = stream_record(&s, &rec, &row)) == 1) {
		top -= script_print(stdout, an, &rec, row, style);
		if (ferror(stdout))
			return 0;
	}
	return err < 0 ? err : 0;
}

static int print_raw(struct trace_reader *reader, bool *ended)
{
	struct trace_rec rec;
	int err;

	while ((err = trace_reader_next(reader, &rec)) == 1) {
		*ended = *ended || rec.kind == TRACE_END;
		err = trace_rec_print(stdout, &rec);
		if (err)
			return ferror(stdout) ? 0 : err;
	}
	return err;
}

static bool printed(const char *path, int err)
{
	if (err)
		log_error("cannot read %s: %s", path, strerror(-err));
	return common_output_close(stdout, NULL, 0) && !err;
}

static int script_raw(const char *path)
{
	struct report_source source = {0};
	struct trace_reader *reader;
	bool ok, ended = false;
	int status;

	if (!common_open(&reader, path))
		return EXIT_FAILURE;
	ok = printed(path, print_raw(reader, &ended));
	source.damage = trace_reader_damage(reader);
	source.bytes = trace_reader_bytes(reader);
	if (ok)
		common_report_state(path, &source, ended, 0);
	status = !ok ? EXIT_FAILURE : trace_is_damaged(source.damage) ? EXIT_DAMAGED : EXIT_SUCCESS;
	trace_reader_close(reader);
	return status;
}

static bool has_named(const struct loaded *l, const struct script_options *style)
{
	for (size_t i = 0; i < style->named.count; i++)
		if (!common_has_event(l, style->named.at[i], false))
			return false;
	return true;
}

static int script_events(struct script_arguments *o)
{
	struct loaded l;
	int status = EXIT_FAILURE, err;

	if (!common_load_analysis(&l, o->file, &o->common.filter))
		return status;
	if (common_has_times(&l, "a list of events") && has_named(&l, &o->style)) {
		err = print_events(l.reader, l.analysis, common_top(&o->common, UINT_MAX), &o->style);
		status = common_status(&l, printed(o->file, err));
	}
	common_unload(&l);
	return status;
}

int cmd_script(int argc, char **argv)
{
	static const struct argp_child children[] = {{&common_argp, 0, 0, 0}, {0}};
	static const struct argp argp = {options, script_parse, "[FILE]", doc, children, 0, 0};
	struct script_arguments o = {0};
	int status;

	if (common_parse(&argp, argc, argv, &o))
		return EXIT_FAILURE;
	status = o.raw ? script_raw(o.file) : script_events(&o);
	filter_free(&o.common.filter);
	free(o.style.named.at);
	return status;
}
