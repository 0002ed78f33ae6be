// SPDX-License-Identifier: Apache-2.0
/* `braid at`: one moment of a recording. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <report/at.h>
#include <util/log.h>
#include <util/quantity.h>

#include "cli/cli.h"
#include "cli/common.h"

struct at_options {
	const char *args[2]; /* FILE and TIME */
	unsigned count;
	struct filter moment; /* its --from */
	struct filter filter; /* of the analysis: the frames of --idle */
	struct idle_options idle;
	unsigned top;
	bool all, json;
};

enum { OPT_ALL = 0x200, OPT_TOP, OPT_JSON };

static const struct argp_option options[] = {
	{"all", OPT_ALL, 0, 0, "Also print idle threads", 0},
	{"top", OPT_TOP, "N", 0, "Print N rows of each list (default 50)", 0},
	{"json", OPT_JSON, 0, 0, "Print JSON, with everything", 0},
	{0},
};

static const char doc[] =
	"Shows one moment of a recording: what ran on each CPU, what each thread waited for, and which garbage collections, "
	"safepoints, other events and spans lasted then. What threads did needs the events of `record -e offcpu`, or of "
	"`--preset wall`.\vExamples:\n"
	"  braid at 1.5\n"
	"  braid at braid.trace 500ms\n"
	"  braid at braid.trace 12:30:05.25 --all\n"
	"  braid at --json braid.trace 1.5\n"
	"\n"
	"TIME is as for --from: since the recording's start (1.5, 500ms, 2m), or a time of day (12:30:05, "
	"2026-11-22T12:30:05, or 2026-11-22 for the midnight at which that day begins). A running thread's stack is that of the "
	"nearest sample, if it is not further away than the time between two samples.";

static void check_arguments(struct argp_state *state, struct at_options *o)
{
	if (!o->count)
		argp_error(state, "no time; write for example 1.5, 500ms or 12:30:05");
	if (o->count == 1) {
		o->args[1] = o->args[0];
		o->args[0] = DEFAULT_TRACE;
	}
	if (moment_parse(o->args[1], &o->moment.from))
		argp_error(
			state,
			"'%s' is not a time; write for example 1.5, 500ms, 2m, 12:30:05, 2026-11-22T12:30:05 or 2026-11-22",
			o->args[1]);
	o->moment.has_from = true;
	if (o->all && o->idle.none)
		argp_error(state, "--all prints idle threads, and --no-idle leaves them out");
}

static error_t at_parse(int key, char *arg, struct argp_state *state)
{
	struct at_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		o->idle.filter = &o->filter;
		state->child_inputs[0] = &o->idle;
		return 0;
	case OPT_ALL:
		o->all = true;
		return 0;
	case OPT_TOP:
		o->top = common_number(state, "top", "rows", arg);
		return 0;
	case OPT_JSON:
		o->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (o->count == 2)
			argp_error(state, "unexpected argument '%s'", arg);
		o->args[o->count++] = arg;
		return 0;
	case ARGP_KEY_END:
		check_arguments(state, o);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The moment on the trace's clock; 0, with an error printed, if it is not in the recording. */
static uint64_t find_moment(const struct loaded *l, const struct at_options *o)
{
	char lasted[QUANTITY_TEXT];
	struct window w;

	switch (analysis_window(&w, l->analyzer, &o->moment)) {
	case 0:
		return window_begin_ns(&w);
	case -ENODATA:
		log_error("%s has no time of day; give the time as seconds since its start", l->path);
		return 0;
	default:
		log_error("%s is outside of the recording: %s lasts %s", o->args[1], l->path,
			  duration_text(lasted, w.end_ns - w.start_ns));
		return 0;
	}
}

static bool write_moment(const struct loaded *l, const struct at_options *o, uint64_t at_ns)
{
	struct timeline *tl = NULL;
	struct at_view *v = NULL;
	struct wall *w;
	int err = wall_new(&w, l->analysis);

	err = err ?: timeline_new(&tl, w) ?: at_view_new(&v, tl, at_ns, !o->idle.none);
	if (!err && o->json)
		at_json(stdout, v);
	else if (!err)
		at_text(stdout, v, o->top, o->all);
	at_view_free(v);
	timeline_free(tl);
	wall_free(w);
	return common_output_close(stdout, NULL, err);
}

int cmd_at(int argc, char **argv)
{
	static const struct argp_child children[] = {{&idle_argp, 0, 0, 0}, {0}};
	static const struct argp argp = {options, at_parse, "[FILE] TIME", doc, children, 0, 0};
	struct at_options o = {.top = 50};
	int status = EXIT_FAILURE;
	struct loaded l;

	if (common_parse(&argp, argc, argv, &o))
		return EXIT_FAILURE;
	if (common_load_near(&l, o.args[0], &o.moment, at_near_ns, &o.filter)) {
		uint64_t at_ns = common_has_times(&l, "a moment") ? find_moment(&l, &o) : 0;

		status = common_status(&l, at_ns && write_moment(&l, &o, at_ns));
		common_unload(&l);
	}
	filter_free(&o.filter);
	return status;
}
