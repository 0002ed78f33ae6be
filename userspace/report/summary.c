// SPDX-License-Identifier: Apache-2.0
/*
 * The report's first lines, which a reader needs first: what ran, where, what waited, and how far the figures can be
 * trusted.
 */
#include <inttypes.h>
#include <string.h>

#include <braid/ring.h>
#include <util/compare.h>
#include <util/style.h>

#include "diagnose.h"
#include "events.h"
#include "info.h"

#define MOST 3 /* of each list */

static void label(FILE *out, const char *name)
{
	fprintf(out, "  %-10s ", name);
}

/* Prints the separator between the items of a line. */
static void item(FILE *out, size_t i, const char *between)
{
	if (i)
		fputs(between, out);
}

static void of_what(FILE *out, const struct analysis *an)
{
	const char *what = analyzer_info(an->a, "record.command"), *host = analyzer_info(an->a, "host.name");
	const char *cpus = analyzer_info(an->a, "host.cpus");
	char text[MOMENT_TEXT];

	if (!*what)
		what = analyzer_info(an->a, "record.target");
	if (!*what)
		what = analyzer_info(an->a, IMPORT_FACT_FILE);
	label(out, "recorded");
	/* A stripped trace does not say what it is of. */
	fprintf(out, "%s%s%s%s", what, *what && *host ? " " : "", *host ? "on " : "", host);
	if (!*what && !*host)
		fputs("not known where", out);
	if (an->start_realtime_ns)
		fprintf(out, ", %s", moment_date(text, an->start_realtime_ns, 0));
	if (analysis_has_duration(an))
		fprintf(out, ", %s", duration_text(text, an->duration_ns));
	if (*cpus)
		fprintf(out, ", %s CPU%s", cpus, strcmp(cpus, "1") == 0 ? "" : "s");
	putc('\n', out);
	text_agentless(out, an);
	if (!filter_is_set(an->filter))
		return;
	label(out, "only");
	filter_text(out, an);
	putc('\n', out);
}

static void samples(FILE *out, const struct views *v)
{
	uint64_t all = v->an->samples.quality.total;
	unsigned long hz = analyzer_frequency(v->an->a);
	char process[PROCESS_LABEL_MAX];

	label(out, "samples");
	fprintf(out, "%" PRIu64, all);
	if (hz > 0 && analysis_shown_ns(v->an))
		fprintf(out, ", %.2f CPUs in use", (double)all * 1e9 / (double)hz / (double)analysis_shown_ns(v->an));
	if (!all && v->hits.events.count)
		fputs(" of a clock", out);
	for (size_t i = 0; i < v->processes.count && i < MOST; i++)
		fprintf(out, "%s%.1f %% %s (%u)", i ? ", " : ": ", percent(v->processes.at[i].weight, all),
			analysis_label(v->an, v->processes.at[i].process, process), v->processes.at[i].pid);
	putc('\n', out);
}

/* The shares of the kinds of code in the samples. */
static void code(FILE *out, const struct views *v)
{
	static const struct {
		enum stack_domain domain;
		const char *name;
	} kinds[] = {{DOMAIN_JAVA, "Java"},
		     {DOMAIN_NATIVE, "native"},
		     {DOMAIN_KERNEL, "kernel"},
		     {DOMAIN_STUB, "the JVM's stubs"}};
	uint64_t self[DOMAIN_INCOMPLETE + 1] = {0}, all = v->an->samples.quality.total, rest = all;
	size_t shown = 0;

	for (size_t i = 0; i < v->methods.count; i++)
		self[v->methods.at[i].domain] = add_saturating(self[v->methods.at[i].domain], v->methods.at[i].self);
	label(out, "code");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		uint64_t part = self[kinds[i].domain];

		if (!part)
			continue;
		item(out, shown++, ", ");
		fprintf(out, "%.1f %% %s", percent(part, all), kinds[i].name);
		rest -= part < rest ? part : rest;
	}
	if (rest) {
		item(out, shown, ", ");
		fprintf(out, "%.1f %% not known", percent(rest, all));
	}
	putc('\n', out);
}

static int by_samples(const void *x, const void *y)
{
	const struct state_view *p = *(const struct state_view *const *)x, *q = *(const struct state_view *const *)y;

	return compare_u64(q->samples, p->samples) ?: (p > q) - (p < q);
}

/* Most first. Of a recording without a JVM there are none. */
static void states(FILE *out, const struct views *v)
{
	const struct state_view *order[RUN_STATES];
	uint64_t all = 0;

	for (int i = 0; i < RUN_STATES; i++) {
		all = add_saturating(all, v->states[i].samples);
		order[i] = &v->states[i];
	}
	if (!all)
		return;
	label(out, "JVM");
	qsort(order, RUN_STATES, sizeof(order[0]), by_samples);
	for (size_t i = 0; i < RUN_STATES && order[i]->samples; i++) {
		item(out, i, ", ");
		fprintf(out, "%.1f %% %s", percent(order[i]->samples, all),
			run_state_title((enum run_state)(order[i] - v->states)));
	}
	putc('\n', out);
}

static void methods(FILE *out, const struct views *v)
{
	for (size_t i = 0; i < v->methods.count && i < MOST; i++) {
		const struct method_view *m = &v->methods.at[i];

		label(out, i ? "" : "hottest");
		fprintf(out, "%4.1f %% %s (%s)\n", percent(m->self, v->an->samples.quality.total), m->name,
			kind_name(m->kind));
	}
}

static void threads(FILE *out, const struct views *v)
{
	label(out, "threads");
	for (size_t i = 0; i < v->threads.count && i < MOST; i++) {
		item(out, i, ", ");
		fprintf(out, "%.1f %% %s", percent(v->threads.at[i].weight, v->an->samples.quality.total),
			v->threads.at[i].name);
	}
	if (v->threads.count > MOST)
		fprintf(out, ", and %zu more", v->threads.count - MOST);
	putc('\n', out);
}

