// SPDX-License-Identifier: Apache-2.0
/* `braid export`: writes a trace in other tools' formats. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <analyze/events.h>
#include <analyze/kinds.h>
#include <export/export.h>
#include <export/stack_table.h>
#include <export/timed.h>
#include <query/query.h>
#include <wall/profile.h>
#include <util/log.h>
#include <jfr/jfr.h>
#include <util/quantity.h>

#include "cli/cli.h"
#include "cli/common.h"

typedef int stacks_fn(FILE *out, struct stack_table *t, const struct profile_unit *unit, bool annotate);
typedef int timed_fn(FILE *out, struct timed_source *s);

/* The formats; the first is the default. */
static const struct {
	const char *name;
	stacks_fn *stacks;
	timed_fn *timed; /* the events one by one */
	bool samples;	 /* without an event, it has only samples */
	bool own_stacks; /* as in struct timed_options */
	bool tables;	 /* it has everything */
	bool code;	 /* the compiled code, without samples */
	bool spans;	 /* stacks by span, too */
	bool binary;
} formats[] = {{.name = "collapsed"},
	       {"pprof", .stacks = pprof_write, .spans = true, .binary = true},
	       {"otlp", .stacks = otlp_write, .spans = true, .binary = true},
	       {"speedscope", .stacks = speedscope_write},
	       {"hprof", .stacks = hprof_write, .samples = true},
	       {"heatmap", .timed = heatmap_write, .samples = true, .own_stacks = true},
	       {"firefox", .timed = firefox_write},
	       {"chrome", .timed = chrome_write},
	       {"perfetto", .timed = perfetto_write, .binary = true},
	       {"jfr", .timed = jfr_write, .own_stacks = true, .binary = true},
	       {"perf-map", .code = true},
	       {"sqlite", .tables = true}};

#define FORMAT_NAMES                                                                                                   \
	"collapsed, pprof, otlp, speedscope, hprof, heatmap, firefox, chrome, perfetto, jfr, perf-map or sqlite"
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

struct export_options {
	struct common common;
	size_t format;
	struct collapsed_options collapsed;
	const char *file;
	const char *output;
	const char *event;
	uint32_t kind; /* of JVM events; 0: samples */
	bool wall;     /* all the time of the threads */
	bool wakers;
	bool named; /* samples of one tracepoint, function or USDT probe */
	struct idle_options idle;
};

enum { OPT_FORMAT = 0x200, OPT_ANNOTATE, OPT_LINES, OPT_EVENT, OPT_WAKERS };

static const struct argp_option options[] = {
	{"format", OPT_FORMAT, "FORMAT", 0,
	 "collapsed (the default): one line for each stack, for flame graph tools; pprof; otlp: OpenTelemetry profiles; speedscope; "
	 "hprof: the text of the JDK's old agent, with what is live of sampled allocations; heatmap: FlameScope's data; "
	 "firefox: Firefox Profiler; chrome: trace events; perfetto: Perfetto's traces; jfr: a recording of the JDK's Flight Recorder; perf-map: the compiled code that was hit, as /tmp/perf-PID.map; sqlite: a database with the tables of `braid query`",
	 0},
	{"event", OPT_EVENT, "KIND", 0,
	 "Write the stacks of these events instead of the samples: alloc, live, lock, wait, offcpu, exception, ...; "
	 "or wall: all the time of the threads, running, runnable and blocked; or a tracepoint or probe, as record -e took "
	 "it",
	 0},
	{"wakers", OPT_WAKERS, 0, 0,
	 "With --event offcpu: what threads were blocked by, followed by --, the stack of the waker from its leaf, and "
	 "the waker's own waker if it waited meanwhile",
	 0},
	{"output", 'o', "OUT", 0, "Write to OUT instead of standard output", 0},
	{"annotate", OPT_ANNOTATE, 0, 0,
	 "Mark frames by suffixes: _[j] compiled, _[i] inlined, _[0] interpreted, _[1] C1, _[k] kernel", 0},
	{"threads", 't', 0, 0, "Add the thread as first frame: [name tid=N]", 0},
	{"lines", OPT_LINES, 0, 0, "Add line numbers to frames (native code needs record --lines)", 0},
	{0},
};

