// SPDX-License-Identifier: Apache-2.0
/* `braid report`: prints the analysis of a trace. */
#include <stdlib.h>
#include <string.h>

#include <report/spans.h>
#include <report/wall.h>
#include <page/html.h>
#include <util/log.h>

#include "cli/cli.h"
#include "cli/common.h"
#include "cli/terminal.h"

struct report_options {
	struct common common;
	struct idle_options idle;
	const char *file;
	const char *html, *source_link;
	struct terminal_options terminal;
	bool json;
	bool full;
	bool lines;
	bool summary;
	bool wall;
	bool spans;
	bool sorted;
	enum span_order order; /* if they are sorted */
};

enum { OPT_JSON = 0x200, OPT_HTML, OPT_LINES, OPT_SUMMARY, OPT_WALL, OPT_BY, OPT_FULL, OPT_SOURCE_LINK, OPT_SORT };

static const struct argp_option options[] = {
	{"json", OPT_JSON, 0, 0, "Print the report as JSON", 0},
	{"html", OPT_HTML, "OUT", 0,
	 "Write flame graphs and a timeline into one self-contained HTML file, instead of the text", 0},
	{"full", OPT_FULL, 0, 0, "Print all that there is, instead of what matters", 0},
	{"source-link", OPT_SOURCE_LINK, "ADDRESS", 0,
	 "With --html: link methods to their sources, at this address with {path} and {line}", 0},
	{"summary", OPT_SUMMARY, 0, 0, "Print only the summary at the beginning of the report: ten lines at most", 0},
	{"wall", OPT_WALL, 0, 0,
	 "Print instead where the time of the threads went: running, waiting for a CPU, blocked by what and by whom",
	 0},
	{"by", OPT_BY, "WHAT", 0,
	 "Print instead what belongs to each span (the one thing that WHAT can be): samples, time off the CPU, thread, from "
	 "when to when",
	 0},
	{"sort", OPT_SORT, "duration|samples|offcpu", 0,
	 "With --by span: print one table, which is sorted by how long the spans lasted, by their samples, or by their time off "
	 "the CPU",
	 0},
	{"lines", OPT_LINES, 0, 0, "Add a table of hot source lines (native code needs record --lines)", 0},
	{0},
};

static const char doc[] =
	"Shows what a trace contains: hot methods, threads, GC pauses, other events, stack quality and "
	"loss.\vExamples:\n"
	"  braid report\n"
	"  braid report --full braid.trace\n"
	"  braid report --from 5 --to 10 --pid 4711 braid.trace\n"
	"  braid report --html flames.html braid.trace\n"
	"  braid report --json --top 100 braid.trace\n"
	"  braid report --wall --no-idle braid.trace\n"
	"  braid report --by span braid.trace\n"
	"  braid report --by span --sort duration --span 'duration>50ms' braid.trace\n"
	"\n"
	"self is the share of samples in which the method itself ran. total is the share of samples with "
	"the method on the stack. All forms of a method (interpreted, C1, C2, inlined) are one row; kind "
	"names the most frequent form. --include and --exclude match frame names (package.Class.method, "
	"demangled symbols, [incomplete: cause]) with a POSIX extended regular expression.\n"
	"\n"
	"Without --full, the tables that findings are about come first, each cut to a screen, and what was not recorded has "
	"none. --top prints that many rows of each table, uncut.";

static error_t report_parse(int key, char *arg, struct argp_state *state)
{
	struct report_options *o = state->input;

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
	case OPT_FULL:
		o->full = true;
		return 0;
	case OPT_SUMMARY:
		o->summary = true;
		return 0;
	case OPT_WALL:
		o->wall = true;
		return 0;
	case OPT_BY:
		if (strcmp(arg, "span") != 0)
			argp_error(state, "--by: '%s' cannot be reported by; use span", arg);
		o->spans = o->common.filter.each = true;
		return 0;
	case OPT_SORT:
		o->sorted = true;
		if (strcmp(arg, "duration") == 0)
			o->order = SPANS_BY_DURATION;
		else if (strcmp(arg, "offcpu") == 0)
			o->order = SPANS_BY_OFFCPU;
		else if (strcmp(arg, "samples") != 0)
			argp_error(state, "--sort: spans cannot be sorted by '%s'; use duration, samples or offcpu",
				   arg);
		return 0;
	case ARGP_KEY_END:
		if (o->sorted && !o->spans)
			argp_error(state, "--sort is about spans: it needs --by span");
		if (o->full && (o->json || o->summary || o->wall || o->spans))
			argp_error(state,
				   "--full is about the text without other options that choose one: leave it out");
		if (o->source_link && !o->html)
			argp_error(state, "--source-link is about the page: it needs --html");
		if (o->wall && (o->spans || filter_has_span(&o->common.filter)))
			argp_error(state, "--wall is about whole threads: it cannot be combined with spans");
		return common_file_arg(key, arg, state, &o->file);
	case OPT_LINES:
		o->lines = true;
		return 0;
	case OPT_HTML:
		o->html = common_output_name(state, "--html", arg);
		return 0;
	case OPT_SOURCE_LINK:
		o->source_link = common_source_link(state, arg);
		return 0;
	default:
		return common_file_arg(key, arg, state, &o->file);
	}
}

