// SPDX-License-Identifier: Apache-2.0
/*
 * JVM events in the text report: the sections that all kinds have, for the kinds that are in the trace. report.c calls
 * it.
 */
#include <inttypes.h>
#include <string.h>

#include "events.h"

const char *text_unit(char buf[QUANTITY_TEXT], int width, enum kind_unit unit, uint64_t value)
{
	if (unit == UNIT_NS)
		return duration_cell(buf, width, value);
	if (unit == UNIT_BYTES)
		return size_text(buf, value);
	snprintf(buf, 24, "%" PRIu64, value);
	return buf;
}

/* ---- all kinds ---- */

static void text_kind_row(FILE *out, const struct kind_view *k)
{
	char total[QUANTITY_TEXT], mean[QUANTITY_TEXT], p99[QUANTITY_TEXT], max[QUANTITY_TEXT];

	fprintf(out, "  %-15s %10" PRIu64 "  %11s", jvm_event_name(k->kind), k->count,
		k->k->unit == UNIT_NS && !k->weight ? "-" : text_unit(total, 11, k->k->unit, k->weight));
	if (k->k->unit == UNIT_NS && k->weight && k->count) /* else nothing reported how long they took */
		fprintf(out, "  %10s  %10s  %10s", duration_cell(mean, 10, k->weight / k->count),
			k->p99 ? duration_cell(p99, 10, k->p99) : "-", duration_cell(max, 10, k->max));
	else if (k->k->weight == WEIGHT_ESTIMATE)
		fprintf(out, "  +- %.1f %%", 100 * event_error(k->variance, k->weight));
	putc('\n', out);
	if (k->summed)
		fprintf(out, "  %-15s %10" PRIu64 "  %11s\n", "  added up", k->summed,
			duration_cell(total, 11, k->summed_ns));
	if (k->unread)
		fprintf(out, "  %-15s %10" PRIu64 "  %11s  parked, and not read for what\n", "  blocker", k->unread,
			duration_cell(total, 11, k->unread_ns));
	if (k->idle)
		fprintf(out, "  %-15s %10" PRIu64 "  %11s\n", "  and idle", k->idle,
			duration_cell(total, 11, k->idle_ns));
	if (!k->counted)
		return;
	fprintf(out, "  %-15s %10" PRIu64 "  ", "  and counted", k->counted);
	if (k->k->unit == UNIT_NS)
		fprintf(out, "%11s", duration_cell(total, 11, k->counted_ns));
	fputs("\n", out);
}

/* A kind without single events but with counted ones is shown, too. */
static bool kind_there(const struct kind_view *k)
{
	return k->k && (k->count || k->idle || k->counted) && k->kind != BRAID_JVM_COUNTED;
}

static void text_kinds(FILE *out, const struct event_views *e)
{
	fprintf(out, "\nJVM events\n  %-15s %10s  %11s  %10s  %10s  %10s\n", "kind", "count", "total", "mean", "p99",
		"max");
	for (int kind = 0; kind < BRAID_JVM_EVENTS; kind++)
		if (kind_there(&e->kinds[kind]))
			text_kind_row(out, &e->kinds[kind]);
}

/* ---- one kind ---- */

static void text_sum_name(FILE *out, const struct views *v, const struct event_sum *s, enum event_by by)
{
	const struct thread_row *t =
		by == BY_THREAD && s->thread != ROW_NONE ? table_row(&v->an->a->threads, s->thread) : NULL;

	fputs(s->name, out);
	if (s->line)
		fprintf(out, ":%u", s->line);
	if (t && t->tid)
		fprintf(out, " (%u/%u)", analysis_process(v->an, t->process)->pid, t->tid);
	putc('\n', out);
}

static const char *by_title(const struct kind *k, enum event_by by)
{
	return by == BY_NAME ? k->name_is.title : by == BY_DETAIL ? k->detail_is.title : event_by_names[by];
}

static bool has_flights(const struct kind_view *k, enum event_by by)
{
	return k->k->thrown && (by == BY_NAME || by == BY_DETAIL);
}

static void text_flight(FILE *out, const struct event_sum *s)
{
	if (s->caught)
		fprintf(out, "  %8.1f", (double)s->left / (double)s->caught);
	else
		fprintf(out, "  %8s", "-");
}

static void text_sums_head(FILE *out, const struct kind_view *k, enum event_by by, bool values)
{
	static const char *const units[] = {[UNIT_COUNT] = "count", [UNIT_NS] = "time", [UNIT_BYTES] = "bytes"};

	fprintf(out, "    %7s  %11s", "share", units[k->k->unit]);
	if (k->k->weight != WEIGHT_ONE)
		fprintf(out, "  %9s", "events");
	fputs(k->k->unit == UNIT_NS ? "         max" : k->k->weight == WEIGHT_ESTIMATE ? "       +-" : "", out);
	if (k->k->lasting)
		fprintf(out, "  %10s", "mean age");
	if (k->k->ages)
		fprintf(out, "  %8s", "GCs");
	if (has_flights(k, by))
		fprintf(out, "  %8s", "frames");
	if (values)
		fprintf(out, "  %14s", k->k->value_is.title);
	fprintf(out, "  %s\n", by_title(k->k, by));
}

