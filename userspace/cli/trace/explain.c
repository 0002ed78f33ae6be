// SPDX-License-Identifier: Apache-2.0
/* `braid explain`: why a thread took as long as it did. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <util/log.h>

#include "cli/cli.h"
#include "explain.h"

enum {
	OPT_THREAD = 0x200,
	OPT_FROM,
	OPT_TO,
	OPT_AGAINST,
	OPT_DIFF,
	OPT_WHAT_IF,
	OPT_SPAN,
	OPT_TRACE,
	OPT_SLOWEST,
	OPT_JSON,
	OPT_TOP
};

static const struct argp_option options[] = {
	{"thread", OPT_THREAD, "THREAD", 0, "Explain this thread, which may be virtual: its name, or its id", 0},
	{"from", OPT_FROM, "TIME", 0,
	 "From TIME on, since the recording's start (1.5, 500ms, 2m) or as a time of day (12:30:05); default: the "
	 "thread's first time",
	 0},
	{"to", OPT_TO, "TIME", 0, "Until TIME; default: the thread's last time", 0},
	{"span", OPT_SPAN, "SPANS", 0,
	 "Explain the request of this span instead, from the first to the last that is recorded of it: ID; or the longest of "
	 "those that KEY=VALUE, FROM..TO and so on select, as for `braid report`",
	 0},
	{"trace", OPT_TRACE, "ID[,ID...]", 0, "Explain the longest span of these traces of OpenTelemetry", 0},
	{"slowest", OPT_SLOWEST, "N", 0, "Explain the N spans that lasted longest, one after the other", 0},
	{"diff", OPT_DIFF, 0, 0,
	 "Print what differs between the slowest of these spans, or that of --span ID, and the typical one: the one whose "
	 "duration is the median",
	 0},
	{"against", OPT_AGAINST, "TIME..TIME|ID", 0,
	 "Print what differs from this other stretch of the thread, or from the span with this id", 0},
	{"what-if", OPT_WHAT_IF, "WHAT=CHANGE", 0,
	 "Print how long it, and the program, would have taken if the waits for a lock (its class), a method, or times of a kind (io, cpu, "
	 "gc, sleeping, ...) took no time (=0), half of it (=/2), or more (=*1.5); can be repeated",
	 0},
	{"json", OPT_JSON, 0, 0, "Print JSON", 0},
	{"top", OPT_TOP, "N", 0, "Print N rows of the table (default 10; with --json all)", 0},
	{0},
};

static const char doc[] =
	"Explains why a thread took as long as it did: its time on the CPU, and what it waited for, through all "
	"threads that it waited for. The trace needs the events of `record -e offcpu`, or of `--preset wall`.\vExamples:\n"
	"  braid explain --thread main\n"
	"  braid explain --thread main --from 1.5 --to 2.5 braid.trace\n"
	"  braid explain --thread 4711 --from 2 --to 3 --against 1..2 braid.trace\n"
	"  braid explain --slowest 3 braid.trace\n"
	"  braid explain --diff --span http.route=/cart braid.trace\n"
	"  braid explain --span 'method:com.acme.Dao.*' --slowest 3 braid.trace\n"
	"  braid explain --trace 4bf92f3577b34da6a3ce929d0e0e4736 braid.trace\n"
	"  braid explain --thread main --what-if com.acme.Journal=0 braid.trace\n"
	"  braid explain --thread http-nio-8080-exec-3 --no-idle braid.trace\n"
	"  braid explain --thread main --what-if io=/2 --what-if Parser.parse=/2 braid.trace\n"
	"\n"
	"Each moment of the thread is in one part: what the thread did itself, or what the thread did that ended its "
	"wait, and so on. `for` names what the thread itself waited for meanwhile. What no record explains is \"not "
	"known\".";

/* "1.5..2" */
static void parse_against(struct argp_state *state, struct filter *f, const char *arg)
{
	const char *dots = strstr(arg, "..");
	char first[64];

	if (!dots || dots == arg || !dots[2] || (size_t)(dots - arg) >= sizeof(first))
		argp_error(state, "--against: '%s' is not a stretch; write for example 1.5..2", arg);
	snprintf(first, sizeof(first), "%.*s", (int)(dots - arg), arg);
	common_time(state, "against", first, &f->has_from, &f->from);
	common_time(state, "against", dots + 2, &f->has_to, &f->to);
}