static const char doc[] =
	"Writes a trace in a format that other tools read.\vExamples:\n"
	"  braid export > stacks.txt\n"
	"  braid export --annotate --threads -o stacks.txt braid.trace\n"
	"  braid export --event alloc braid.trace > bytes.txt\n"
	"  braid export --format pprof -o cpu.pb braid.trace\n"
	"  braid export --format firefox -o braid.firefox.json braid.trace\n"
	"  braid export --format jfr -o braid.jfr braid.trace\n"
	"  braid export --format sqlite -o trace.db braid.trace\n"
	"  braid export --event wall --no-idle braid.trace > time.txt\n"
	"  braid export --event offcpu --wakers braid.trace > why.txt\n"
	"  braid export --exclude '^\\[incomplete' braid.trace\n"
	"\n"
	"The collapsed format has one line for each stack: its frames from the root to the leaf, separated "
	"by ';' (a ';' in a name becomes ':'), a space, and a weight. The weight is the number of samples, "
	"or the nanoseconds (lock, wait, offcpu), bytes (alloc, live) or number of the events. The last "
	"frame is the class that was allocated or locked. A stack that could not be walked to its root "
	"begins with the frame [incomplete: cause]. pprof, otlp and speedscope have the same stacks and weights, "
	"with threads and source lines; firefox, chrome, perfetto and jfr have samples and events one by one, with their "
	"times.";

/* Whether the format has what --event asks for. */
static void check_event(struct argp_state *state, const struct export_options *o)
{
	const char *name = formats[o->format].name;

	if (formats[o->format].stacks == hprof_write && (o->kind || o->wall))
		argp_error(state, "--format %s has samples only; write these events with --format pprof", name);
	if (formats[o->format].timed && o->wall)
		argp_error(state, "--format %s has events at their times; write --event wall with --format pprof",
			   name);
	if (formats[o->format].timed && o->wakers)
		argp_error(state,
			   "--format %s has events at their times, each with its own stack, and a chain of wakers is "
			   "made of several; write --wakers with --format pprof, otlp, speedscope or collapsed",
			   name);
	if (formats[o->format].timed && o->common.top != UINT_MAX)
		argp_error(state, "--format %s has events at their times; --top is for formats with stacks", name);
}

static void check_tables(struct argp_state *state, const struct export_options *o)
{
	struct stat st;

	if (o->event || filter_is_set(&o->common.filter) || common_top(&o->common, 0))
		argp_error(state,
			   "--format sqlite has everything: it cannot be combined with selections, --event and --top");
	if (!o->output || strcmp(o->output, "-") == 0 || (stat(o->output, &st) == 0 && !S_ISREG(st.st_mode)))
		argp_error(state, "--format sqlite needs a file: -o OUT");
}

static void check_terminal(struct argp_state *state, const struct export_options *o)
{
	if ((!o->output || strcmp(o->output, "-") == 0) && isatty(STDOUT_FILENO))
		argp_error(state, "--format %s is not text for a terminal; redirect it, or name a file with -o",
			   formats[o->format].name);
}

static void check_code(struct argp_state *state, const struct export_options *o)
{
	const struct filter *f = &o->common.filter;

	if (o->event || filter_has_window(f) || filter_has_span(f) || f->tids.count || f->comms.count ||
	    f->include.count || f->exclude.count || common_top(&o->common, 0))
		argp_error(state,
			   "--format perf-map has the code of a process: of the selections, it takes only --pid, "
			   "--cgroup and --norm");
}

