// SPDX-License-Identifier: Apache-2.0
/*
 * The report's first lines, which a reader needs first: what ran, where, what waited, and how far the figures can be
 * trusted.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include <braid/ring.h>
#include <config/event_config.h>
#include <util/compare.h>
#include <util/utf8.h>

#include "diagnose.h"
#include "events.h"
#include "info.h"

#define MOST 3	     /* of each list */
#define LINES 10     /* of the whole summary */
#define COLUMNS 110U /* of a list; a name may be longer */
#define COMMAND 60   /* bytes of a command */

struct summary {
	const struct views *v;
	const struct report_source *source;
};

static void label(FILE *out, const char *name)
{
	fprintf(out, "  %-10s ", name);
}

/* ---- lists ---- */

/* Items with ", " between them, as many as fit into the line, but at least one. */
struct list {
	FILE *out;
	size_t room; /* columns */
	size_t shown, left_out;
};

__attribute__((format(printf, 2, 3))) static void item(struct list *l, const char *format, ...)
{
	va_list args;
	int columns;

	va_start(args, format);
	columns = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (l->left_out || (l->shown && (size_t)columns > l->room)) {
		l->left_out++;
		return;
	}
	if (l->shown++)
		fputs(", ", l->out);
	va_start(args, format);
	vfprintf(l->out, format, args);
	va_end(args);
	l->room -= (size_t)columns + 2 < l->room ? (size_t)columns + 2 : l->room;
}

/* `more` items were not even tried. */
static void end_list(struct list *l, size_t more)
{
	more += l->left_out;
	if (more)
		fprintf(l->out, "%s%zu more", l->shown ? ", and " : "", more);
	putc('\n', l->out);
}

/* ---- what was recorded ---- */

/* The command's begin; --full has all of it. */
static void command(FILE *out, const char *text)
{
	char shown[COMMAND + 1];
	size_t length = strlen(text);

	utf8_from_modified(shown, sizeof(shown), text, length);
	fprintf(out, "%s%s", shown, length > COMMAND ? "..." : "");
}

static void recorded(FILE *out, const struct summary *s)
{
	const struct analysis *an = s->v->an;
	const char *what = analyzer_info(an->a, "record.command"), *host = analyzer_info(an->a, "host.name");
	const char *cpus = analyzer_info(an->a, "host.cpus");
	char text[MOMENT_TEXT];

	if (!*what)
		what = analyzer_info(an->a, "record.target");
	if (!*what)
		what = analyzer_info(an->a, IMPORT_FACT_FILE);
	label(out, "recorded");
	command(out, what);
	/* A stripped trace does not say what it is of. */
	fprintf(out, "%s%s%s", *what && *host ? " " : "", *host ? "on " : "", host);
	if (!*what && !*host)
		fputs("not known where", out);
	if (an->start_realtime_ns)
		fprintf(out, ", %s", moment_date(text, an->start_realtime_ns, 0));
	if (analysis_has_duration(an))
		fprintf(out, ", %s", duration_text(text, an->duration_ns));
	if (*cpus)
		fprintf(out, ", %s CPU%s", cpus, strcmp(cpus, "1") == 0 ? "" : "s");
	putc('\n', out);
}

static bool has_selection(const struct summary *s)
{
	return filter_is_set(s->v->an->filter);
}

static void selection(FILE *out, const struct summary *s)
{
	label(out, "only");
	filter_text(out, s->v->an);
	putc('\n', out);
}

static bool has_agentless(const struct summary *s)
{
	return agentless_types(s->v->an, NULL) != 0;
}

static void agentless(FILE *out, const struct summary *s)
{
	size_t count;
	uint32_t types = agentless_types(s->v->an, &count);
	char text[EVENT_TYPES_TEXT];

	if (count == 1) {
		text_agentless(out, s->v->an);
		return;
	}
	label(out, "lacks");
	fprintf(out, "%s of %zu processes without an agent\n", event_types_text(types, text, sizeof(text)), count);
}

/* ---- what ran ---- */

static bool has_samples(const struct summary *s)
{
	return s->v->an->samples.quality.total > 0;
}

static bool is_complete(const struct summary *s)
{
	return s->v->losses.count == 0 && s->v->an->a->ended;
}

