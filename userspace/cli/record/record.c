// SPDX-License-Identifier: Apache-2.0
/* `braid record`: turns the command line into the options of a session, runs it, and prints the report if requested. */
#include "cli/cli.h"
#include "cli/common.h"
#include "cli/recording.h"

#include "record/session.h"
#include "util/log.h"
#include "util/quantity.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPT_REPORT = 0x100, OPT_LINES, OPT_KILL };

/* The command line's content. */
struct record_request {
	struct recording recording;
	bool report;
};

static const char doc[] =
	"Records where CPU time goes and what happens in JVMs. Every stack is whole: Java, native and "
	"kernel frames in one piece.\vExamples:\n"
	"  braid record -d 30 -p 4711\n"
	"  braid record -d 60 -F 49 -a\n"
	"  braid record -d 30 -e cpu,alloc=256k,lock,gc -p 4711\n"
	"  braid record -d 30 --preset latency -p 4711\n"
	"  braid record -d 30 -e 'offcpu=1ms/state==\"block\"&&duration<1s/' -p 4711\n"
	"  braid record -d 30 -e 'cpu,sched:sched_switch/prev_comm~\"C2*\"/' -p 4711\n"
	"  braid record -e 'hotspot:gc__begin,uprobe:/lib/libfoo.so:foo/arg0>65536/' -- java App\n"
	"  braid record -o app.trace -- java -jar app.jar\n"
	"  braid record -d 30 -p 4711 --no-attach\n"
	"\n"
	"A recording ends after -d TIME, with Ctrl-C (or SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2), with `braid "
	"ctl stop`, when the command ends, or when the last process of -p ends. After -d TIME the command "
	"goes on, unless --kill is given.\n"
	"\n"
	"braid loads its agent into every JVM that it records. The agent stays there afterwards, dormant. "
	"With --no-attach the JVM is not touched: stacks are whole, but inlined methods, names of Java "
	"threads and events of the JVM are missing.\n"
	"\n"
	"Only running threads are sampled: a process that waits all the time leaves an empty trace.";

static const struct argp_option options[] = {
	{"duration", 'd', "TIME", 0, "Stop after this time: 10 or 10s, 500ms, 2m, 1h", 0},
	{"kill", OPT_KILL, NULL, 0, "End the command when the recording ends; without it the command goes on after -d",
	 0},
	{"output", 'o', "FILE", 0, "Write the trace to FILE (default braid.trace; - is standard output)", 0},
	{"lines", OPT_LINES, NULL, 0,
	 "At the end, find source lines and inlined functions of native code with debug information", 0},
	{"report", OPT_REPORT, NULL, 0, "Print the report at the end, as `braid report` would", 0},
	{"quiet", 'q', NULL, 0, "Print no progress line and no summary", 0},
	{"verbose", 'v', NULL, 0, "Print more messages", 0},
	{0},
};

static void check_request(struct argp_state *state, struct record_request *r)
{
	const struct record_options *o = &r->recording.options;

	recording_complete(&r->recording, state);
	if (o->kill && !o->command)
		argp_error(state, "--kill needs a command after --");
	if (r->report && strcmp(o->output, "-") == 0)
		argp_error(state, "-o - and --report would both write to standard output");
}

static error_t record_parse(int key, char *arg, struct argp_state *state)
{
	struct record_request *r = state->input;
	struct record_options *o = &r->recording.options;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &r->recording;
		break;
	case OPT_REPORT:
		r->report = true;
		break;
	case OPT_LINES:
		o->lines = true;
		break;
	case 'd':
		o->duration_ns = common_length(state, "-d", arg);
		break;
	case OPT_KILL:
		o->kill = true;
		break;
	case 'o':
		o->output = common_output_name(state, "-o", arg);
		break;
	case 'q':
		o->quiet = true;
		break;
	case 'v':
		log_verbosity++;
		break;
	case ARGP_KEY_ARGS:
		o->command = state->argv + state->next;
		break;
	case ARGP_KEY_END:
		check_request(state, r);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Feeds live records to the analyzer. */
static void feed(void *ctx, const struct trace_rec *rec)
{
	struct loaded *l = ctx;

	if (l->analyzer && analyzer_feed(l->analyzer, rec)) {
		log_error("not enough memory for the report; run `braid report %s` to print it from the trace",
			  l->path);
		analyzer_free(l->analyzer);
		l->analyzer = NULL;
	}
}

static bool report(struct loaded *l)
{
	static const struct trace_damage none;
	struct filter everything = {0};
	struct stat st;

	if (!l->analyzer || !common_analyze(l, &everything))
		return false;
	l->source = (struct report_source){.damage = &none, .bytes = stat(l->path, &st) ? 0 : (uint64_t)st.st_size};
	return common_report(l, false, REPORT_TOP);
}

static bool is_file(const char *path)
{
	struct stat st;

	return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

int cmd_record(int argc, char **argv)
{
	static const struct argp_child children[] = {{&recording_argp, 0, 0, 0}, {0}};
	static const struct argp argp = {.options = options,
					 .parser = record_parse,
					 .args_doc = "[-p PID[,PID...] | -a | -- COMMAND...]",
					 .doc = doc,
					 .children = children,
					 .help_filter = recording_help};
	struct record_request r = {0};
	struct record_options *o = &r.recording.options;
	struct loaded live = {0};
	int status = 0, err;

	argp_err_exit_status = EXIT_USAGE;
	recording_init(&r.recording);
	err = argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &r);
	if (!err && r.report) {
		live.path = o->output;
		err = analyzer_new(&live.analyzer);
		o->tap = feed;
		o->tap_ctx = &live;
	}
	if (!err)
		err = session_record(o, &status);
	if (!err && r.report && !report(&live))
		err = -EIO;
	if (!err && !r.report && !o->quiet && isatty(STDERR_FILENO) && is_file(o->output))
		fprintf(stderr, "braid: read it with `braid report %s`\n", o->output);
	common_unload(&live);
	recording_free(&r.recording);
	return err ? EXIT_FAILURE : status;
}