static error_t export_parse(int key, char *arg, struct argp_state *state)
{
	struct export_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		o->idle.filter = &o->common.filter;
		state->child_inputs[0] = &o->common;
		state->child_inputs[1] = &o->idle;
		return 0;
	case OPT_FORMAT:
		for (o->format = 0; o->format < FORMATS && strcmp(arg, formats[o->format].name) != 0;)
			o->format++;
		if (o->format == FORMATS)
			argp_error(state, "--format: unknown format '%s'; use " FORMAT_NAMES, arg);
		return 0;
	case OPT_WAKERS:
		o->wakers = true;
		return 0;
	case 'o':
		o->output = common_output_name(state, "-o", arg);
		return 0;
	case OPT_ANNOTATE:
		o->collapsed.annotate = true;
		return 0;
	case 't':
		o->collapsed.threads = true;
		return 0;
	case OPT_LINES:
		o->collapsed.lines = true;
		return 0;
	case OPT_EVENT:
		o->event = arg;
		o->wall = strcmp(arg, "wall") == 0;
		o->named = !o->wall && common_event_named(arg);
		o->kind = kind_named(arg);
		return 0;
	case ARGP_KEY_END:
		if (formats[o->format].tables)
			check_tables(state, o);
		if (formats[o->format].code)
			check_code(state, o);
		if (formats[o->format].binary)
			check_terminal(state, o);
		if (o->format && (o->collapsed.threads || o->collapsed.lines))
			argp_error(state, "--threads and --lines are for --format collapsed; the others have threads "
					  "and lines anyway");
		check_event(state, o);
		if (o->wakers && o->kind != BRAID_JVM_OFFCPU)
			argp_error(state, "--wakers: needs --event offcpu");
		if ((o->wall || o->wakers) && filter_has_span(&o->common.filter))
			argp_error(state,
				   "--event wall and --wakers are about whole threads: they cannot be combined with "
				   "--span or --trace");
		return common_file_arg(key, arg, state, &o->file);
	default:
		return common_file_arg(key, arg, state, &o->file);
	}
}

#define LARGE_BYTES (1ULL << 30)

/* A trace of some megabytes can become gigabytes, so the size is announced. */
static void announce(uint64_t bytes, size_t lines)
{
	char size[QUANTITY_TEXT];

	if (bytes >= LARGE_BYTES)
		log_warning("writing %s, %zu stacks; --top N writes the N heaviest", size_text(size, bytes), lines);
}

static int fill_profile(const struct loaded *l, const struct export_options *o, struct profile *p)
{
	struct wall *wall;
	int err;

	if (!o->wall)
		return o->kind ? events_profile(l->analysis, o->kind, p) : 0;
	err = wall_new(&wall, l->analysis);
	if (!err)
		err = wall_profile(wall, !o->idle.none, p);
	wall_free(wall);
	return err;
}

/* What the weights of the profile are that the options choose. */
static struct profile_unit unit_of(const struct analysis *an, const struct export_options *o)
{
	struct profile_unit u = {.name = "samples", .unit = UNIT_COUNT};

	if (o->wall) {
		u = (struct profile_unit){.name = "wall", .unit = UNIT_NS};
	} else if (o->kind) {
		u = (struct profile_unit){.name = jvm_event_name(o->kind), .unit = kind_of(o->kind)->unit};
	} else if (o->named) {
		u.name = o->event;
	} else {
		u.period_ns = analyzer_period_ns(an->a);
	}
	return u;
}

static int write_table(FILE *out, const struct loaded *l, const struct profile *p, const struct export_options *o)
{
	const struct profile_unit unit = unit_of(l->analysis, o);
	const struct analyzer *a = l->analysis->a;
	bool spans = formats[o->format].spans && !o->wall && !o->named && a->spans.count;
	struct stack_table table;
	int err = spans ? stack_table_spans(&table, l->reader, l->analysis, p, o->kind, o->collapsed.top)
			: stack_table_new(&table, l->analysis, p, o->collapsed.top);

	if (!err)
		err = formats[o->format].stacks(out, &table, &unit, o->collapsed.annotate);
	stack_table_free(&table);
	return err;
}

static int write_wakers_table(FILE *out, const struct loaded *l, const struct wall *w, const struct export_options *o)
{
	const struct profile_unit unit = unit_of(l->analysis, o);
	struct stack_table table;
	int err = wakers_table(&table, w, !o->idle.none, &o->collapsed);

	if (!err) {
		err = formats[o->format].stacks(out, &table, &unit, o->collapsed.annotate);
		stack_table_free(&table);
	}
	return err;
}

static bool write_wakers(const struct loaded *l, const struct export_options *o)
{
	FILE *out = common_output_open(o->output, o->file);
	struct wall *wall = NULL;
	int err = out ? wall_new(&wall, l->analysis) : 0;

	if (out && !err)
		err = o->format ? write_wakers_table(out, l, wall, o)
				: wakers_write(out, wall, !o->idle.none, &o->collapsed);
	wall_free(wall);
	return out && common_output_close(out, o->output, err);
}

static void warn_nothing(const struct loaded *l, const struct export_options *o)
{
	if (o->event)
		log_warning("%s has no '%s' events%s", o->file, o->event,
			    l->analysis->a->events.count ? "" : "; enable them with `record -e`");
}

