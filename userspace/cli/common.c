// SPDX-License-Identifier: Apache-2.0
#include "common.h"

#include <analyze/hits.h>
#include <analyze/kinds.h>
#include <views/span_calls.h>
#include <views/span_pairs.h>
#include <analyze/spans.h>
#include <config/event_config.h>

#include <errno.h>
#include <inttypes.h>
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
	 "Only from TIME on, since the recording's start (1.5, 500ms, 2m) or as a time of day (12:30:05, "
	 "2026-11-22T12:30:05)",
	 1},
	{"to", OPT_TO, "TIME", 0, "Only until TIME", 1},
	{"include", OPT_INCLUDE, "RE", 0,
	 "Only stacks with a frame whose name matches RE; can be repeated to match any of several", 1},
	{"exclude", OPT_EXCLUDE, "RE", 0,
	 "No stacks with a frame whose name matches RE; can be repeated to match any of several", 1},
	{"span", OPT_SPAN, "ID[,ID...]|KEY=VALUE|FROM..TO|method:PATTERN", 0,
	 "Only what belongs to these spans, by their hexadecimal ids or by an attribute; FROM..TO: spans are the times of a thread from a hit of "
	 "the event FROM to its next one of TO; method:PATTERN: they are the recorded calls of these methods",
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
			"--%s: '%s' is not a time; write for example 1.5, 500ms, 2m, 12:30:05 or 2026-11-22T12:30:05",
			name, arg);
	*has = true;
}