static bool write_html(const struct loaded *l, const struct report_options *o)
{
	const struct page_request request = {.titles = {common_name(l->path)}, .source_link = o->source_link};
	FILE *out = common_output_open(o->html, l->path);

	return out && common_output_close(out, o->html, report_html(out, l->views, &request));
}

#define WALL_TOP 10U /* rows of a table by default */

static bool write_report(struct loaded *l, const struct report_options *o)
{
	unsigned top = common_top(&o->common, REPORT_TOP);

	if (!o->json && !o->full)
		return common_report(l, o->summary, top);
	(o->json ? report_json : report_text)(stdout, l->views, &l->source, top);
	return common_output_close(stdout, NULL, 0);
}

static bool write_wall(const struct loaded *l, const struct report_options *o)
{
	unsigned top = common_top(&o->common, o->json ? REPORT_TOP : WALL_TOP);
	struct wall_view *view = NULL;
	struct wall *wall;
	int err = wall_new(&wall, l->analysis) ?: wall_view_new(&view, wall, !o->idle.none);

	if (!err && !view->all.life_ns)
		log_warning("%s has no times of threads%s", l->path,
			    filter_is_set(&o->common.filter) ? " in this selection" : "; record them with `-e offcpu`");
	if (!err && o->json)
		wall_json(stdout, view, top);
	else if (!err && (view->all.life_ns || view->virtual.life_ns))
		wall_text(stdout, view, top);
	wall_view_free(view);
	wall_free(wall);
	return common_output_close(stdout, NULL, err);
}

static bool write_spans(const struct loaded *l, const struct report_options *o)
{
	unsigned top = common_top(&o->common, REPORT_TOP);
	struct span_view *view;
	int err = span_view_new(&view, l->analysis);

	if (!err && !view->sums.count)
		log_warning("%s has no spans%s", l->path,
			    filter_is_set(&o->common.filter) ? " in this selection"
							     : ": no program said which request its threads served");
	if (!err && o->json)
		spans_json(stdout, view, o->sorted ? &o->order : NULL, top);
	else if (!err && view->sums.count)
		spans_text(stdout, view, o->sorted ? &o->order : NULL, top);
	span_view_free(view);
	return common_output_close(stdout, NULL, err);
}

int cmd_report(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{&common_argp, 0, 0, 0}, {&idle_argp, 0, 0, 0}, {&terminal_argp, 0, 0, 0}, {0}};
	static const struct argp argp = {options, report_parse, "[FILE]", doc, children, 0, 0};
	struct report_options o = {0};
	struct loaded l;
	int status = EXIT_FAILURE;
	bool ok;

	if (common_parse(&argp, argc, argv, &o))
		return EXIT_FAILURE;
	if (!o.json && !o.html)
		terminal_begin(&o.terminal);
	ok = (o.html ? common_load_samples : common_load_analysis)(&l, o.file, &o.common.filter) &&
	     common_make_views(&l);
	if (ok) {
		l.source.lines = o.lines;
		if (o.html)
			ok = write_html(&l, &o);
		if (ok && o.spans)
			ok = write_spans(&l, &o);
		else if (ok && (o.json || o.summary || o.wall || !o.html))
			ok = o.wall ? write_wall(&l, &o) : write_report(&l, &o);
		status = common_status(&l, ok);
		common_unload(&l);
	}
	filter_free(&o.common.filter);
	terminal_end();
	return status;
}
