// SPDX-License-Identifier: Apache-2.0
/* `braid diff`: what differs between two recordings. */
#include <stdlib.h>
#include <string.h>

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
	"with --amounts, also show that everything takes longer. Names are compared as --norm makes them.";

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
		r->html = arg;
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

/* What took the samples of both; false, with an error printed, if they cannot be compared. */
static bool same_event(const struct loaded l[DIFF_SIDES], const char **event)
{
	const char *after = analyzer_info(l[DIFF_AFTER].analyzer, "record.event");

	*event = analyzer_info(l[DIFF_BEFORE].analyzer, "record.event");
	if (strcmp(*event, after) == 0)
		return true;
	log_error("%s has samples of '%s', %s of '%s': they cannot be compared", l[DIFF_BEFORE].path, *event,
		  l[DIFF_AFTER].path, after);
	return false;
}

/* Says what the amounts are, and what one weight is in ns of CPU time. */
static bool describe(struct diff_report *out, double scale[DIFF_SIDES], const struct loaded l[DIFF_SIDES],
		     const struct diff_request *r)
{
	unsigned long hz[DIFF_SIDES];

	const struct kind *kind = kind_of(r->options.kind);

	scale[DIFF_BEFORE] = scale[DIFF_AFTER] = 1;
	out->row = r->options.stacks ? "stack" : "method";
	if (r->options.kind) {
		out->what = r->event;
		out->unit = kind->unit;
		/* What is on top of the stacks is no method. */
		if (kind->leaf && kind->name_is.title && !r->options.stacks && !r->options.total)
			out->row = kind->name_is.title;
		return true;
	}
	if (!same_event(l, &out->what))
		return false;
	for (int side = 0; side < DIFF_SIDES; side++)
		hz[side] = analyzer_frequency(l[side].analyzer);
	if (!*out->what)
		out->what = "samples";
	if (!hz[DIFF_BEFORE] || !hz[DIFF_AFTER])
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
			log_warning("%s has nothing of this to compare", r->path[side]);
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
	struct diff_report report = {.options = &r->options,
				     .path = {r->path[DIFF_BEFORE], r->path[DIFF_AFTER]},
				     .unit = UNIT_COUNT,
				     .top = common_top(&r->common, r->json ? UINT32_MAX : TOP),
				     .all = r->all};
	double scale[DIFF_SIDES];
	struct diff *diff;
	bool ok;

	if (!describe(&report, scale, l, r))
		return false;
	if (diff_new(&diff, an, scale, &r->options)) {
		log_error("not enough memory to compare %s and %s", r->path[DIFF_BEFORE], r->path[DIFF_AFTER]);
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
