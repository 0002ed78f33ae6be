// SPDX-License-Identifier: Apache-2.0
/* `braid explain`: why a thread took as long as it did. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <views/span_view.h>
#include <analyze/spans.h>
#include <analyze/vthreads.h>
#include <report/explain.h>
#include <report/info.h>
#include <util/compare.h>
#include <util/log.h>
#include <util/quantity.h>

#include "cli/cli.h"
#include "cli/common.h"

struct explain_options {
	const char *file, *thread;
	struct filter stretch; /* its --from and --to */
	struct filter against; /* the same of --against, if it has_from */
	struct filter filter;  /* of the analysis: without a window, because reasons may be anywhere */
	struct filter span;    /* its id, or what it has */
	unsigned slowest;      /* spans */
	struct what_if what_if;
	unsigned top;
	bool json;
};

enum { OPT_THREAD = 0x200, OPT_FROM, OPT_TO, OPT_AGAINST, OPT_WHAT_IF, OPT_SPAN, OPT_SLOWEST, OPT_JSON, OPT_TOP };

static const struct argp_option options[] = {
	{"thread", OPT_THREAD, "THREAD", 0, "Explain this thread, which may be virtual: its name, or its id", 0},
	{"from", OPT_FROM, "TIME", 0,
	 "From TIME on, since the recording's start (1.5, 500ms, 2m) or as a time of day (12:30:05); default: the "
	 "thread's first time",
	 0},
	{"to", OPT_TO, "TIME", 0, "Until TIME; default: the thread's last time", 0},
	{"span", OPT_SPAN, "ID|KEY=VALUE|FROM..TO|method:PATTERN", 0,
	 "Explain the request of this span instead, from the first to the last that is recorded of it; KEY=VALUE: the longest "
	 "with this attribute; FROM..TO: spans are "
	 "the times of a thread from a hit of the event FROM to its next one of TO, method:PATTERN: they are recorded calls of these methods, and the longest one is explained",
	 0},
	{"slowest", OPT_SLOWEST, "N", 0, "Explain the N spans that lasted longest, one after the other", 0},
	{"against", OPT_AGAINST, "TIME..TIME", 0, "Print what differs from this other stretch of the thread", 0},
	{"what-if", OPT_WHAT_IF, "WHAT=CHANGE", 0,
	 "Print how long it would have taken if the waits for a lock (its class), a method, or times of a kind (io, cpu, "
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
	"  braid explain --span 'method:com.acme.Dao.*' --slowest 3 braid.trace\n"
	"  braid explain --thread main --what-if com.acme.Journal=0 braid.trace\n"
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

static void check_choice(struct argp_state *state, const struct explain_options *o)
{
	int chosen = (o->thread != NULL) + (o->span.spans.count > 0) + (o->slowest > 0);

	if (chosen > 1)
		argp_error(state, "--thread, --span and --slowest cannot be used together");
	if (!chosen)
		argp_error(state, "--thread, --span or --slowest is missing; `braid report --wall` lists the threads");
	if (!o->thread && (o->stretch.has_from || o->stretch.has_to || o->against.has_from))
		argp_error(state, "--from, --to and --against need --thread");
	if (o->what_if.count && (o->against.has_from || o->slowest > 1))
		argp_error(state, "--what-if cannot be used with --against, and with one span only");
}

static error_t explain_parse(int key, char *arg, struct argp_state *state)
{
	struct explain_options *o = state->input;

	switch (key) {
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
		parse_against(state, &o->against, arg);
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
		if (filter_add_spans(&o->span, arg) || o->span.spans.count > 1)
			argp_error(
				state,
				"--span: '%s' is neither a span id, of 16 hexadecimal digits, nor KEY=VALUE, nor two "
				"events, FROM..TO, nor method:PATTERN",
				arg);
		return 0;
	case OPT_SLOWEST:
		o->slowest = common_number(state, "slowest", "spans", arg);
		return 0;
	case ARGP_KEY_END:
		if (o->span.attributes.count && !o->span.spans.count && !o->slowest)
			o->slowest = 1;
		if (filter_makes_spans(&o->span) && !o->thread && !o->span.spans.count && !o->slowest)
			o->slowest = 1;
		check_choice(state, o);
		return common_file_arg(key, arg, state, &o->file);
	default:
		return common_file_arg(key, arg, state, &o->file);
	}
}

/* ---- the stretch ---- */

struct search {
	struct wall *w;
	const char *text; /* the name or the number of a thread */
	char numbers[256];
	size_t count;
	uint32_t found; /* the last one */
};

static bool is_meant(const struct search *s, const char *name, uint64_t number)
{
	char *end;
	uint64_t wanted = strtoull(s->text, &end, 10);

	if (*s->text >= '0' && *s->text <= '9' && !*end)
		return number == wanted;
	return strcmp(name, s->text) == 0;
}

static void take_found(struct search *s, uint32_t thread, uint64_t number)
{
	size_t used = strlen(s->numbers);

	s->found = thread;
	if (s->count++ < 8)
		snprintf(s->numbers + used, sizeof(s->numbers) - used, "%s%" PRIu64, used ? ", " : "", number);
}

static void find_os_threads(struct search *s)
{
	const struct wall *w = s->w;

	for (uint32_t i = 0; i < w->an->a->threads.count; i++) {
		const struct thread_row *t = table_row(&w->an->a->threads, i);

		if (is_meant(s, analysis_thread_name(w->an, i), t->tid) && w->threads.at[w->leader[i]].life_ns &&
		    !(s->count && s->found == w->leader[i]))
			take_found(s, w->leader[i], t->tid);
	}
}

static int find_vthread(void *ctx, const struct wall_thread *t)
{
	struct search *s = ctx;
	const struct vthread_row *v = vthreads_get(s->w->an->a, t->vthread);
	uint32_t thread = (uint32_t)s->w->threads.count;
	int err = 0;

	if (!v || !is_meant(s, strpool_get(&s->w->an->a->strings, v->name), v->number))
		return 0;
	if (!s->count)
		err = wall_add_vthread(s->w, t);
	take_found(s, thread, v->number);
	return err;
}

/*
 * The one thread of that name or number that has times; a virtual one if no other is called so. ROW_NONE: there is none,
 * or several, which is reported.
 */
static int find_thread(struct wall *w, const char *path, const char *thread, uint32_t *found)
{
	struct search s = {.w = w, .text = thread};
	int err = 0;

	find_os_threads(&s);
	if (!s.count)
		err = wall_each_vthread(w, find_vthread, &s);
	if (err)
		return err;
	if (s.count > 1)
		log_error("%s has %zu threads '%s'; give one of their ids: %s", path, s.count, thread, s.numbers);
	else if (!s.count)
		log_error("%s has no times of a thread '%s'; `braid report --wall %s` lists those that it has, and "
			  "`braid record -e offcpu` records them",
			  path, thread, path);
	*found = s.count == 1 ? s.found : ROW_NONE;
	return 0;
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

/* ---- output ---- */

static int print_one(const struct explain_options *o, struct timeline *tl, const struct stretch *s)
{
	struct explain *e;
	int err = explain_new(&e, tl, s);

	if (!err && o->json)
		explain_json(stdout, e, o->top);
	else if (!err)
		explain_text(stdout, e, o->top);
	explain_free(e);
	return err;
}

static int print_diff(const struct explain_options *o, struct timeline *tl, const struct stretch *s,
		      const struct stretch *against)
{
	struct explain *before = NULL, *after = NULL;
	struct explain_diff d = {0};
	int err = explain_new(&before, tl, against) ?: explain_new(&after, tl, s);

	err = err ?: explain_diff_new(&d, before, after);
	if (!err && o->json)
		explain_diff_json(stdout, &d, o->top);
	else if (!err)
		explain_diff_text(stdout, &d, o->top);
	explain_diff_free(&d);
	explain_free(before);
	explain_free(after);
	return err;
}

/* A change of a lock or a method that is not there is a mistake; of a kind of time there may be none. */
static bool check_what_if(const struct what_if *wi)
{
	for (size_t i = 0; i < wi->count; i++)
		if (!wi->changes[i].matched_ns && !wi->changes[i].states) {
			log_error(
				"--what-if: no time of the stretch is a lock's or a method's, and no kind of time is called "
				"'%s'; `braid explain` without it shows the names",
				wi->changes[i].target);
			return false;
		}
	return true;
}

static int print_what_if(struct explain_options *o, struct timeline *tl, const struct stretch *s, bool *ok)
{
	const char *name = wall_thread_name(tl->wall, s->thread);
	int err = what_if_replay(&o->what_if, tl, s);

	*ok = !err && check_what_if(&o->what_if);
	if (*ok)
		(o->json ? what_if_json : what_if_text)(stdout, &o->what_if, name);
	return err;
}

/* ---- spans ---- */

static int compare_spans(const void *x, const void *y)
{
	const struct span_sum *p = x, *q = y;

	return compare_u64(q->last_ns - q->first_ns, p->last_ns - p->first_ns)
		       ?: compare_u64(p->row->span_id, q->row->span_id);
}

/* The spans to explain. */
struct span_choice {
	struct wall *wall;
	VEC(struct stretch) stretches; /* the longest first */
	struct u64map vthreads;	       /* id to the place in the wall and 1; ROW_NONE: its time is not known */
};

static int find_place(struct span_choice *c, uint32_t vthread, uint32_t *thread)
{
	uint32_t *known = u64map_put(&c->vthreads, vthread);
	struct wall_thread t;
	int err = 0;

	if (!known)
		return -ENOMEM;
	if (!*known && wall_vthread(c->wall, vthread, &t)) {
		err = wall_add_vthread(c->wall, &t);
		*known = (uint32_t)c->wall->threads.count;
	} else if (!*known) {
		*known = ROW_NONE;
	}
	*thread = *known == ROW_NONE ? ROW_NONE : *known - 1;
	return err;
}

/* The stretch of a span's first thread, which is ROW_NONE if its time is not known. A virtual one is kept in the wall. */
static int find_span_stretch(struct span_choice *c, const struct span_sum *span, struct stretch *s)
{
	const struct wall *w = c->wall;

	*s = (struct stretch){ROW_NONE, span->first_ns, span->last_ns, span->row};
	if (span->thread == ROW_NONE || s->from_ns >= s->to_ns)
		return 0;
	if (span->vthread)
		return find_place(c, span->vthread, &s->thread);
	if (w->threads.at[w->leader[span->thread]].life_ns)
		s->thread = w->leader[span->thread];
	return 0;
}

static int choose_spans(struct span_choice *c, struct span_view *v, const struct explain_options *o)
{
	size_t limit = o->slowest ? o->slowest : 1;
	struct stretch s;
	int err = 0;

	VEC_SORT(&v->sums, compare_spans);
	for (size_t i = 0; i < v->sums.count && c->stretches.count < limit && !err; i++) {
		if (!spans_selected(v->an->a, &o->span, v->sums.at[i].row))
			continue;
		err = find_span_stretch(c, &v->sums.at[i], &s);
		if (!err && s.thread != ROW_NONE)
			err = VEC_PUSH(&c->stretches, s);
	}
	return err;
}

static int print_stretch(struct explain_options *o, struct timeline *tl, const struct stretch *s, bool *ok)
{
	return o->what_if.count ? print_what_if(o, tl, s, ok) : print_one(o, tl, s);
}

static void print_heading(const struct analyzer *a, const struct span_row *span, unsigned printed)
{
	printf("%sSpan %016" PRIx64, printed ? "\n" : "", span->span_id);
	text_attributes(stdout, a, span->attributes);
	putchar('\n');
}

static int print_spans(struct explain_options *o, struct timeline *tl, const struct span_choice *c, bool *ok)
{
	int err = 0;

	for (size_t i = 0; !err && *ok && i < c->stretches.count; i++) {
		if (!o->json)
			print_heading(tl->wall->an->a, c->stretches.at[i].span, (unsigned)i);
		err = print_stretch(o, tl, &c->stretches.at[i], ok);
	}
	return err;
}

/* The spans that are meant; *ok false: there are none, which is reported. */
static int find_spans(struct span_choice *c, const struct explain_options *o, const char *path, bool *ok)
{
	struct span_view *v;
	int err = span_view_new(&v, c->wall->an) ?: choose_spans(c, v, o);

	span_view_free(v);
	*ok = !err && c->stretches.count;
	if (!err && !*ok)
		log_error("%s has no times of %s; `braid report --by span %s` lists its spans", path,
			  o->slowest ? "spans" : "this span", path);
	return err;
}

static int print_thread(struct explain_options *o, const struct loaded *l, struct timeline *tl, uint32_t thread,
			bool *ok)
{
	struct stretch s = {.thread = thread}, against = s;

	*ok = find_stretch(l, tl->wall, &o->stretch, &s) &&
	      (!o->against.has_from || find_stretch(l, tl->wall, &o->against, &against));
	if (!*ok)
		return 0;
	return o->against.has_from ? print_diff(o, tl, &s, &against) : print_stretch(o, tl, &s, ok);
}

static bool check_stretches(const struct loaded *l, const struct explain_options *o)
{
	return common_check_window(l, &o->stretch) && (!o->against.has_from || common_check_window(l, &o->against));
}

static bool write_explanation(const struct loaded *l, struct explain_options *o)
{
	struct span_choice spans = {0};
	struct timeline *tl = NULL;
	struct wall *w;
	uint32_t thread = ROW_NONE;
	bool ok = false;
	int err = wall_new(&w, l->analysis);

	spans.wall = w;
	if (!err && o->thread) {
		err = find_thread(w, l->path, o->thread, &thread);
		ok = !err && thread != ROW_NONE;
	} else if (!err) {
		err = find_spans(&spans, o, l->path, &ok);
	}
	if (ok)
		err = timeline_new(&tl, w);
	if (!err && ok)
		err = o->thread ? print_thread(o, l, tl, thread, &ok) : print_spans(o, tl, &spans, &ok);
	timeline_free(tl);
	free(spans.stretches.at);
	u64map_free(&spans.vthreads);
	wall_free(w);
	return (ok || err) && common_output_close(stdout, NULL, err);
}

int cmd_explain(int argc, char **argv)
{
	static const struct argp argp = {options, explain_parse, "[FILE]", doc, NULL, 0, 0};
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
	return status;
}
