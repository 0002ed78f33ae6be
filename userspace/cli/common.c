// SPDX-License-Identifier: Apache-2.0
#include "common.h"

#include <analyze/kinds.h>
#include <config/event_config.h>
#include <page/html.h>

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <util/quantity.h>
#include <util/log.h>

/* ---- options ---- */

enum {
	OPT_TID = 0x100,
	OPT_COMM,
	OPT_FROM,
	OPT_TO,
	OPT_INCLUDE,
	OPT_EXCLUDE,
	OPT_TOP,
	OPT_NORM,
	OPT_SPAN,
	OPT_TRACE,
	OPT_CGROUP
};

static const struct argp_option options[] = {
	{0, 0, 0, 0, "What to look at:", 1},
	{"pid", 'p', "PID[,PID...]", 0, "Only these processes", 1},
	{"tid", OPT_TID, "TID[,TID...]", 0, "Only these threads", 1},
	{"comm", OPT_COMM, "NAME", 0, "Only processes and threads with this name; can be repeated", 1},
	{"cgroup", OPT_CGROUP, "TEXT", 0,
	 "Only processes in a control group whose path contains TEXT, for instance a container's id; can be repeated",
	 1},
	{"from", OPT_FROM, "TIME", 0,
	 "Only from TIME on, since the recording's start (1.5, 500ms, 2m), as a time of day (12:30:05, "
	 "2026-11-22T12:30:05), or from the beginning of a day on (2026-11-22)",
	 1},
	{"to", OPT_TO, "TIME", 0, "Only until TIME", 1},
	{"include", OPT_INCLUDE, "RE", 0,
	 "Only stacks with a frame whose name matches RE; can be repeated to match any of several", 1},
	{"exclude", OPT_EXCLUDE, "RE", 0,
	 "No stacks with a frame whose name matches RE; can be repeated to match any of several", 1},
	{"span", OPT_SPAN, "SPANS", 0,
	 "Only what belongs to these spans: ID[,ID...], hexadecimal; KEY=VALUE or KEY~PATTERN, an attribute or the name "
	 "('name~GET*'); how long they lasted ('duration>50ms', <, 'duration=1ms..50ms'); FROM..TO, the times of a thread "
	 "from a hit of the event FROM to its next one of TO; method:PATTERN or uprobe:FUNCTION, the recorded calls of "
	 "these methods, or of this function",
	 1},
	{"trace", OPT_TRACE, "ID[,ID...]", 0, "Only what belongs to spans of these traces of OpenTelemetry", 1},
	{"norm", OPT_NORM, 0, 0,
	 "Leave out of Java names what differs from run to run: addresses of hidden classes, numbers of lambdas and "
	 "accessors",
	 1},
	{"top", OPT_TOP, "N", 0,
	 "Print N rows of each table of a report (default 30), the N heaviest stacks of an export, or the first N "
	 "events of a script (default all)",
	 1},
	{0},
};

void common_time(struct argp_state *state, const char *name, const char *arg, bool *has, struct moment *m)
{
	if (moment_parse(arg, m))
		argp_error(
			state,
			"--%s: '%s' is not a time; write for example 1.5, 500ms, 2m, 12:30:05, 2026-11-22T12:30:05 or 2026-11-22",
			name, arg);
	*has = true;
}

void common_span(struct argp_state *state, struct filter *f, const char *arg)
{
	if (filter_add_spans(f, arg))
		argp_error(
			state,
			"--span: '%s' is neither a list of span ids, of 16 hexadecimal digits, nor KEY=VALUE, KEY~PATTERN, "
			"a duration as in duration>50ms or duration=1ms..50ms, two events, FROM..TO, nor method:PATTERN or uprobe:FUNCTION",
			arg);
}

void common_trace(struct argp_state *state, struct filter *f, const char *arg)
{
	if (filter_add_traces(f, arg))
		argp_error(state, "--trace: '%s' is not a list of trace ids, of 32 hexadecimal digits", arg);
}

uint64_t common_length(struct argp_state *state, const char *name, const char *arg)
{
	uint64_t ns;

	if (duration_parse(arg, &ns) || ns < 1000000)
		argp_error(state, "%s: '%s' is not a time of at least 1ms, such as 10, 10s, 500ms, 2m or 1h", name,
			   arg);
	return ns;
}

const char *common_source_link(struct argp_state *state, const char *arg)
{
	if (!page_can_link(arg))
		argp_error(state, "--source-link: '%s' is not an address of http or https with {path} in it", arg);
	return arg;
}

uint64_t common_pause(struct argp_state *state, const char *arg)
{
	uint64_t ns;

	if (duration_parse(arg, &ns) || ns > HEAP_ANY_PAUSE_NS)
		argp_error(state, "--max-pause: '%s' is not a time of at most 24h, such as 500ms or 2s", arg);
	return ns;
}

const char *common_output_name(struct argp_state *state, const char *option, const char *arg)
{
	if (!*arg)
		argp_error(state, "%s: the name of the file is empty", option);
	return arg;
}

static void parse_expression(struct argp_state *state, struct common *c, int key, const char *arg)
{
	char why[128] = "";
	int err = key == OPT_INCLUDE ? filter_add_include(&c->filter, arg, why, sizeof(why))
				     : filter_add_exclude(&c->filter, arg, why, sizeof(why));

	if (err)
		argp_error(state, "--%s: '%s' is not a regular expression: %s",
			   key == OPT_INCLUDE ? "include" : "exclude", arg, *why ? why : strerror(-err));
}

