// SPDX-License-Identifier: Apache-2.0
/* `braid diff`: what differs between two recordings. */
#include <stdlib.h>
#include <string.h>

#include <analyze/events.h>
#include <analyze/state.h>
#include <braid/frame.h>
#include <page/html.h>
#include <util/log.h>
#include <util/quantity.h>

#include "cli/cli.h"
#include "cli/common.h"

#define TOP 30U

struct diff_request {
	struct common common;
	struct diff_options options;
	const char *path[DIFF_SIDES];
	const char *event, *html, *source_link;
	bool all, json;
};

enum { OPT_EVENT = 0x200, OPT_BY, OPT_TOTAL, OPT_NORMALISE, OPT_AMOUNTS, OPT_ALL, OPT_JSON, OPT_HTML, OPT_SOURCE_LINK };

static const struct argp_option options[] = {
	{"event", OPT_EVENT, "KIND", 0,
	 "Compare these events instead of the samples: alloc, lock, wait, offcpu, exception, ...", 0},
	{"by", OPT_BY, "WHAT", 0, "Compare by `method' (the default) or by whole `stack'", 0},
	{"normalise", OPT_NORMALISE, 0, 0, "Compare shares, scaled so that the median method is the same (the default)",
	 0},
	{"normalize", OPT_NORMALISE, 0, OPTION_ALIAS, 0, 0},
	{"amounts", OPT_AMOUNTS, 0, 0, "Compare amounts: for two runs of the same work on a quiet machine", 0},
	{"total", OPT_TOTAL, 0, 0, "Count a method with all that it calls, not by itself", 0},
	{"all", OPT_ALL, 0, 0, "Print the methods that may differ by chance, too, with how likely that is", 0},
	{"json", OPT_JSON, 0, 0, "Print JSON", 0},
	{"html", OPT_HTML, "OUT", 0,
	 "Write a differential flame graph and a table of methods into one self-contained HTML file, instead of the text",
	 0},
	{"source-link", OPT_SOURCE_LINK, "ADDRESS", 0,
	 "With --html: link methods to their sources, at this address with {path} and {line}", 0},
	{0},
};

static const char doc[] =
	"Compares two recordings by method, or by stack, and prints the differences that are more than chance.\vExamples:\n"
	"  braid diff before.trace after.trace\n"
	"  braid diff --total before.trace after.trace\n"
	"  braid diff --event alloc before.trace after.trace\n"
	"  braid diff --event alloc --by stack before.trace after.trace\n"
	"  braid diff --from 5 --to 15 before.trace after.trace\n"
	"  braid diff --html changes.html before.trace after.trace\n"
	"\n"
	"Each recording is cut into 40 slices with equal totals. How much these vary says how large a difference can be "
	"by chance; the chance that any method is printed although none differs is at most 1 %. Differences between "
	"runs that have other causes, such as what the JVM has compiled, are real differences, and are printed.\n"
	"\n"
	"Shares suit recordings of different lengths, loads and speeds: what concerns all methods alike is no "
	"difference. The shares after are scaled, because one method's larger share makes all others smaller. Amounts, "
	"with --amounts, also show that everything takes longer. Names are compared as --norm makes them.\n"
	"\n"
	"A trace that was imported from a recording of the JDK's is compared by what both have: frames of Java, the "
	"shares of methods in samples of threads in Java code, and times that both recorded however short they were. "
	"What is left out is said.";

static error_t diff_parse(int key, char *arg, struct argp_state *state)
{
	struct diff_request *r = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		r->common.filter.norm = true;
		state->child_inputs[0] = &r->common;
		return 0;
	case OPT_EVENT:
		r->event = arg;
		r->options.kind = kind_named(arg);
		if (common_event_named(arg))
			argp_error(state, "--event: '%s' is not a kind of events of JVMs or of the kernel", arg);
		return 0;
	case OPT_BY:
		r->options.stacks = strcmp(arg, "stack") == 0;
		if (!r->options.stacks && strcmp(arg, "method") != 0)
			argp_error(state, "--by: '%s' is neither 'method' nor 'stack'", arg);
		return 0;
	case OPT_NORMALISE:
	case OPT_AMOUNTS:
		r->options.normalise = key == OPT_NORMALISE;
		return 0;
	case OPT_TOTAL:
		r->options.total = true;
		return 0;
	case OPT_ALL:
		r->all = true;
		return 0;
	case OPT_JSON:
		r->json = true;
		return 0;
	case OPT_HTML:
		r->html = common_output_name(state, "--html", arg);
		return 0;
	case OPT_SOURCE_LINK:
		r->source_link = common_source_link(state, arg);
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num >= DIFF_SIDES)
			argp_error(state, "unexpected argument '%s'; name two traces", arg);
		r->path[state->arg_num] = arg;
		return 0;
	case ARGP_KEY_END:
		if (!r->path[DIFF_AFTER])
			argp_error(state, "name two traces: before and after");
		if (r->options.stacks && (r->options.total || r->html))
			argp_error(state, "--by stack: %s",
				   r->html ? "the page compares methods, and its flame graph has all stacks"
					   : "a stack is not called by others, so --total says nothing of it");
		if (r->source_link && !r->html)
			argp_error(state, "--source-link is about the page: it needs --html");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* ---- what both have ---- */

