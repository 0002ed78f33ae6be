// SPDX-License-Identifier: Apache-2.0
#include "snapshot.h"

#include "record/session.h"
#include "util/log.h"

enum { OPT_JSON = 0x100 };

static const struct argp_option options[] = {
	{"json", OPT_JSON, NULL, 0, "Print JSON", 0},
	{"output", 'o', "FILE", 0, "Keep the recording's trace in FILE", 0},
	{"verbose", 'v', NULL, 0, "Print more messages", 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct snapshot *s = state->input;

	switch (key) {
	case OPT_JSON:
		s->as_json = true;
		return 0;
	case 'o':
		s->record.output = common_output_name(state, "-o", arg);
		return 0;
	case 'v':
		log_verbosity++;
		return 0;
	case ARGP_KEY_ARG:
	case ARGP_KEY_END:
		return common_pid_arg(key, arg, state, &s->pid);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp snapshot_argp = {.options = options, .parser = parse};

void snapshot_init(struct snapshot *s, const char *what)
{
	*s = (struct snapshot){.what = what, .record = options_default("/dev/null")};
	s->record.quiet = true;
	selection_init(&s->selection);
}

bool snapshot_feed(struct snapshot *s, const struct trace_rec *rec)
{
	if (s->live.analyzer && analyzer_feed(s->live.analyzer, rec)) {
		log_error("not enough memory for the %s", s->what);
		analyzer_free(s->live.analyzer);
		s->live.analyzer = NULL;
	}
	return s->live.analyzer;
}

static void take(void *ctx, const struct trace_rec *rec)
{
	(void)snapshot_feed(ctx, rec);
}

bool snapshot_record(struct snapshot *s)
{
	struct record_options *o = &s->record;
	int status;

	options_select(o, &s->selection);
	o->pids = &s->pid;
	o->pid_count = 1;
	if (!o->tap) {
		o->tap = take;
		o->tap_ctx = s;
	}
	s->live.path = o->output;
	return !analyzer_new(&s->live.analyzer) && !session_record(o, &status) && s->live.analyzer;
}

bool snapshot_run(struct snapshot *s)
{
	static const struct filter everything; /* the analysis keeps it */

	return snapshot_record(s) && common_analyze(&s->live, &everything);
}

void snapshot_free(struct snapshot *s)
{
	common_unload(&s->live);
}