uint64_t common_pause(struct argp_state *state, const char *arg)
{
	uint64_t ns;

	if (duration_parse(arg, &ns) || ns > HEAP_ANY_PAUSE_NS)
		argp_error(state, "--max-pause: '%s' is not a time of at most 24h, such as 500ms or 2s", arg);
	return ns;
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
		if (filter_add_spans(&c->filter, arg))
			argp_error(
				state,
				"--span: '%s' is neither a list of span ids, of 16 hexadecimal digits, nor KEY=VALUE, "
				"nor two events, FROM..TO, nor method:PATTERN",
				arg);
		return 0;
	case OPT_TRACE:
		if (filter_add_traces(&c->filter, arg))
			argp_error(state, "--trace: '%s' is not a list of trace ids, of 32 hexadecimal digits", arg);
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

bool common_has_event(const struct loaded *l, const char *event, bool one)
{
	const struct hit_event *h;
	char all[1024] = "cpu";
	size_t used = 3;
	int err = hits_by_name(l->analyzer, event, &h);

	if (err == -ENOTUNIQ && one) {
		log_error("--event: '%s' means two events of %s; write more of the name", event, l->path);
		return false;
	}
	if (err != -ENOENT || strchr(event, ':') || hits_profile(l->analysis, event))
		return true;
	for (uint32_t k = 0; k < BRAID_JVM_EVENTS && used < sizeof(all); k++)
		if (kind_of(k))
			used += (size_t)snprintf(all + used, sizeof(all) - used, ", %s", jvm_event_name(k));
	log_error("--event: '%s' is neither a kind of events nor an event of %s; use one of: %s", event, l->path, all);
	return false;
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

error_t common_pid_arg(int key, char *arg, struct argp_state *state, pid_t *pid)
{
	char *end;

	if (key == ARGP_KEY_END && !*pid)
		argp_error(state, "no process id; `braid list` shows the JVMs");
	if (key != ARGP_KEY_ARG)
		return 0;
	if (*pid)
		argp_error(state, "unexpected argument '%s'; name one process", arg);
	*pid = (pid_t)strtol(arg, &end, 10);
	if (*end || *pid <= 0)
		argp_error(state, "'%s' is not a process id", arg);
	return 0;
}

unsigned common_top(const struct common *c, unsigned otherwise)
{
	return c->top == UINT_MAX ? otherwise : c->top;
}

/* ---- input ---- */

bool common_open(struct trace_reader **reader, const char *path)
{
	const char *why = NULL;
	int err = trace_reader_open(reader, path, &why);

	if (!err)
		return true;
	if (err == -EMEDIUMTYPE)
		log_error("%s is not a braid trace (%s); record one with `braid record`", path,
			  why ? why : "unknown format");
	else if (err == -EPROTONOSUPPORT)
		log_error("%s cannot be read (%s); use the braid that recorded it", path, why ? why : "newer format");
	else if (err == -ENOENT && strcmp(path, DEFAULT_TRACE) == 0)
		log_error("no " DEFAULT_TRACE " in this directory; `braid record` writes one, or name another FILE");
	else
		log_error("cannot read %s: %s", path, strerror(-err));
	return false;
}

static bool read_trace(struct loaded *l, const char *path, bool keep_samples, common_record_fn fn, void *ctx)
{
	struct trace_rec rec;
	int err;

	memset(l, 0, sizeof(*l));
	l->path = path;
	if (!common_open(&l->reader, path))
		return false;
	err = analyzer_new(&l->analyzer);
	if (!err && keep_samples)
		analyzer_keep_samples(l->analyzer);
	while (!err && (err = trace_reader_next(l->reader, &rec)) == 1) {
		if (fn)
			fn(ctx, &rec, l->analyzer);
		err = analyzer_feed(l->analyzer, &rec);
	}
	if (err) {
		log_error("cannot read %s: %s", path, strerror(-err));
		common_unload(l);
		return false;
	}
	l->source.damage = trace_reader_damage(l->reader);
	l->source.bytes = trace_reader_bytes(l->reader);
	return true;
}

bool common_read(struct loaded *l, const char *path, const struct filter *filter, common_record_fn fn, void *ctx)
{
	return read_trace(l, path, filter && filter_needs_samples(filter), fn, ctx);
}

void common_report_state(const char *path, const struct report_source *source, bool ended, uint64_t ignored)
{
	const struct trace_damage *d = source->damage;
	const char *end = ended ? "" : "; the end of the recording is missing";

	if (!trace_is_damaged(d) && !ignored) {
		if (!ended)
			log_warning("%s: the recording did not end in order (its recorder was killed, or the disk was "
				    "full); its last part may be missing",
				    path);
	} else if (d->skipped_bytes) {
		log_warning("%s is damaged: %" PRIu64 " of its %" PRIu64 " bytes cannot be read%s", path,
			    d->skipped_bytes, source->bytes, end);
	} else {
		log_warning("%s is damaged: %" PRIu64 " blocks are missing and %" PRIu64 " records cannot be read%s",
			    path, d->missing_blocks, d->bad_records + ignored, end);
	}
}

int common_status(const struct loaded *l, bool ok)
{
	if (!ok)
		return EXIT_FAILURE;
	return source_is_damaged(&l->source, l->views) ? EXIT_DAMAGED : EXIT_SUCCESS;
}

bool common_check_window(const struct loaded *l, const struct filter *filter)
{
	struct window w;
	char began[MOMENT_TEXT], lasted[QUANTITY_TEXT];

	switch (analysis_window(&w, l->analyzer, filter)) {
	case 0:
		return true;
	case -ENODATA:
		log_error("%s has no time of day; give --from and --to as seconds since its start", l->path);
		return false;
	case -EDOM:
		log_error("--from must be before --to");
		return false;
	default:
		log_error("--from and --to are outside of the recording: %s begins %s and lasts %s", l->path,
			  w.start_realtime_ns ? moment_date(began, w.start_realtime_ns, 0) : "at 0",
			  duration_text(lasted, w.end_ns - w.start_ns));
		return false;
	}
}

static bool has_process(const struct analyzer *a, uint32_t pid)
{
	for (size_t i = 0; i < a->processes.count; i++) {
		const struct process_row *p = table_row(&a->processes, i);

		if (p->defined && p->pid == pid)
			return true;
	}
	return false;
}

static bool has_thread(const struct analyzer *a, uint32_t tid)
{
	for (size_t i = 0; i < a->threads.count; i++) {
		const struct thread_row *t = table_row(&a->threads, i);

		if (t->defined && t->tid == tid)
			return true;
	}
	return has_process(a, tid);
}

static bool has_span(const struct analyzer *a, const struct filter *filter)
{
	for (size_t i = 0; i < a->spans.count; i++)
		if (spans_selected(a, filter, table_row(&a->spans, i)))
			return true;
	return false;
}

/*
 * A process or thread that the filter names must be in the trace: an empty report would look like one that did nothing.
 */
static bool check_filter(const struct loaded *l, const struct filter *filter)
{
	if (!filter)
		return true;
	for (size_t i = 0; i < filter->pids.count; i++)
		if (!has_process(l->analyzer, filter->pids.at[i])) {
			log_error("%s has no process %u; `braid report %s` lists its processes", l->path,
				  filter->pids.at[i], l->path);
			return false;
		}
	for (size_t i = 0; i < filter->tids.count; i++)
		if (!has_thread(l->analyzer, filter->tids.at[i])) {
			log_error("%s has no thread %u; `braid report %s` lists its threads", l->path,
				  filter->tids.at[i], l->path);
			return false;
		}
	if (filter_has_span(filter) && !has_span(l->analyzer, filter)) {
		log_error("%s has none of these spans; `braid report --by span %s` lists its spans", l->path, l->path);
		return false;
	}
	return common_check_window(l, filter);
}

static bool define_pairs(const struct loaded *l, const char *pair)
{
	struct span_pairs pairs;
	int err = span_pairs_define(l->analyzer, pair, &pairs);

	if (err == -ENOENT)
		log_error("%s has no samples of the event '%s'; record it with -e, and `braid report` lists the events",
			  l->path, pairs.missing);
	else if (err == -ENOTUNIQ)
		log_error("%s has more than one event '%s'; write its whole name", l->path, pairs.missing);
	else if (err == -EINVAL)
		log_error("--span %s: an event's name is missing; write FROM..TO", pair);
	else if (err)
		log_error("cannot read %s: %s", l->path, strerror(-err));
	if (!err && pairs.unfinished)
		log_warning("%s: %" PRIu64 " hit%s of '%.*s' without a hit of '%s' after %s: no spans", l->path,
			    pairs.unfinished, pairs.unfinished == 1 ? "" : "s", (int)strcspn(pair, "."), pair,
			    pairs.missing, pairs.unfinished == 1 ? "it" : "them");
	if (!err && !pairs.spans)
		log_error("%s has no hit of the first event of %s that the second one follows", l->path, pair);
	return !err && pairs.spans;
}

static bool define_calls(const struct loaded *l, const char *pattern)
{
	struct span_calls calls;
	int err = span_calls_define(l->analyzer, pattern, &calls);

	if (err)
		log_error("cannot read %s: %s", l->path, strerror(-err));
	else if (calls.virtual)
		log_warning("%s: %" PRIu64 " calls by virtual threads have no spans", l->path, calls.virtual);
	if (!err && !calls.spans)
		log_error("%s has no calls of a method '%s' by platform threads; record them with -e "
			  "'method=CLASS.METHOD>TIME', and `braid report` lists those that it has",
			  l->path, pattern);
	return !err && calls.spans;
}

bool common_make_spans(struct loaded *l, const struct filter *f)
{
	bool ok = (!f->pair || define_pairs(l, f->pair)) && (!f->calls || define_calls(l, f->calls));

	if (!ok)
		common_unload(l);
	return ok;
}

bool common_analyze(struct loaded *l, const struct filter *filter)
{
	int err;

	if (filter && !common_make_spans(l, filter))
		return false;
	if (!check_filter(l, filter)) {
		common_unload(l);
		return false;
	}
	err = analysis_new(&l->analysis, l->analyzer, filter);
	if (!err)
		err = views_new(&l->views, l->analysis);
	if (!err && l->source.damage) {
		err = views_add_damage(l->views, l->source.damage);
		common_report_state(l->path, &l->source, l->analyzer->ended, l->analyzer->ignored);
	}
	if (!err)
		return true;
	log_error("cannot analyze %s: %s", l->path, strerror(-err));
	common_unload(l);
	return false;
}

bool common_load(struct loaded *l, const char *path, const struct filter *filter)
{
	return common_read(l, path, filter, NULL, NULL) && common_analyze(l, filter);
}

bool common_load_samples(struct loaded *l, const char *path, const struct filter *filter)
{
	return read_trace(l, path, true, NULL, NULL) && common_analyze(l, filter);
}

void common_unload(struct loaded *l)
{
	views_free(l->views);
	analysis_free(l->analysis);
	analyzer_free(l->analyzer);
	trace_reader_close(l->reader);
	memset(l, 0, sizeof(*l));
}