/* The JDK's Flight Recorder, and what others write in its format, call samples of CPU time so. */
#define JFR_SAMPLE "jdk.ExecutionSample"

static bool is_clock(const char *event)
{
	static const char *const clocks[] = {"cpu-clock", "task-clock", "cycles", "cpu-cycles"};

	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
		if (strcmp(clocks[i], event) == 0)
			return true;
	return false;
}

static bool has_only_java(const struct analyzer *a)
{
	if (!*analyzer_info(a, IMPORT_FACT_FORMAT))
		return false;
	for (size_t i = 0; i < a->frames.count; i++) {
		uint32_t kind = ((const struct frame_row *)table_row(&a->frames, i))->kind;

		if (kind == BRAID_FRAME_NATIVE || kind == BRAID_FRAME_KERNEL)
			return false;
	}
	return true;
}

/* What only one of them can have is left out of the other. */
static void limit(struct diff_options *o, const struct loaded l[DIFF_SIDES])
{
	uint64_t min_ns[DIFF_SIDES];
	bool java[DIFF_SIDES];

	for (int side = 0; side < DIFF_SIDES; side++) {
		java[side] = has_only_java(l[side].analyzer);
		min_ns[side] = events_min_ns(l[side].analysis, o->kind);
	}
	o->java = java[DIFF_BEFORE] != java[DIFF_AFTER];
	if (min_ns[DIFF_BEFORE] != min_ns[DIFF_AFTER])
		o->min_ns = min_ns[DIFF_BEFORE] > min_ns[DIFF_AFTER] ? min_ns[DIFF_BEFORE] : min_ns[DIFF_AFTER];
}

/*
 * Whether the samples of both can be compared, or an error is printed. The JDK takes its samples of threads in Java
 * code, at a pace that does not depend on how many of them run: shares of methods among them are comparable with those
 * in another recording's samples of such threads, amounts are not.
 */
static bool same_event(const struct loaded l[DIFF_SIDES], struct diff_options *o, const char **what)
{
	const char *before = analyzer_info(l[DIFF_BEFORE].analyzer, "record.event");
	const char *after = analyzer_info(l[DIFF_AFTER].analyzer, "record.event");

	*what = before;
	if (strcmp(before, after) == 0)
		return true;
	if ((strcmp(before, JFR_SAMPLE) == 0 && is_clock(after)) ||
	    (strcmp(after, JFR_SAMPLE) == 0 && is_clock(before))) {
		o->in_java = o->java;
		*what = o->in_java ? "in Java code" : "samples";
		if (!o->normalise)
			log_error(
				"%s has samples of '%s', %s of '%s': only shares of them can be compared; leave out --amounts",
				l[DIFF_BEFORE].path, before, l[DIFF_AFTER].path, after);
		return o->normalise;
	}
	log_error("%s has samples of '%s', %s of '%s': they cannot be compared", l[DIFF_BEFORE].path, before,
		  l[DIFF_AFTER].path, after);
	return false;
}

static bool is_recorded(const struct loaded *l, uint32_t kind)
{
	const struct kind *k = kind_of(kind);

	return k->type < BRAID_EVENT_TYPES && events_recorded(l->analysis, k->type);
}

/* False, with an error printed, if one side has none of these events because they were not recorded there. */
static bool both_recorded(const struct loaded l[DIFF_SIDES], const struct diff *d, const struct diff_request *r)
{
	bool missing[DIFF_SIDES];

	for (int side = 0; side < DIFF_SIDES; side++)
		missing[side] = r->options.kind && d->total[side] <= 0 && !is_recorded(&l[side], r->options.kind);
	if (missing[DIFF_BEFORE] && missing[DIFF_AFTER])
		log_error("neither %s nor %s has events of the kind '%s'", l[DIFF_BEFORE].path, l[DIFF_AFTER].path,
			  r->event);
	else if (missing[DIFF_BEFORE] || missing[DIFF_AFTER])
		log_error("only %s has events of the kind '%s': they were not recorded in %s",
			  l[missing[DIFF_BEFORE] ? DIFF_AFTER : DIFF_BEFORE].path, r->event,
			  l[missing[DIFF_BEFORE] ? DIFF_BEFORE : DIFF_AFTER].path);
	return !missing[DIFF_BEFORE] && !missing[DIFF_AFTER];
}

/* ---- what is compared ---- */