/* How far the figures can be trusted. */
static void trust(FILE *out, const struct summary *s)
{
	const struct quality *q = &s->v->an->samples.quality, *java = &s->v->an->java;

	if (is_complete(s))
		fputs(", nothing lost", out);
	/* Most tools whose files are imported do not say whether a stack is whole. */
	if (!q->total || (*analyzer_info(s->v->an->a, IMPORT_FACT_FORMAT) && q->by_cause[CAUSE_COMPLETE] == q->total))
		return;
	fprintf(out, ", %.2f %% with whole stacks", percent(q->by_cause[CAUSE_COMPLETE], q->total));
	if (java->total && java->by_cause[CAUSE_COMPLETE] != java->total)
		fprintf(out, " (%.2f %% of Java threads)", percent(java->by_cause[CAUSE_COMPLETE], java->total));
}

static void samples(FILE *out, const struct summary *s)
{
	const struct views *v = s->v;
	uint64_t all = v->an->samples.quality.total;
	unsigned long hz = analyzer_frequency(v->an->a);
	char process[PROCESS_LABEL_MAX];
	struct list l = {out, COLUMNS / 2, 0, 0};

	label(out, "samples");
	fprintf(out, "%" PRIu64 "%s", all, !all && v->hits.events.count ? " of a clock" : "");
	trust(out, s);
	if (hz > 0 && analysis_shown_ns(v->an))
		fprintf(out, ", %.2f CPUs in use", (double)all * 1e9 / (double)hz / (double)analysis_shown_ns(v->an));
	if (v->processes.count)
		fputs(": ", out);
	for (size_t i = 0; i < v->processes.count && i < MOST; i++)
		item(&l, "%.1f %% %s (%u)", percent(v->processes.at[i].weight, all),
		     analysis_label(v->an, v->processes.at[i].process, process), v->processes.at[i].pid);
	end_list(&l, v->processes.count > MOST ? v->processes.count - MOST : 0);
}

static void code_list(struct list *l, const struct views *v)
{
	static const struct {
		enum stack_domain domain;
		const char *name;
	} kinds[] = {{DOMAIN_JAVA, "Java"},
		     {DOMAIN_NATIVE, "native"},
		     {DOMAIN_KERNEL, "kernel"},
		     {DOMAIN_STUB, "the JVM's stubs"}};
	uint64_t self[DOMAIN_INCOMPLETE + 1] = {0}, all = v->an->samples.quality.total, rest = all;

	for (size_t i = 0; i < v->methods.count; i++)
		self[v->methods.at[i].domain] = add_saturating(self[v->methods.at[i].domain], v->methods.at[i].self);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		uint64_t part = self[kinds[i].domain];

		if (!part)
			continue;
		item(l, "%.1f %% %s", percent(part, all), kinds[i].name);
		rest -= part < rest ? part : rest;
	}
	if (rest)
		item(l, "%.1f %% not known", percent(rest, all));
	end_list(l, 0);
}

static void code(FILE *out, const struct summary *s)
{
	struct list l = {out, COLUMNS, 0, 0};

	label(out, "code");
	code_list(&l, s->v);
}

void text_code(FILE *out, const struct views *v)
{
	struct list l = {out, SIZE_MAX, 0, 0};

	if (!v->an->samples.quality.total)
		return;
	fputs("  in all ", out);
	code_list(&l, v);
}

static bool has_states(const struct summary *s)
{
	for (int i = 0; i < RUN_STATES; i++)
		if (s->v->states[i].samples)
			return true;
	return false;
}

static int by_samples(const void *x, const void *y)
{
	const struct state_view *p = *(const struct state_view *const *)x, *q = *(const struct state_view *const *)y;

	return compare_u64(q->samples, p->samples) ?: (p > q) - (p < q);
}

/* Most first. */
static void state_list(struct list *l, const struct views *v)
{
	const struct state_view *order[RUN_STATES];
	uint64_t all = 0;

	for (int i = 0; i < RUN_STATES; i++) {
		all = add_saturating(all, v->states[i].samples);
		order[i] = &v->states[i];
	}
	qsort(order, RUN_STATES, sizeof(order[0]), by_samples);
	for (size_t i = 0; i < RUN_STATES && order[i]->samples; i++)
		item(l, "%.1f %% %s", percent(order[i]->samples, all),
		     run_state_title((enum run_state)(order[i] - v->states)));
	end_list(l, 0);
}

static void states(FILE *out, const struct summary *s)
{
	struct list l = {out, COLUMNS, 0, 0};

	label(out, "JVM");
	state_list(&l, s->v);
}