/* Prints nothing when there was none: the type may not have been enabled. */
static void collections(FILE *out, const struct views *v)
{
	const struct gc_view *g = &v->gc;
	char total[QUANTITY_TEXT], max[QUANTITY_TEXT];

	if (!g->count)
		return;
	label(out, "GC");
	fprintf(out, "%" PRIu64 " pause%s, %.2f %% of the time (%s), longest %s\n", g->count, plural(g->count),
		percent(g->total_ns, analysis_shown_ns(v->an)), duration_text(total, g->total_ns),
		duration_text(max, g->max_ns));
}

#define REASONS 2 /* of times off the CPU */

/* Waits for locks have their own kind of events, which says for which. */
static void waited(FILE *out, const struct views *v)
{
	const struct kind_view *lock = &v->events->kinds[BRAID_JVM_LOCK], *off = &v->events->kinds[BRAID_JVM_OFFCPU];
	const struct event_table *reasons = &off->by[BY_NAME];
	size_t shown = 0, begun = lock->weight > 0;
	char text[QUANTITY_TEXT];

	if (!lock->weight && !off->weight)
		return;
	label(out, "waited");
	if (lock->weight)
		fprintf(out, "%s for locks, mostly %s", duration_text(text, lock->weight),
			lock->by[BY_NAME].sums.at[0].name);
	for (size_t i = 0; i < reasons->sums.count && shown < REASONS; i++) {
		const struct event_sum *s = &reasons->sums.at[i];

		if (lock->weight && strcmp(s->name, "blocked on a monitor") == 0)
			continue;
		item(out, begun + shown++, ", ");
		fprintf(out, "%s %s", duration_text(text, s->weight), s->name);
	}
	putc('\n', out);
}

static void allocated(FILE *out, const struct views *v)
{
	const struct kind_view *k = &v->events->kinds[BRAID_JVM_ALLOC];
	const struct event_sum *site = k->by[BY_SITE].sums.count ? &k->by[BY_SITE].sums.at[0] : NULL;
	char text[QUANTITY_TEXT];

	if (!k->weight || !analysis_shown_ns(v->an))
		return;
	label(out, "allocated");
	fprintf(out, "%s a second",
		size_text(text, whole_part((double)k->weight * 1e9 / (double)analysis_shown_ns(v->an))));
	if (site)
		fprintf(out, ": %.0f %% in %s", percent(site->weight, k->weight), site->name);
	if (k->by[BY_NAME].sums.count)
		fprintf(out, ", %.0f %% %s", percent(k->by[BY_NAME].sums.at[0].weight, k->weight),
			k->by[BY_NAME].sums.at[0].name);
	putc('\n', out);
}

static bool has_line(int kind)
{
	return kind == BRAID_JVM_LOCK || kind == BRAID_JVM_OFFCPU || kind == BRAID_JVM_ALLOC;
}

/* Only kinds with tables of their own have sums that are meaningful here. */
static void others(FILE *out, const struct views *v)
{
	char text[QUANTITY_TEXT];
	size_t shown = 0;

	for (size_t i = 0; i < v->hits.events.count && i < MOST; i++) {
		if (!shown)
			label(out, "events");
		item(out, shown++, ", ");
		fprintf(out, "%s %" PRIu64, v->hits.events.at[i].name, v->hits.events.at[i].profile->quality.total);
	}
	for (int kind = 0; kind < BRAID_JVM_EVENTS; kind++) {
		const struct kind_view *k = &v->events->kinds[kind];

		if (!k->count || !k->k->tables || !k->weight || has_line(kind))
			continue;
		if (!shown)
			label(out, "events");
		item(out, shown++, ", ");
		fprintf(out, "%s %s", jvm_event_name(k->kind), text_unit(text, 0, k->k->unit, k->weight));
	}
	if (shown)
		putc('\n', out);
}

static void trust(FILE *out, const struct views *v)
{
	const struct quality *q = &v->an->samples.quality, *java = &v->an->java;

	/* Most tools whose files are imported do not say whether a stack is whole. */
	if (q->total && (!*analyzer_info(v->an->a, IMPORT_FACT_FORMAT) || q->by_cause[CAUSE_COMPLETE] != q->total)) {
		label(out, "stacks");
		fprintf(out, "%.2f %% whole", percent(q->by_cause[CAUSE_COMPLETE], q->total));
		if (java->total)
			fprintf(out, ", of Java threads %.2f %%", percent(java->by_cause[CAUSE_COMPLETE], java->total));
		putc('\n', out);
	}
	label(out, "lost");
	for (size_t i = 0; i < v->losses.count; i++) {
		item(out, i, ", ");
		fprintf(out, "%" PRIu64 " %s (%s)", v->losses.at[i].count, v->losses.at[i].kind, v->losses.at[i].hop);
	}
	fprintf(out, "%s%s\n", v->losses.count ? "" : "nothing",
		v->an->a->ended ? "" : "; the recording did not end in order");
}

void report_summary(FILE *out, const struct views *v, const struct report_source *source)
{
	fprintf(out, "%sSummary%s\n", style(STYLE_HEAD), style(STYLE_PLAIN));
	of_what(out, v->an);
	samples(out, v);
	if (v->an->samples.quality.total) {
		code(out, v);
		states(out, v);
		methods(out, v);
		threads(out, v);
	}
	waited(out, v);
	collections(out, v);
	allocated(out, v);
	others(out, v);
	trust(out, v);
	if (source->diagnosis)
		diagnosis_lines(out, source->diagnosis, source->path);
}
