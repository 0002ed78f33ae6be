// SPDX-License-Identifier: Apache-2.0
/* `braid info`: prints the figures of a trace. */
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/common.h"

struct info_options {
	const char *file;
	bool json, settings;
	const char *part; /* of the settings' names */
};

enum { OPT_JSON = 0x200, OPT_SETTINGS };

static const struct argp_option options[] = {
	{"json", OPT_JSON, 0, 0, "Print one JSON object, for scripts", 0},
	{"settings", OPT_SETTINGS, "PART", OPTION_ARG_OPTIONAL,
	 "Print instead the flags and system properties of each JVM, or those whose names contain PART", 0},
	{0},
};

static const char doc[] =
	"Shows how a trace was recorded, its JVMs, how complete its stacks are, and what was "
	"lost.\vExamples:\n"
	"  braid info braid.trace\n"
	"  braid info --settings braid.trace\n"
	"  braid info --settings=heap braid.trace\n"
	"  braid info --json braid.trace | python3 -m json.tool\n"
	"\n"
	"samples counts the samples of all threads, java_samples those of the JVMs' Java threads. A "
	"complete sample has a stack that reaches the thread's first frame; by_cause counts the others. "
	"frames counts the frames of all stacks, each as often as it was sampled. An inlined method is a "
	"Java frame. Code that the JVM generates without a method (a stub) is a native frame. java_named "
	"and native_named count the frames that have the name of a method or function. stacks counts "
	"distinct stacks. A capability is true if the JVM granted it to the agent, and false if it "
	"refused. A figure that was not measured is null.\n"
	"\n"
	"flags are those of the VM, with who set them (default: nobody); properties are the system properties. Of what "
	"had another value when the recording began, that is given, too. A value whose key names a secret, such as a "
	"password, is recorded as ***.";

static error_t info_parse(int key, char *arg, struct argp_state *state)
{
	struct info_options *o = state->input;

	if (key == OPT_JSON) {
		o->json = true;
		return 0;
	}
	if (key == OPT_SETTINGS) {
		o->settings = true;
		o->part = arg;
		return 0;
	}
	if (key == ARGP_KEY_END && o->json && o->settings)
		argp_error(state, "--json has the settings, too; leave out --settings");
	return common_file_arg(key, arg, state, &o->file);
}

int cmd_info(int argc, char **argv)
{
	static const struct argp argp = {options, info_parse, "[FILE]", doc, 0, 0, 0};
	struct info_options o = {0};
	struct loaded l;
	int status;

	if (common_parse(&argp, argc, argv, &o))
		return EXIT_FAILURE;
	if (!common_load(&l, o.file, NULL))
		return EXIT_FAILURE;
	if (o.json)
		info_json(stdout, l.views, &l.source);
	else if (o.settings)
		settings_text(stdout, l.views, o.part);
	else
		info_text(stdout, l.views, &l.source);
	status = common_status(&l, common_output_close(stdout, NULL, 0));
	common_unload(&l);
	return status;
}
