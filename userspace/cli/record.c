// SPDX-License-Identifier: Apache-2.0
/* `braid record`: turns the command line into the options of a session, runs it, and prints the report if requested. */
#include "cli.h"
#include "common.h"

#include "config/event_config.h"
#include "config/kernel_event.h"
#include "record/session.h"
#include "util/log.h"
#include "util/quantity.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	OPT_NO_ATTACH = 0x100,
	OPT_NO_PROPERTIES,
	OPT_AGENT_OPTS,
	OPT_MAX_DEPTH,
	OPT_REPORT,
	OPT_LINES,
	OPT_PRESET,
	OPT_KILL,
	OPT_MAX_PAUSE
};

/* The kernel side, or probes in the VM's code, record these. */
#define WITHOUT_AGENT                                                                                                  \
	(BRAID_EVENT_TYPE(WAIT) | BRAID_EVENT_TYPE(OFFCPU) | BRAID_EVENT_TYPE(SAFEPOINT) | BRAID_EVENT_TYPE(JIT))

/* The command line's content. */
struct record_request {
	struct record_options options;
	struct event_selection selection;
	bool report;
	bool frequency_given, period_given;
};

static const char doc[] =
	"Records where CPU time goes and what happens in JVMs. Every stack is whole: Java, native and "
	"kernel frames in one piece.\vExamples:\n"
	"  braid record -d 30 -p 4711\n"
	"  braid record -d 60 -F 49 -a\n"
	"  braid record -d 30 -e alloc=256k,lock,gc -p 4711\n"
	"  braid record -d 30 --preset latency -p 4711\n"
	"  braid record -d 30 -e 'offcpu=1ms/state==\"block\"&&duration<1s/' -p 4711\n"
	"  braid record -d 30 -e 'cpu,sched:sched_switch/prev_comm~\"C2*\"/' -p 4711\n"
	"  braid record -e 'hotspot:gc__begin,uprobe:/lib/libfoo.so:foo/arg0>65536/' -- java App\n"
	"  braid record -o app.trace -- java -jar app.jar\n"
	"  braid record -d 30 -p 4711 --no-attach\n"
	"\n"
	"A recording ends after -d TIME, with Ctrl-C (or SIGTERM, SIGHUP, SIGQUIT, SIGUSR1), with `braid "
	"ctl stop`, when the command ends, or when the last process of -p ends. After -d TIME the command "
	"goes on, unless --kill is given.\n"
	"\n"
	"braid loads its agent into every JVM that it records. The agent stays there afterwards, dormant. "
	"With --no-attach the JVM is not touched: stacks are whole, but inlined methods, names of Java "
	"threads and events of the JVM are missing.\n"
	"\n"
	"Only running threads are sampled: a process that waits all the time leaves an empty trace.";

static const struct argp_option options[] = {
	{"pid", 'p', "PID[,PID...]", 0, "Record these processes, and the processes that they start", 0},
	{"all", 'a', NULL, 0, "Record the whole machine", 0},
	{"frequency", 'F', "HZ", 0, "Take this many samples per second and CPU (default 99)", 0},
	{"duration", 'd', "TIME", 0, "Stop after this time: 10 or 10s, 500ms, 2m, 1h", 0},
	{"kill", OPT_KILL, NULL, 0, "End the command when the recording ends; without it the command goes on after -d",
	 0},
	{"output", 'o', "FILE", 0, "Write the trace to FILE (default braid.trace; - is standard output)", 0},
	{"event", 'e', "EVENT[,EVENT...]", 0,
	 "Record these events (see below), and take samples by cpu-clock (default), hardware counters (cycles, instructions, "
	 "cache-misses, ..., if there is a PMU) or the kernel's (page-faults, context-switches, ...), or at "
	 "tracepoints (CATEGORY:NAME), functions (uprobe:PATH:SYMBOL, uretprobe:PATH:SYMBOL) and USDT probes (usdt:PATH:PROVIDER:NAME, "
	 "hotspot:NAME), each with a /FILTER/, as offcpu can have one, and {FIELD,...}. The option can be repeated",
	 0},
	{"preset", OPT_PRESET, "NAME", 0, "Record the events of cpu (default), latency, memory, startup, wall, or all",
	 0},
	{"count", 'c', "N", 0, "Take one sample in N hits of each tracepoint or probe (default 1)", 0},
	{"no-attach", OPT_NO_ATTACH, NULL, 0, "Do not load the agent into JVMs", 0},
	{"no-properties", OPT_NO_PROPERTIES, NULL, 0, "Do not record the flags and system properties of JVMs", 0},
	{"agent-opts", OPT_AGENT_OPTS, "OPTIONS", 0, "Pass these options to the agent: key=value,...", 0},
	{"max-depth", OPT_MAX_DEPTH, "FRAMES", 0, "Walk at most this many frames, 1 to 16384 (default 16384)", 0},
	{"max-pause", OPT_MAX_PAUSE, "TIME", 0,
	 "Take no histogram of the heap (-e heap) that is expected to stop the JVM for longer (default 1s)", 0},
	{"lines", OPT_LINES, NULL, 0,
	 "At the end, find source lines and inlined functions of native code with debug information", 0},
	{"report", OPT_REPORT, NULL, 0, "Print the report at the end, as `braid report` would", 0},
	{"quiet", 'q', NULL, 0, "Print no progress line and no summary", 0},
	{"verbose", 'v', NULL, 0, "Print more messages", 0},
	{0},
};