unsigned common_number(struct argp_state *state, const char *name, const char *what, const char *arg)
{
	char *end;
	unsigned long n = strtoul(arg, &end, 10);

	if (*arg < '0' || *arg > '9' || *end || n > 1000000000)
		argp_error(state, "--%s: '%s' is not a number of %s", name, arg, what);
	return (unsigned)n;
}

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
	struct common *c = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		c->top = UINT_MAX;
		return 0;
	case 'p':
		if (filter_add_pids(&c->filter, arg))
			argp_error(state, "--pid: '%s' is not a list of process ids", arg);
		return 0;
	case OPT_NORM:
		c->filter.norm = true;
		return 0;
	case OPT_TID:
		if (filter_add_tids(&c->filter, arg))
			argp_error(state, "--tid: '%s' is not a list of thread ids", arg);
		return 0;
	case OPT_SPAN:
		common_span(state, &c->filter, arg);
		return 0;
	case OPT_TRACE:
		common_trace(state, &c->filter, arg);
		return 0;
	case OPT_COMM:
		return -filter_add_comm(&c->filter, arg);
	case OPT_CGROUP:
		return -filter_add_cgroup(&c->filter, arg);
	case OPT_FROM:
		common_time(state, "from", arg, &c->filter.has_from, &c->filter.from);
		return 0;
	case OPT_TO:
		common_time(state, "to", arg, &c->filter.has_to, &c->filter.to);
		return 0;
	case OPT_INCLUDE:
	case OPT_EXCLUDE:
		parse_expression(state, c, key, arg);
		return 0;
	case OPT_TOP:
		c->top = common_number(state, "top", "rows", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp common_argp = {.options = options, .parser = parse_common};

enum { OPT_IDLE = 0x300, OPT_NO_IDLE };

static const struct argp_option idle_options[] = {
	{0, 0, 0, 0, "Threads that wait for work:", 2},
	{"idle", OPT_IDLE, "FILE", 0,
	 "Threads with a frame of FILE are idle, too: a prefix of a frame's name a line, such as com.acme.Pool.take",
	 2},
	{"no-idle", OPT_NO_IDLE, 0, 0, "Leave out the time of idle threads", 2},
	{0},
};

/* Blank lines and lines that begin with '#' are no prefixes. */
static int read_idle(struct filter *f, const char *path)
{
	FILE *in = fopen(path, "re");
	char *line = NULL, *prefix;
	size_t room = 0;
	ssize_t length;
	int err = in ? 0 : -errno;

	while (!err && (length = getline(&line, &room, in)) > 0) {
		while (length && strchr(" \t\r\n", line[length - 1]))
			line[--length] = 0;
		prefix = line + strspn(line, " \t");
		if (*prefix && *prefix != '#')
			err = filter_add_idle(f, prefix);
	}
	if (in && !err && ferror(in))
		err = -EIO;
	free(line);
	if (in)
		fclose(in);
	return err;
}

static error_t parse_idle(int key, char *arg, struct argp_state *state)
{
	struct idle_options *o = state->input;
	int err;

	switch (key) {
	case OPT_IDLE:
		err = read_idle(o->filter, arg);
		if (err)
			argp_failure(state, EXIT_USAGE, 0, "--idle: cannot read %s: %s", arg, strerror(-err));
		return 0;
	case OPT_NO_IDLE:
		o->none = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp idle_argp = {.options = idle_options, .parser = parse_idle};

int common_parse(const struct argp *argp, int argc, char **argv, void *input)
{
	argp_err_exit_status = EXIT_USAGE;
	return argp_parse(argp, argc, argv, 0, NULL, input);
}

static const struct argp_option json_options[] = {
	{"json", 'j', NULL, 0, "Print JSON", 0},
	{"verbose", 'v', NULL, 0, "Print more messages", 0},
	{0},
};

static error_t parse_json(int key, char *arg, struct argp_state *state)
{
	bool *json = state->input;

	(void)arg;
	switch (key) {
	case 'j':
		*json = true;
		return 0;
	case 'v':
		log_verbosity++;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "takes no arguments");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void common_parse_json(const char *doc, int argc, char **argv, bool *json)
{
	const struct argp argp = {.options = json_options, .parser = parse_json, .doc = doc};

	common_parse(&argp, argc, argv, json);
}

bool common_event_named(const char *arg)
{
	return !kind_named(arg) && strcmp(arg, "cpu") != 0 && strcmp(arg, "samples") != 0;
}

error_t common_file_arg(int key, char *arg, struct argp_state *state, const char **file)
{
	if (key == ARGP_KEY_ARG) {
		if (*file)
			argp_error(state, "unexpected argument '%s'; name one trace at a time", arg);
		*file = arg;
		return 0;
	}
	if (key == ARGP_KEY_END && !*file)
		*file = DEFAULT_TRACE;
	return key == ARGP_KEY_END ? 0 : ARGP_ERR_UNKNOWN;
}

pid_t common_id(struct argp_state *state, const char *what, const char *arg)
{
	size_t digits = strspn(arg, "0123456789");
	unsigned long id = strtoul(arg, NULL, 10);

	if (!digits || arg[digits] || !id || id > 1UL << 22)
		argp_error(state, "'%.60s' is not a %s id", arg, what);
	return (pid_t)id;
}

error_t common_pid_arg(int key, char *arg, struct argp_state *state, pid_t *pid)
{
	if (key == ARGP_KEY_END && !*pid)
		argp_error(state, "no process id; `braid list` shows the JVMs");
	if (key != ARGP_KEY_ARG)
		return 0;
	if (*pid)
		argp_error(state, "unexpected argument '%s'; name one process", arg);
	*pid = common_id(state, "process", arg);
	return 0;
}

unsigned common_top(const struct common *c, unsigned otherwise)
{
	return c->top == UINT_MAX ? otherwise : c->top;
}