static void parse_against_span(struct argp_state *state, struct explain_options *o)
{
	struct filter f = {0};

	if (filter_add_spans(&f, o->against_text) || f.spans.count != 1)
		argp_error(state, "--against: '%s' is not a span's id, of 16 hexadecimal digits", o->against_text);
	o->against_span = f.spans.at[0];
	filter_free(&f);
}

static void parse_what_if(struct argp_state *state, struct what_if *wi, char *arg)
{
	switch (what_if_add(wi, arg)) {
	case 0:
		return;
	case -E2BIG:
		argp_error(state, "--what-if: more than %d changes", WHAT_IF_MAX);
		return;
	default:
		argp_error(state,
			   "--what-if: '%s' is not a change; write for example com.acme.Journal=0, "
			   "Parser.parse=/2 or io=*1.5",
			   arg);
	}
}

/* What can be compared with what. */
static void check_diff(struct argp_state *state, const struct explain_options *o)
{
	if (o->diff && o->thread)
		argp_error(state, "--diff compares spans; --against compares two stretches of a thread");
	if (o->diff && o->against_text)
		argp_error(state, "--diff and --against cannot be used together");
	if ((o->diff || o->against_text) && o->slowest > 1)
		argp_error(state, "--diff and --against compare one span with another one, not --slowest %u",
			   o->slowest);
	if (o->what_if.count && (o->diff || o->against_text || o->slowest > 1))
		argp_error(state, "--what-if cannot be used with --diff or --against, and with one span only");
	if (o->what_if.count && o->idle.none)
		argp_error(state, "--what-if replays idle threads, too: leave --no-idle out");
}

static void check_choice(struct argp_state *state, const struct explain_options *o)
{
	int chosen = (o->thread != NULL) + (o->span.spans.count > 0) + (o->slowest > 0);

	if (chosen > 1 || (o->thread && filter_has_span(&o->span)))
		argp_error(state,
			   "--thread, --span ID and --slowest cannot be used together, nor --thread with --trace");
	if (!chosen)
		argp_error(
			state,
			"--thread, --span, --trace or --slowest is missing; `braid report --wall` lists the threads");
	if (!o->thread && (o->stretch.has_from || o->stretch.has_to))
		argp_error(state, "--from and --to need --thread");
	check_diff(state, o);
}

/* What is meant if not all of it is said. */
static void complete(struct argp_state *state, struct explain_options *o)
{
	bool some = filter_has_span(&o->span) || o->diff;

	if (some && !o->thread && !o->span.spans.count && !o->slowest)
		o->slowest = 1;
	check_choice(state, o);
	if (o->against_text && o->thread)
		parse_against(state, &o->against, o->against_text);
	else if (o->against_text)
		parse_against_span(state, o);
}

static error_t explain_parse(int key, char *arg, struct argp_state *state)
{
	struct explain_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		o->idle.filter = &o->filter;
		state->child_inputs[0] = &o->idle;
		return 0;
	case OPT_THREAD:
		o->thread = arg;
		return 0;
	case OPT_FROM:
		common_time(state, "from", arg, &o->stretch.has_from, &o->stretch.from);
		return 0;
	case OPT_TO:
		common_time(state, "to", arg, &o->stretch.has_to, &o->stretch.to);
		return 0;
	case OPT_AGAINST:
		o->against_text = arg;
		return 0;
	case OPT_DIFF:
		o->diff = true;
		return 0;
	case OPT_WHAT_IF:
		parse_what_if(state, &o->what_if, arg);
		return 0;
	case OPT_JSON:
		o->json = true;
		return 0;
	case OPT_TOP:
		o->top = common_number(state, "top", "rows", arg);
		return 0;
	case OPT_SPAN:
		common_span(state, &o->span, arg);
		if (o->span.spans.count > 1)
			argp_error(state, "--span: '%s' is one span too many; explain one after the other", arg);
		return 0;
	case OPT_TRACE:
		common_trace(state, &o->span, arg);
		return 0;
	case OPT_SLOWEST:
		o->slowest = common_number(state, "slowest", "spans", arg);
		return 0;
	case ARGP_KEY_END:
		complete(state, o);
		return common_file_arg(key, arg, state, &o->file);
	default:
		return common_file_arg(key, arg, state, &o->file);
	}
}