/* Lists the events and the presets after the options, from the tables that parse them. */
static char *help(int key, const char *text, void *input)
{
	char *all = NULL;
	size_t size;
	FILE *out;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC || !(out = open_memstream(&all, &size)))
		return (char *)(uintptr_t)text;
	fputs("Events:\n", out);
	for (int i = 0; i < BRAID_EVENT_TYPES; i++)
		fprintf(out, "  %-14s  %s\n", event_type_example(i), event_type_help(i));
	fputs("\nKernel events, each with a /FILTER/:\n", out);
	for (size_t i = 0; kernel_event_example(i); i++)
		fprintf(out, "  %-14s  %s\n", kernel_event_example(i), kernel_event_help(i));
	fputs("\nPresets:\n", out);
	for (size_t i = 0; preset_name(i); i++) {
		fprintf(out, "  %-8s", preset_name(i));
		for (int type = 0; type < BRAID_EVENT_TYPES && preset_types(i) != BRAID_EVENT_TYPES_ALL; type++)
			if (preset_types(i) >> type & 1)
				fprintf(out, " %s", event_type_name(type));
		if (preset_types(i) == BRAID_EVENT_TYPES_ALL)
			fputs(" all of these events but heap, method and malloc", out);
		putc('\n', out);
	}
	fprintf(out, "\n%s", text);
	if (fclose(out) == 0)
		return all;
	free(all);
	return (char *)(uintptr_t)text;
}

/* A number in a range; ends the program for anything else. */
static double option_number(struct argp_state *state, const char *what, const char *text, double low, double high)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= low) || !(value <= high))
		argp_error(state, "%s: '%s' is not a number from %.10g to %.10g", what, text, low, high);
	return value;
}

static void add_pids(struct argp_state *state, struct record_options *o, char *list)
{
	char *save = NULL;

	for (char *one = strtok_r(list, ",", &save); one; one = strtok_r(NULL, ",", &save)) {
		pid_t *pids = realloc((void *)o->pids, ((size_t)o->pid_count + 1) * sizeof(*pids));

		if (!pids)
			argp_failure(state, 1, ENOMEM, "-p");
		pids[o->pid_count++] = (pid_t)option_number(state, "-p", one, 1, 1 << 22);
		o->pids = pids;
	}
}

/* Whether hits can be samples. */
static bool counts_hits(const struct record_options *o)
{
	for (uint32_t i = 0; i < o->probe_count; i++)
		if (o->probes[i].type != PROBE_KERNEL)
			return true;
	return false;
}