static bool write_profile(const struct loaded *l, const struct export_options *o)
{
	const struct profile *p = o->named ? hits_profile(l->analysis, o->event) : &l->analysis->samples;
	struct profile of_events = {0};
	int err = fill_profile(l, o, &of_events);
	FILE *out = common_output_open(o->output, o->file);

	if (o->kind || o->wall)
		p = &of_events;
	if (!err && (!p || !stack_sums_count(&p->sums)))
		warn_nothing(l, o);
	if (out && !err && p)
		err = formats[o->format].stacks ? write_table(out, l, p, o)
						: collapsed_write(out, l->analysis, p, &o->collapsed);
	profile_free(&of_events);
	return out && common_output_close(out, o->output, err);
}

/* The events one by one, from a second pass over the file. */
static bool write_timed(const struct loaded *l, const struct export_options *o)
{
	const struct timed_options what = {.samples = (o->event && !o->kind && !o->named) ||
						      (!o->event && formats[o->format].samples),
					   .kind = o->kind,
					   .hit = o->named ? o->event : NULL,
					   .annotate = o->collapsed.annotate,
					   .own_stacks = formats[o->format].own_stacks,
					   .path = o->file};
	FILE *out = common_output_open(o->output, o->file);
	struct timed_source source;
	int err;

	if (!out)
		return false;
	err = timed_open(&source, l->reader, l->analysis, &what);
	if (!err)
		err = formats[o->format].timed(out, &source);
	if (!err && !source.count)
		warn_nothing(l, o);
	timed_close(&source);
	if (err == -EFBIG) {
		log_error("%s is too long for --format %s; select a part by --from and --to", o->file,
			  formats[o->format].name);
	}
	return common_output_close(out, o->output, err) && !err;
}

/* SQLite opens the file by its name, since it reads what it has written. */
static bool write_tables(const struct loaded *l, const struct export_options *o)
{
	const struct query_input in = {.an = l->analysis, .reader = l->reader, .file_bytes = l->source.bytes};
	FILE *out = common_output_open(o->output, o->file);
	struct query *q = NULL;
	int err = out ? query_export(&q, o->output, &in) : 0;

	if (err > 0)
		log_error("cannot write %s: %s", o->output, query_why(q));
	query_close(q);
	if (err > 0) /* it is not complete */
		unlink(o->output);
	return out && common_output_close(out, o->output, err < 0 ? err : 0) && err == 0;
}

static bool write_code(const struct loaded *l, const struct export_options *o)
{
	uint32_t process;
	FILE *out;

	if (perf_map_process(l->analysis, &process))
		return false;
	if (!process)
		log_warning("%s has no compiled code of the selected processes", o->file);
	out = common_output_open(o->output, o->file);
	return out &&
	       common_output_close(out, o->output, perf_map_write(out, l->analysis, process, o->collapsed.annotate));
}

static bool write_any(const struct loaded *l, const struct export_options *o)
{
	if (formats[o->format].tables)
		return write_tables(l, o);
	if (formats[o->format].code)
		return write_code(l, o);
	if (o->named && !common_has_event(l, o->event, true))
		return false;
	if (formats[o->format].timed && !common_has_times(l, formats[o->format].name))
		return false;
	return formats[o->format].timed ? write_timed(l, o) : o->wakers ? write_wakers(l, o) : write_profile(l, o);
}

/* Reads no more than what the output has. */
static bool load(struct loaded *l, const struct export_options *o)
{
	bool stacks = !o->format && !o->collapsed.threads && !o->event && !o->wakers;

	return (stacks ? common_load_stacks : common_load_analysis)(l, o->file, &o->common.filter);
}

int cmd_export(int argc, char **argv)
{
	static const struct argp_child children[] = {{&common_argp, 0, 0, 0}, {&idle_argp, 0, 0, 0}, {0}};
	static const struct argp argp = {options, export_parse, "[FILE]", doc, children, 0, 0};
	struct export_options o = {0};
	struct loaded l;
	int status = EXIT_FAILURE;

	if (common_parse(&argp, argc, argv, &o))
		return EXIT_FAILURE;
	o.collapsed.top = common_top(&o.common, 0);
	o.collapsed.announce = announce;
	if (load(&l, &o)) {
		status = common_status(&l, write_any(&l, &o));
		common_unload(&l);
	}
	filter_free(&o.common.filter);
	return status;
}