/* ---- the stretch ---- */

/* As explain_find_thread(), in the time that is asked for. */
static int find_then(const struct loaded *l, struct wall *w, const struct explain_options *o, uint32_t *found)
{
	struct window window;
	bool windowed = filter_has_window(&o->stretch) && !analysis_window(&window, l->analyzer, &o->stretch);

	return explain_find_thread(w, l->path, o->thread, windowed ? &window : NULL, found);
}

/* Without a time, the stretch is all of what is recorded of the thread's life. */
static bool find_stretch(const struct loaded *l, const struct wall *w, const struct filter *times, struct stretch *s)
{
	const struct wall_thread *t = &w->threads.at[s->thread];
	struct window window;

	if (analysis_window(&window, l->analyzer, times))
		return false;
	s->span = NULL;
	s->from_ns = times->has_from && window.from_ns ? window.from_ns : t->start_ns;
	s->to_ns = times->has_to ? window.to_ns : t->end_ns;
	if (s->from_ns < window.start_ns)
		s->from_ns = window.start_ns;
	if (s->from_ns < s->to_ns)
		return true;
	log_error("the thread does not live between --from and --to");
	return false;
}

static int print_thread(struct explain_options *o, const struct loaded *l, struct wall *w, bool *ok)
{
	struct stretch s = {.thread = ROW_NONE}, against;
	struct timeline *tl = NULL;
	int err = find_then(l, w, o, &s.thread);

	against = s;
	*ok = !err && s.thread != ROW_NONE && find_stretch(l, w, &o->stretch, &s) &&
	      (!o->against.has_from || find_stretch(l, w, &o->against, &against));
	if (*ok)
		err = timeline_new(&tl, w);
	if (*ok && !err)
		err = o->against.has_from ? explain_print_diff(o, tl, &s, &against, 0) : explain_print(o, tl, &s, ok);
	timeline_free(tl);
	return err;
}

static bool check_stretches(const struct loaded *l, const struct explain_options *o)
{
	return common_check_window(l, &o->stretch) && (!o->against.has_from || common_check_window(l, &o->against));
}

static bool write_explanation(const struct loaded *l, struct explain_options *o)
{
	struct wall *w;
	bool ok = false;
	int err = wall_new(&w, l->analysis);

	if (!err)
		err = o->thread ? print_thread(o, l, w, &ok) : explain_print_spans(o, l->path, w, &ok);
	wall_free(w);
	return (ok || err) && common_output_close(stdout, NULL, err);
}

int cmd_explain(int argc, char **argv)
{
	static const struct argp_child children[] = {{&idle_argp, 0, 0, 0}, {0}};
	static const struct argp argp = {options, explain_parse, "[FILE]", doc, children, 0, 0};
	/* a window makes the analyzer keep samples with their times */
	static const struct filter everything = {.has_from = true};
	struct explain_options o = {.top = UINT32_MAX, .filter.norm = true};
	struct loaded l;
	int status = EXIT_FAILURE;

	if (common_parse(&argp, argc, argv, &o))
		return EXIT_FAILURE;
	if (o.top == UINT32_MAX && !o.json)
		o.top = 10;
	if (common_read(&l, o.file, &everything, NULL, NULL) && common_make_spans(&l, &o.span) &&
	    common_make_analysis(&l, &o.filter)) {
		status = common_status(&l, common_has_times(&l, "an explanation") && check_stretches(&l, &o) &&
						   write_explanation(&l, &o));
		common_unload(&l);
	}
	filter_free(&o.span);
	filter_free(&o.filter);
	return status;
}