/* Says what the amounts are, and what one weight is in ns of CPU time. */
static bool describe(struct diff_report *out, double scale[DIFF_SIDES], const struct loaded l[DIFF_SIDES],
		     const struct diff_request *r, struct diff_options *o)
{
	const struct kind *kind = kind_of(o->kind);
	unsigned long hz[DIFF_SIDES];

	scale[DIFF_BEFORE] = scale[DIFF_AFTER] = 1;
	out->row = o->stacks ? "stack" : "method";
	limit(o, l);
	if (o->kind) {
		out->what = r->event;
		out->unit = kind->unit;
		/* What is on top of the stacks is no method. */
		if (kind->leaf && kind->name_is.title && !o->stacks && !o->total)
			out->row = kind->name_is.title;
		return true;
	}
	if (!same_event(l, o, &out->what))
		return false;
	for (int side = 0; side < DIFF_SIDES; side++)
		hz[side] = analyzer_frequency(l[side].analyzer);
	if (!*out->what)
		out->what = "samples";
	if (!hz[DIFF_BEFORE] || !hz[DIFF_AFTER] || o->in_java)
		return true;
	for (int side = 0; side < DIFF_SIDES; side++)
		scale[side] = 1e9 / (double)hz[side];
	out->what = "CPU time";
	out->unit = UNIT_NS;
	return true;
}

static void warn_about(const struct diff_report *r)
{
	double before = (double)r->duration_ns[DIFF_BEFORE], after = (double)r->duration_ns[DIFF_AFTER];

	if (!r->options->normalise && (before > 1.1 * after || after > 1.1 * before))
		log_warning("the recordings have different lengths; leave out --amounts to compare shares");
	for (int side = 0; side < DIFF_SIDES; side++)
		if (r->diff->total[side] <= 0)
			log_warning("%s has no %s to compare", r->path[side], r->what);
}

static bool write_page(const struct loaded l[DIFF_SIDES], const struct diff_report *report,
		       const struct diff_request *r)
{
	const struct views *views[DIFF_SIDES] = {l[DIFF_BEFORE].views, l[DIFF_AFTER].views};
	const struct page_request request = {
		.titles = {common_name(l[DIFF_BEFORE].path), common_name(l[DIFF_AFTER].path)},
		.source_link = r->source_link};
	FILE *out = common_output_of(r->html, r->path, DIFF_SIDES);

	return out && common_output_close(out, r->html, diff_html(out, report, views, &request));
}

static bool compare(const struct loaded l[DIFF_SIDES], const struct diff_request *r)
{
	const struct analysis *an[DIFF_SIDES] = {l[DIFF_BEFORE].analysis, l[DIFF_AFTER].analysis};
	struct diff_options chosen = r->options;
	struct diff_report report = {.options = &chosen,
				     .path = {r->path[DIFF_BEFORE], r->path[DIFF_AFTER]},
				     .unit = UNIT_COUNT,
				     .top = common_top(&r->common, r->json ? UINT32_MAX : TOP),
				     .all = r->all};
	double scale[DIFF_SIDES];
	struct diff *diff;
	bool ok;

	if (!describe(&report, scale, l, r, &chosen))
		return false;
	if (diff_new(&diff, an, scale, &chosen)) {
		log_error("not enough memory to compare %s and %s", r->path[DIFF_BEFORE], r->path[DIFF_AFTER]);
		return false;
	}
	if (!both_recorded(l, diff, r)) {
		diff_free(diff);
		return false;
	}
	report.diff = diff;
	for (int side = 0; side < DIFF_SIDES; side++)
		report.duration_ns[side] = an[side]->duration_ns;
	warn_about(&report);
	ok = !r->html || write_page(l, &report, r);
	if (r->json || !r->html)
		(r->json ? diff_json : diff_text)(stdout, &report);
	diff_free(diff);
	return common_output_close(stdout, NULL, 0) && ok;
}

/* Only the page has views. */
static bool load(struct loaded *l, const char *path, const struct diff_request *r)
{
	return common_load_samples(l, path, &r->common.filter) && (!r->html || common_make_views(l));
}

int cmd_diff(int argc, char **argv)
{
	static const struct argp_child children[] = {{&common_argp, 0, 0, 0}, {0}};
	static const struct argp argp = {options, diff_parse, "BEFORE AFTER", doc, children, 0, 0};
	struct diff_request r = {.options.normalise = true};
	struct loaded l[DIFF_SIDES];
	int status = EXIT_FAILURE;

	if (common_parse(&argp, argc, argv, &r))
		return EXIT_FAILURE;
	if (load(&l[DIFF_BEFORE], r.path[DIFF_BEFORE], &r)) {
		if (load(&l[DIFF_AFTER], r.path[DIFF_AFTER], &r)) {
			bool ok = compare(l, &r);

			status = common_status(&l[DIFF_BEFORE], ok) ?: common_status(&l[DIFF_AFTER], ok);
			common_unload(&l[DIFF_AFTER]);
		}
		common_unload(&l[DIFF_BEFORE]);
	}
	filter_free(&r.common.filter);
	return status;
}
