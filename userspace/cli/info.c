// SPDX-License-Identifier: Apache-2.0
/* braid info: what a trace is, in figures. */
#include <stdlib.h>

#include "cli.h"
#include "common.h"

struct info_options {
	const char *file;
	bool json;
};

enum { OPT_JSON = 0x200 };

static const struct argp_option options[] = {
	{"json", OPT_JSON, 0, 0, "As one JSON object, for scripts", 0},
	{0},
};

static const char doc[] =
	"Says what a trace is: its recording, its JVMs, how complete its stacks are, and what was lost."
	"\vExamples:\n"
	"  braid info braid.trace\n"
	"  braid info --json braid.trace | python3 -m json.tool\n\n"
	"samples and java_samples count samples of all threads and of the JVMs' Java threads; complete ones reached "
	"the "
	"thread's first frame, the others are counted by_cause. frames counts the frames of all these stacks, each as "
	"often as "
	"it was sampled: an inlined method is a Java frame of its own, code that the JVM generates for no method "
	"(stubs) is "
	"native, java_named and native_named are those with the name of a method or function. stacks are the distinct "
	"ones. "
	"A capability is true when the JVM granted it to the agent and false when it refused. A figure that was not "
	"measured is null.";

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct info_options *o = state->input;

	if (key == OPT_JSON) {
		o->json = true;
		return 0;
	}
	return common_file_arg(key, arg, state, &o->file);
}

int cmd_info(int argc, char **argv)
{
	static const struct argp argp = {options, parse, "[FILE]", doc, 0, 0, 0};
	struct info_options o = {0};
	struct loaded l;
	int status;

	if (common_parse(&argp, argc, argv, &o))
		return EXIT_FAILURE;
	if (!common_load(&l, o.file, NULL))
		return EXIT_FAILURE;
	if (o.json)
		info_json(stdout, l.views, &l.source);
	else
		info_text(stdout, l.views, &l.source);
	status = common_status(&l, common_output_close(stdout, NULL, 0));
	common_unload(&l);
	return status;
}
