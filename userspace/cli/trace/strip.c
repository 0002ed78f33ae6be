// SPDX-License-Identifier: Apache-2.0
/* `braid strip` and `braid recover`: a trace without what its reader is not to know, or without its damage. */
#include <errno.h>
#include <stdlib.h>

#include <util/vec.h>

#include "cli/cli.h"
#include "edit.h"

struct strip_request {
	struct edit_output output;
	const char *file;
	bool anonymise;
	VEC(const char *) keep;
};

static const struct argp_child edit_children[] = {{&edit_argp, 0, 0, 0}, {0}};

enum { OPT_ANONYMISE = 0x200, OPT_KEEP };

static const struct argp_option strip_options[] = {
	{"anonymise", OPT_ANONYMISE, 0, 0, "Also replace all names that are not public by pseudonyms", 0},
	{"anonymize", OPT_ANONYMISE, 0, OPTION_ALIAS, 0, 0},
	{"keep", OPT_KEEP, "PREFIX", 0, "With --anonymise: classes whose names begin so are public, too", 0},
	{0},
};

static const char strip_doc[] =
	"Writes a trace without command lines, system properties, attributes of processes and spans, and values of "
	"arguments and fields.\vExamples:\n"
	"  braid strip -o public.trace braid.trace\n"
	"  braid strip --anonymise --keep org.springframework. -o public.trace braid.trace\n"
	"\n"
	"With --anonymise, names of classes, methods, threads, processes, files, functions and hosts become Class7, "
	"method12, thread3 and so on. The same name is the same pseudonym throughout the trace. Public names stay: those "
	"of the JDK, of the kernel, and of libraries and programs in the system's directories. Numbers stay, too: times, "
	"sizes, process ids, addresses and trace ids. Look at the result before you give it away: braid script --raw "
	"prints all that is in it.";

static error_t strip_parse(int key, char *arg, struct argp_state *state)
{
	struct strip_request *r = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &r->output;
		return 0;
	case OPT_ANONYMISE:
		r->anonymise = true;
		return 0;
	case OPT_KEEP:
		return VEC_PUSH(&r->keep, arg) ? ENOMEM : 0;
	case ARGP_KEY_END:
		if (r->keep.count && !r->anonymise)
			argp_error(state, "--keep: needs --anonymise");
		return common_file_arg(key, arg, state, &r->file);
	default:
		return common_file_arg(key, arg, state, &r->file);
	}
}

/* The exit status reports the damage of the input. */
static int status_of(const char *path, const struct trace_reader *reader, bool ok)
{
	const struct report_source source = {.damage = trace_reader_damage(reader),
					     .bytes = trace_reader_bytes(reader)};

	if (!ok)
		return EXIT_FAILURE;
	common_report_state(path, &source, true, 0);
	return trace_is_damaged(source.damage) ? EXIT_DAMAGED : EXIT_SUCCESS;
}

int cmd_strip(int argc, char **argv)
{
	static const struct argp argp = {strip_options, strip_parse, "[FILE]", strip_doc, edit_children, 0, 0};
	struct strip_request r = {0};
	struct trace_reader *reader;
	struct edit_counts c = {0};
	int status = EXIT_FAILURE;

	if (common_parse(&argp, argc, argv, &r))
		return EXIT_FAILURE;
	if (common_open(&reader, r.file)) {
		const struct strip_options o = {r.anonymise, r.keep.at, r.keep.count};
		struct trace_writer *w = edit_output_open(r.output.path, &r.file, 1);
		bool ok = w && edit_output_close(w, r.output.path, &c, edit_strip(w, reader, &o, &c));

		status = status_of(r.file, reader, ok);
		trace_reader_close(reader);
	}
	free(r.keep.at);
	return status;
}

static const char recover_doc[] =
	"Writes what can be read of a damaged trace, or of one whose recorder was killed, as a trace that is whole.\v"
	"Examples:\n"
	"  braid recover -o whole.trace braid.trace\n"
	"\n"
	"What cannot be read is counted among the losses of the new trace. All commands read damaged traces as far as "
	"they can; this one makes their warnings a part of the trace, and gives it an index.";

static error_t recover_parse(int key, char *arg, struct argp_state *state)
{
	struct strip_request *r = state->input;

	if (key == ARGP_KEY_INIT) {
		state->child_inputs[0] = &r->output;
		return 0;
	}
	return common_file_arg(key, arg, state, &r->file);
}

int cmd_recover(int argc, char **argv)
{
	static const struct argp argp = {NULL, recover_parse, "[FILE]", recover_doc, edit_children, 0, 0};
	struct strip_request r = {0};
	struct trace_reader *reader;
	struct edit_counts c = {0};
	struct trace_writer *w;
	bool ok;

	if (common_parse(&argp, argc, argv, &r) || !common_open(&reader, r.file))
		return EXIT_FAILURE;
	w = edit_output_open(r.output.path, &r.file, 1);
	ok = w && edit_output_close(w, r.output.path, &c, edit_recover(w, reader, &c));
	(void)status_of(r.file, reader, ok);
	trace_reader_close(reader);
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
