// SPDX-License-Identifier: Apache-2.0
/* `braid cut`: a part of a trace as a trace. */
#include <stdlib.h>

#include "cli/cli.h"
#include "edit.h"

struct cut_request {
	struct common common;
	struct edit_output output;
	const char *file;
};

static const char doc[] =
	"Writes a part of a trace as a trace: the events that the options select, and what they need.\vExamples:\n"
	"  braid cut --from 12 --to 14.5 -o slow.trace braid.trace\n"
	"  braid cut --pid 4711 -o service.trace braid.trace\n"
	"  braid cut --trace 4bf92f3577b34da6a3ce929d0e0e4736 -o request.trace\n"
	"\n"
	"Times in the new trace are the same as in the old one, so that both can be spoken of. Waits and other intervals "
	"that begin before the part or end behind it are kept whole, and readers show what of them is inside. Losses, "
	"notices and the recorder's own figures are those of the whole recording.";

static error_t cut_parse(int key, char *arg, struct argp_state *state)
{
	struct cut_request *r = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &r->output;
		state->child_inputs[1] = &r->common;
		return 0;
	case ARGP_KEY_END:
		if (!filter_is_set(&r->common.filter))
			argp_error(state, "select a part, for example with --from and --to, --pid or --span");
		return common_file_arg(key, arg, state, &r->file);
	default:
		return common_file_arg(key, arg, state, &r->file);
	}
}

static bool cut(const struct loaded *l, const struct cut_request *r)
{
	struct trace_writer *w = edit_output_open(r->output.path, &r->file, 1);
	struct edit_counts c = {0};

	return w && edit_output_close(w, r->output.path, &c, edit_cut(w, l->reader, l->analysis, &c));
}

int cmd_cut(int argc, char **argv)
{
	static const struct argp_child children[] = {{&edit_argp, 0, 0, 0}, {&common_argp, 0, 0, 0}, {0}};
	static const struct argp argp = {NULL, cut_parse, "[FILE]", doc, children, 0, 0};
	struct cut_request r = {0};
	int status = EXIT_FAILURE;
	struct loaded l;

	if (common_parse(&argp, argc, argv, &r))
		return EXIT_FAILURE;
	if (common_load_samples(&l, r.file, &r.common.filter)) {
		status = common_status(&l, cut(&l, &r));
		common_unload(&l);
	}
	filter_free(&r.common.filter);
	return status;
}