void text_run_states(FILE *out, const struct views *v)
{
	struct summary s = {v, NULL};
	struct list l = {out, SIZE_MAX, 0, 0};

	if (!has_states(&s))
		return;
	fputs("  those of JVMs: ", out);
	state_list(&l, v);
}

static void methods(FILE *out, const struct summary *s)
{
	struct list l = {out, COLUMNS, 0, 0};

	label(out, "hottest");
	for (size_t i = 0; i < s->v->methods.count && i < MOST; i++) {
		const struct method_view *m = &s->v->methods.at[i];

		if (i && m->self <= 0)
			break; /* it only called others */
		item(&l, "%.1f %% %s", percent(m->self, s->v->an->samples.quality.total), m->name);
	}
	putc('\n', out);
}

static void threads(FILE *out, const struct summary *s)
{
	struct list l = {out, COLUMNS, 0, 0};

	label(out, "threads");
	for (size_t i = 0; i < s->v->threads.count && i < MOST; i++)
		item(&l, "%.1f %% %s", percent(s->v->threads.at[i].weight, s->v->an->samples.quality.total),
		     s->v->threads.at[i].name);
	end_list(&l, s->v->threads.count > MOST ? s->v->threads.count - MOST : 0);
}

/* ---- what waited, and the heap ---- */

#define REASONS 2 /* of times off the CPU */

static const struct kind_view *events_of(const struct summary *s, int kind)
{
	return &s->v->events->kinds[kind];
}

static bool has_waits(const struct summary *s)
{
	return events_of(s, BRAID_JVM_LOCK)->weight || events_of(s, BRAID_JVM_OFFCPU)->weight;
}

/* Waits for locks have their own kind of events, which says for which. */
static void waited(FILE *out, const struct summary *s)
{
	const struct kind_view *lock = events_of(s, BRAID_JVM_LOCK), *off = events_of(s, BRAID_JVM_OFFCPU);
	const struct event_table *reasons = &off->by[BY_NAME];
	struct list l = {out, COLUMNS, 0, 0};
	char text[QUANTITY_TEXT];

	label(out, "waited");
	if (lock->weight)
		item(&l, "%s for locks, mostly %s", duration_text(text, lock->weight),
		     lock->by[BY_NAME].sums.at[0].name);
	for (size_t i = 0, shown = 0; i < reasons->sums.count && shown < REASONS; i++) {
		const struct event_sum *sum = &reasons->sums.at[i];

		if (lock->weight && strcmp(sum->name, "blocked on a monitor") == 0)
			continue;
		item(&l, "%s %s", duration_text(text, sum->weight), sum->name);
		shown++;
	}
	end_list(&l, 0);
}

/* None may mean that the type was not enabled. */
static bool has_collections(const struct summary *s)
{
	return s->v->gc.count > 0;
}

static void collections(FILE *out, const struct summary *s)
{
	const struct gc_view *g = &s->v->gc;
	char total[QUANTITY_TEXT], max[QUANTITY_TEXT];

	label(out, "GC");
	fprintf(out, "%" PRIu64 " pause%s, %.2f %% of the time (%s), longest %s\n", g->count, plural(g->count),
		percent(g->total_ns, analysis_shown_ns(s->v->an)), duration_text(total, g->total_ns),
		duration_text(max, g->max_ns));
}

static bool has_allocations(const struct summary *s)
{
	return events_of(s, BRAID_JVM_ALLOC)->weight && analysis_shown_ns(s->v->an);
}

static void allocated(FILE *out, const struct summary *s)
{
	const struct kind_view *k = events_of(s, BRAID_JVM_ALLOC);
	struct list l = {out, COLUMNS, 0, 0};
	char text[QUANTITY_TEXT];

	label(out, "allocated");
	fprintf(out, "%s a second: ",
		size_text(text, whole_part((double)k->weight * 1e9 / (double)analysis_shown_ns(s->v->an))));
	if (k->by[BY_SITE].sums.count)
		item(&l, "%.0f %% in %s", percent(k->by[BY_SITE].sums.at[0].weight, k->weight),
		     k->by[BY_SITE].sums.at[0].name);
	if (k->by[BY_NAME].sums.count)
		item(&l, "%.0f %% %s", percent(k->by[BY_NAME].sums.at[0].weight, k->weight),
		     k->by[BY_NAME].sums.at[0].name);
	end_list(&l, 0);
}