static void text_sums(FILE *out, const struct views *v, const struct kind_view *k, enum event_by by, unsigned top)
{
	const struct event_table *t = &k->by[by];
	const struct kind_field *value = &k->k->value_is;
	bool values = by == BY_NAME && value->title && k->k->unit == UNIT_NS && value->unit != UNIT_COUNT &&
		      k->k->weight != WEIGHT_VALUE;
	char total[QUANTITY_TEXT], max[QUANTITY_TEXT], each[QUANTITY_TEXT];

	text_sums_head(out, k, by, values);
	for (size_t i = 0; i < t->sums.count && i < top; i++) {
		const struct event_sum *s = &t->sums.at[i];

		fprintf(out, "    %6.2f%%  %11s", percent(s->weight, k->weight),
			text_unit(total, 11, k->k->unit, s->weight));
		if (k->k->weight != WEIGHT_ONE)
			fprintf(out, "  %9" PRIu64, s->count);
		if (k->k->unit == UNIT_NS)
			fprintf(out, "  %10s", duration_cell(max, 10, s->max));
		else if (k->k->weight == WEIGHT_ESTIMATE)
			fprintf(out, "  %5.1f %%", 100 * event_error(s->variance, s->weight));
		if (k->k->lasting)
			fprintf(out, "  %10s", duration_cell(each, 10, s->duration_ns / s->count));
		if (k->k->ages)
			fprintf(out, "  %8.1f", (double)s->survived / (double)s->count);
		if (has_flights(k, by))
			text_flight(out, s);
		if (values)
			fprintf(out, "  %14s", text_unit(each, 14, value->unit, s->value));
		fputs("  ", out);
		text_sum_name(out, v, s, by);
		if (by == BY_STACK)
			text_stack(out, v, s->stack);
	}
	text_more(out, 4, t->sums.count, top);
}

/* The rows of a table when no option sets a number: more would make the report too long to read. */
#define ROWS 10U
#define STACKS 5U

void text_kind(FILE *out, const struct views *v, uint32_t kind, unsigned top)
{
	const struct kind_view *k = &v->events->kinds[kind];
	char idle[QUANTITY_TEXT];

	if ((!k->count && !k->idle) || !k->k->tables)
		return;
	fprintf(out, "\n%s", k->k->title);
	if (k->k->weight == WEIGHT_ESTIMATE)
		fprintf(out, ", estimated; +- is the standard error%s",
			k->k->ages	? "; age and collections survived are means"
			: k->k->lasting ? "; the age is a mean"
					: "");
	if (k->k->thrown)
		fputs("; frames: how many Java frames each left until it was caught, a mean", out);
	putc('\n', out);
	for (enum event_by by = 0; by < BYS; by++) {
		bool empty = k->by[by].sums.count == 0;

		if (!empty && (by != BY_THREAD || k->k->stack)) /* an event without a stack is not one thread's doing */
			text_sums(out, v, k, by, by == BY_STACK && top == ROWS ? STACKS : top);
	}
	if (k->idle)
		fprintf(out,
			"    %7s  %11s  %9" PRIu64 "  idle: threads of pools and of the JVM that waited for work\n", "",
			duration_cell(idle, 11, k->idle_ns), k->idle);
	if (k->kind == BRAID_JVM_LOCK)
		text_blockers(out, v, top);
}

void text_events(FILE *out, const struct views *v, unsigned top)
{
	const struct event_views *e = v->events;
	unsigned rows = top == REPORT_TOP && ROWS < top ? ROWS : top;
	bool any = false;

	for (int kind = 0; kind < BRAID_JVM_EVENTS; kind++)
		any = any || kind_there(&e->kinds[kind]);
	if (!any)
		return;
	text_kinds(out, e);
	for (uint32_t kind = 0; kind < BRAID_JVM_EVENTS; kind++)
		text_kind(out, v, kind, rows);
	text_leaks(out, v, rows);
	text_sites(out, v, rows);
	text_timed(out, v, rows);
	text_writes(out, v, rows);
	text_refs(out, v);
	text_held(out, v, rows);
	text_histograms(out, v, rows);
	text_lives(out, v, rows);
	text_compiles(out, v, rows);
	text_starts(out, v);
	text_classes(out, v, rows);
	text_binds(out, v, rows);
}
