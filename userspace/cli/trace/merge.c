// SPDX-License-Identifier: Apache-2.0
/* `braid merge`: several traces as one. */
#include <errno.h>
#include <stdlib.h>

#include <util/log.h>
#include <util/vec.h>

#include "cli/cli.h"
#include "edit.h"

struct merge_request {
	VEC(const char *) files;
	struct edit_output output;
};

static const char doc[] =
	"Writes several traces as one, on one clock.\vExamples:\n"
	"  braid merge -o both.trace web.trace database.trace\n"
	"  braid merge -o day.trace morning.trace noon.trace evening.trace\n"
	"\n"
	"Traces of one machine that it recorded without a restart between have one clock, and a process or thread that "
	"is in several of them is one in the new trace. (Not so if they have live objects, native memory or JNI "
	"references, whose numbers belong to one recording.) Traces of other machines are placed by their time of day, "
	"which is as exact as these machines' clocks; their CPUs are numbered on, and each process has an attribute "
	"host.name. All must have been recorded with the same sampling event and frequency; but samples that were "
	"imported from another tool's file, and are of another event, become events of that name beside the samples. What "
	"was recorded twice at the same time counts twice.";

static error_t merge_parse(int key, char *arg, struct argp_state *state)
{
	struct merge_request *r = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &r->output;
		return 0;
	case ARGP_KEY_ARG:
		return VEC_PUSH(&r->files, arg) ? ENOMEM : 0;
	case ARGP_KEY_END:
		if (r->files.count < 2)
			argp_error(state, "name two traces or more");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool merge(const struct merge_request *r, const struct merge_input *in)
{
	char why[MERGE_WHY_MAX];
	struct trace_writer *w;
	struct edit_counts c = {0};

	if (edit_merge_refused(in, r->files.count, why)) {
		log_error("these traces cannot be one: %s", why);
		return false;
	}
	w = edit_output_open(r->output.path, r->files.at, r->files.count);
	return w && edit_output_close(w, r->output.path, &c, edit_merge(w, in, r->files.count, &c));
}

/* The exit status: the worst of the inputs'. */
static int load_and_merge(const struct merge_request *r, struct loaded *l, struct merge_input *in)
{
	static const struct filter all;
	size_t loaded = 0;
	int status = EXIT_FAILURE;

	while (loaded < r->files.count && common_load_analysis(&l[loaded], r->files.at[loaded], &all)) {
		in[loaded] = (struct merge_input){r->files.at[loaded], l[loaded].reader, l[loaded].analysis};
		loaded++;
	}
	if (loaded == r->files.count) {
		bool ok = merge(r, in);

		status = EXIT_SUCCESS;
		for (size_t i = 0; i < loaded; i++) {
			int one = common_status(&l[i], ok);

			status = one > status ? one : status;
		}
	}
	while (loaded)
		common_unload(&l[--loaded]);
	return status;
}

int cmd_merge(int argc, char **argv)
{
	static const struct argp_child children[] = {{&edit_argp, 0, 0, 0}, {0}};
	static const struct argp argp = {NULL, merge_parse, "FILE FILE...", doc, children, 0, 0};
	struct merge_request r = {0};
	int status = EXIT_FAILURE;
	struct merge_input *in;
	struct loaded *l;

	if (common_parse(&argp, argc, argv, &r))
		return EXIT_FAILURE;
	l = calloc(r.files.count, sizeof(*l));
	in = calloc(r.files.count, sizeof(*in));
	if (l && in)
		status = load_and_merge(&r, l, in);
	else
		log_error("out of memory");
	free(l);
	free(in);
	free(r.files.at);
	return status;
}