/* ---- other events, and what is missing ---- */

/*
 * Only kinds with tables of their own have sums that are meaningful here; the lines above have those that people look
 * for.
 */
static bool is_other(const struct kind_view *k, int kind)
{
	return k->count && k->k->tables && k->weight && kind != BRAID_JVM_LOCK && kind != BRAID_JVM_OFFCPU &&
	       kind != BRAID_JVM_ALLOC;
}

static bool has_others(const struct summary *s)
{
	if (s->v->hits.events.count)
		return true;
	for (int kind = 0; kind < BRAID_JVM_EVENTS; kind++)
		if (is_other(events_of(s, kind), kind))
			return true;
	return false;
}

static void others(FILE *out, const struct summary *s)
{
	const struct views *v = s->v;
	struct list l = {out, COLUMNS, 0, 0};
	char text[QUANTITY_TEXT];

	label(out, "events");
	for (size_t i = 0; i < v->hits.events.count; i++)
		item(&l, "%s %" PRIu64, v->hits.events.at[i].name, v->hits.events.at[i].profile->quality.total);
	for (int kind = 0; kind < BRAID_JVM_EVENTS; kind++) {
		const struct kind_view *k = events_of(s, kind);

		if (is_other(k, kind))
			item(&l, "%s %s", jvm_event_name(k->kind), text_unit(text, 0, k->k->unit, k->weight));
	}
	end_list(&l, 0);
}

static bool is_incomplete(const struct summary *s)
{
	return !is_complete(s);
}

static void lost(FILE *out, const struct summary *s)
{
	const struct views *v = s->v;
	struct list l = {out, COLUMNS, 0, 0};

	label(out, "lost");
	if (!v->an->a->ended)
		item(&l, "what came last: the recording did not end in order");
	for (size_t i = 0; i < v->losses.count; i++)
		item(&l, "%" PRIu64 " %s (%s)", v->losses.at[i].count, v->losses.at[i].kind, v->losses.at[i].hop);
	end_list(&l, 0);
}

/* ---- all of it ---- */

static bool has_diagnosis(const struct summary *s)
{
	return s->source->diagnosis != NULL;
}

static void suspicious(FILE *out, const struct summary *s)
{
	diagnosis_lines(out, s->source->diagnosis, s->source->path);
}

/* What a summary can have, in its order. If it has too many lines, those of the highest `rank` are left out. */
static const struct row {
	bool (*has)(const struct summary *s); /* NULL: always */
	void (*print)(FILE *out, const struct summary *s);
	unsigned rank; /* 0: it is never left out */
} rows[] = {
	{NULL, recorded, 0},
	{has_selection, selection, 0},
	{has_agentless, agentless, 1}, /* in Recording */
	{NULL, samples, 0},
	{has_samples, code, 4},	 /* in Hot methods */
	{has_states, states, 2}, /* in Threads */
	{has_samples, methods, 0},
	{has_samples, threads, 3}, /* in Threads */
	{has_waits, waited, 0},
	{has_collections, collections, 0},
	{has_allocations, allocated, 0},
	{has_others, others, 5}, /* at the report's end */
	{is_incomplete, lost, 0},
	{has_diagnosis, suspicious, 0},
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))
#define RANKS 5

static size_t lines_of(const struct summary *s, const struct row *r)
{
	if (r->has && !r->has(s))
		return 0;
	return r->print == suspicious ? diagnosis_line_count(s->source->diagnosis) : 1;
}

/* The highest rank for which there is room. */
static unsigned rank_shown(const struct summary *s)
{
	unsigned rank = RANKS;

	for (;; rank--) {
		size_t lines = 0;

		for (size_t i = 0; i < ROWS; i++)
			lines += rows[i].rank <= rank ? lines_of(s, &rows[i]) : 0;
		if (lines <= LINES || !rank)
			return rank;
	}
}

void report_summary(FILE *out, const struct views *v, const struct report_source *source)
{
	struct summary s = {v, source};
	unsigned rank = rank_shown(&s);

	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].rank <= rank && lines_of(&s, &rows[i]))
			rows[i].print(out, &s);
}

void text_other_events(FILE *out, const struct views *v, const struct report_source *source)
{
	struct summary s = {v, source};

	if (has_others(&s) && rank_shown(&s) < RANKS) {
		putc('\n', out);
		others(out, &s);
	}
}