static void check_request(struct argp_state *state, struct record_request *r)
{
	struct record_options *o = &r->options;

	if (!o->system_wide && !o->pid_count && !o->command)
		argp_error(state, "no target; name one with -p PID, -a, or a command after --");
	if ((o->command != NULL) + o->system_wide + (o->pid_count > 0) > 1)
		argp_error(state, "-p, -a and a command cannot be combined");
	if (o->kill && !o->command)
		argp_error(state, "--kill needs a command after --");
	if (r->report && strcmp(o->output, "-") == 0)
		argp_error(state, "-o - and --report would both write to standard output");
	selection_complete(&r->selection);
	o->config = r->selection.config;
	o->event = r->selection.event;
	o->clock = r->selection.clock;
	o->probes = r->selection.probes;
	o->probe_count = r->selection.probe_count;
	o->offcpu = &r->selection.offcpu;
	if (r->period_given && !counts_hits(o))
		argp_error(state, "-c is for tracepoints and probes; use -F for the frequency of a clock");
	if (r->frequency_given && !o->clock && counts_hits(o))
		argp_error(state, "-F is for clocks; use -c for the number of hits per sample, or add -e cpu");
	if (r->frequency_given && !o->clock)
		argp_error(state, "-F needs samples by a clock; add -e cpu");
	if (!o->attach && !*o->event && !o->probe_count && !(o->config.enabled & WITHOUT_AGENT))
		argp_error(state, "--no-attach without samples would record nothing; add -e cpu");
}

/* Parses which events are recorded, and how often. */
static bool parse_events(int key, char *arg, struct argp_state *state)
{
	struct record_request *r = state->input;
	struct record_options *o = &r->options;
	char why[SELECTION_WHY];

	switch (key) {
	case 'F':
		o->frequency_hz = (int)option_number(state, "-F", arg, 1, 100000);
		r->frequency_given = true;
		return true;
	case 'c':
		o->period = (uint64_t)option_number(state, "-c", arg, 1, 1e15);
		r->period_given = true;
		return true;
	case 'e':
		if (selection_add(&r->selection, arg, why))
			argp_error(state, "-e: %s", why);
		return true;
	case OPT_PRESET:
		if (selection_preset(&r->selection, arg, why))
			argp_error(state, "--preset: %s", why);
		return true;
	case OPT_LINES:
		o->lines = true;
		return true;
	case OPT_MAX_PAUSE:
		r->selection.config.heap_max_pause_ns = common_pause(state, arg);
		return true;
	case OPT_MAX_DEPTH:
		o->max_depth = (uint32_t)option_number(state, "--max-depth", arg, 1, BRAID_MAX_DEPTH);
		return true;
	default:
		return false;
	}
}

static error_t record_parse(int key, char *arg, struct argp_state *state)
{
	struct record_request *r = state->input;
	struct record_options *o = &r->options;

	switch (key) {
	case OPT_REPORT:
		r->report = true;
		break;
	case 'p':
		add_pids(state, o, arg);
		break;
	case 'a':
		o->system_wide = true;
		break;
	case 'd':
		if (duration_parse(arg, &o->duration_ns) || o->duration_ns < 1000000)
			argp_error(state, "-d: '%s' is not a time of at least 1ms, such as 10, 10s, 500ms, 2m or 1h",
				   arg);
		break;
	case OPT_KILL:
		o->kill = true;
		break;
	case 'o':
		o->output = arg;
		break;
	case OPT_NO_ATTACH:
		o->attach = false;
		break;
	case OPT_NO_PROPERTIES:
		o->properties = false;
		break;
	case OPT_AGENT_OPTS:
		o->agent_options = arg;
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
		return parse_events(key, arg, state) ? 0 : ARGP_ERR_UNKNOWN;
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
	static const struct argp argp = {.options = options,
					 .parser = record_parse,
					 .args_doc = "[-p PID[,PID...] | -a | -- COMMAND...]",
					 .doc = doc,
					 .help_filter = help};
	struct record_request r = {.options = {.frequency_hz = 99,
					       .output = "braid.trace",
					       .event = "",
					       .period = 1,
					       .attach = true,
					       .properties = true,
					       .max_depth = BRAID_MAX_DEPTH}};
	struct loaded live = {0};
	int status = 0, err;

	argp_err_exit_status = EXIT_USAGE;
	selection_init(&r.selection);
	err = argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &r);
	if (!err && r.report) {
		live.path = r.options.output;
		err = analyzer_new(&live.analyzer);
		r.options.tap = feed;
		r.options.tap_ctx = &live;
	}
	if (!err)
		err = session_record(&r.options, &status);
	if (!err && r.report && !report(&live))
		err = -EIO;
	if (!err && !r.report && !r.options.quiet && isatty(STDERR_FILENO) && is_file(r.options.output))
		fprintf(stderr, "braid: read it with `braid report %s`\n", r.options.output);
	common_unload(&live);
	free((void *)r.options.pids);
	return err ? EXIT_FAILURE : status;
}
