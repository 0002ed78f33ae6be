// SPDX-License-Identifier: Apache-2.0
/* `braid diagnose`: what is wrong in a recording. */
#include <stdlib.h>

#include <report/diagnose.h>

#include "cli/cli.h"
#include "cli/common.h"
#include "cli/terminal.h"

struct diagnose_options {
	struct common common;
	struct idle_options idle;
	struct terminal_options terminal;
	const char *file;
	bool json, rules;
};

enum { OPT_JSON = 0x200, OPT_RULES };

static const struct argp_option options[] = {
	{"json", OPT_JSON, 0, 0, "Print one JSON object, for scripts", 0},
	{"rules", OPT_RULES, 0, 0, "Print instead what is looked for, from when on it is a finding, and what it needs",
	 0},
	{0},
};

static const char doc[] =
	"Says what is wrong in a recording, the worst first: locks, collections, pools without workers, waits for "
	"disks, CPUs and names, exceptions, compiled code that is thrown away, and more.\vExamples:\n"
	"  braid record --preset all -d 30 -p 4711 && braid diagnose\n"
	"  braid diagnose --json braid.trace\n"
	"  braid diagnose --from 5 --to 10 braid.trace\n"
	"  braid diagnose --no-idle braid.trace\n"
	"  braid diagnose --rules\n"
	"\n"
	"Each finding has its evidence and a command that shows more of it. A finding that is likely the consequence of "
	"another one says so, and comes after it. What was not recorded is listed as not checked. The exit status is 0 "
	"whether there are findings or not.";

static error_t diagnose_parse(int key, char *arg, struct argp_state *state)
{
	struct diagnose_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		o->idle.filter = &o->common.filter;
		state->child_inputs[0] = &o->common;
		state->child_inputs[1] = &o->idle;
		state->child_inputs[2] = &o->terminal;
		return 0;
	case OPT_JSON:
		o->json = true;
		return 0;
	case OPT_RULES:
		o->rules = true;
		return 0;
	default:
		return common_file_arg(key, arg, state, &o->file);
	}
}

static bool write_diagnosis(const struct loaded *l, const struct diagnose_options *o)
{
	struct diagnosis *d;
	int err = diagnosis_new(&d, l->views, !o->idle.none);

	if (!err)
		(o->json ? diagnosis_json : diagnosis_text)(stdout, d, l->path);
	diagnosis_free(d);
	return common_output_close(stdout, NULL, err);
}

static int write_rules(bool json)
{
	(json ? rules_json : rules_text)(stdout);
	return common_output_close(stdout, NULL, 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}

int cmd_diagnose(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{&common_argp, 0, 0, 0}, {&idle_argp, 0, 0, 0}, {&terminal_argp, 0, 0, 0}, {0}};
	static const struct argp argp = {options, diagnose_parse, "[FILE]", doc, children, 0, 0};
	struct diagnose_options o = {0};
	int status = EXIT_FAILURE;
	struct loaded l;

	if (common_parse(&argp, argc, argv, &o))
		return EXIT_FAILURE;
	if (!o.json)
		terminal_begin(&o.terminal);
	if (o.rules) {
		status = write_rules(o.json);
	} else if (common_load(&l, o.file, &o.common.filter)) {
		status = common_status(&l, write_diagnosis(&l, &o));
		common_unload(&l);
	}
	filter_free(&o.common.filter);
	terminal_end();
	return status;
}
