// SPDX-License-Identifier: Apache-2.0
/* The report's section about garbage collections, as text and as JSON. report.c calls it. */
#include <inttypes.h>
#include <stdio.h>

#include <analyze/events.h>
#include <braid/jvm_event.h>

#include "info.h"

#define LONGEST 10
#define MIB (1024.0 * 1024)

/* ---- text ---- */

static void text_used(FILE *out, const struct gc_pause *p)
{
	if (p->used_before && p->used_after)
		fprintf(out, "  %.1f -> %.1f MiB", (double)p->used_before / MIB, (double)p->used_after / MIB);
	else if (p->used_before || p->used_after)
		fprintf(out, "  %s %.1f MiB", p->used_before ? "from" : "to",
			(double)(p->used_before ? p->used_before : p->used_after) / MIB);
}

/* "G1 young, Pause Young (Normal), G1 Evacuation Pause": the parts that are known. */
static void text_names(FILE *out, const char *name, const char *what, const char *cause)
{
	fputs(*name ? name : "unknown", out);
	if (*what)
		fprintf(out, ", %s", what);
	if (*cause)
		fprintf(out, ", %s", cause);
}

static void text_pause(FILE *out, const struct views *v, const struct gc_pause *p)
{
	uint64_t since_ns = analysis_since(v->an, p->start_ns);
	char buf[QUANTITY_TEXT];
	const char *took = p->flags & BRAID_GC_NOT_ENDED      ? "not ended"
			   : p->flags & BRAID_GC_BEGAN_BEFORE ? "begin lost"
							      : duration_cell(buf, 10, p->duration_ns);

	fprintf(out, "  %10s  at %6" PRIu64 ".%06" PRIu64 " s  pid %u  number %" PRIu64, took, since_ns / 1000000000,
		since_ns / 1000 % 1000000, analysis_process(v->an, p->process)->pid, p->number);
	text_used(out, p);
	fputs("  ", out);
	text_names(out, p->collector, p->what, p->cause);
	putc('\n', out);
}

static void text_sums(FILE *out, const struct gc_sum *at, size_t count, unsigned top)
{
	char total[QUANTITY_TEXT], mean[QUANTITY_TEXT], max[QUANTITY_TEXT];

	if (!count)
		return;
	fprintf(out, "  %10s %10s %10s %10s  %s\n", "count", "total", "mean", "max", "what and why");
	for (size_t i = 0; i < count && i < top; i++) {
		const struct gc_sum *s = &at[i];

		fprintf(out, "  %10" PRIu64 " %10s %10s %10s  ", s->count, duration_cell(total, 10, s->total_ns),
			duration_cell(mean, 10, s->total_ns / s->count), duration_cell(max, 10, s->max_ns));
		text_names(out, s->name, s->what, s->cause);
		putc('\n', out);
	}
	text_more(out, 2, count, top);
}

static bool recorded(const struct views *v)
{
	for (size_t i = 0; i < v->jvms.count; i++)
		if (events_recorded_of(v->an, v->jvms.at[i].process, BRAID_EVENT_TYPE_GC))
			return true;
	return v->gc.count > 0;
}

void text_gc(FILE *out, const struct views *v, unsigned top)
{
	const struct gc_view *g = &v->gc;
	unsigned shown = top < LONGEST ? top : LONGEST;
	char total[QUANTITY_TEXT], mean[QUANTITY_TEXT], max[QUANTITY_TEXT], p99[QUANTITY_TEXT];

	if (!recorded(v))
		return;
	fputs("\nGC pauses\n", out);
	if (g->count)
		fprintf(out, "  %" PRIu64 " pause%s, total %s, mean %s, p99 %s, max %s\n", g->count, plural(g->count),
			duration_text(total, g->total_ns), duration_text(mean, g->mean_ns),
			duration_text(p99, g->p99_ns), duration_text(max, g->max_ns));
	else
		fputs("  none\n", out);
	text_sums(out, g->pauses.at, g->pauses.count, top);
	for (size_t i = 0; i < g->longest.count && i < shown; i++)
		text_pause(out, v, &g->longest.at[i]);
	if (g->longest.count > shown)
		fprintf(out, "  and %zu shorter one%s\n", g->longest.count - shown, plural(g->longest.count - shown));
	if (g->cycles.count)
		fputs("\nGC cycles, concurrent parts included\n", out);
	text_sums(out, g->cycles.at, g->cycles.count, top);
	if (g->phases.count)
		fputs("\nGC phases beside the program\n", out);
	text_sums(out, g->phases.at, g->phases.count, top);
}

/* ---- JSON ---- */

static void json_names(struct json *j, const char *name, const char *what, const char *cause)
{
	json_string(j, "name", name);
	json_string(j, "what", what);
	json_string(j, "cause", cause);
}

static void json_pause(struct json *j, const struct views *v, const struct gc_pause *p)
{
	json_open(j, NULL, '{');
	json_number(j, "pid", analysis_process(v->an, p->process)->pid);
	json_number(j, "number", p->number);
	json_seconds(j, "at_s", analysis_since(v->an, p->start_ns));
	json_seconds_if(j, !(p->flags & BRAID_GC_PARTIAL), "duration_s", p->duration_ns);
	json_names(j, p->collector, p->what, p->cause);
	json_number_if(j, p->used_before, "used_before", p->used_before);
	json_number_if(j, p->used_after, "used_after", p->used_after);
	json_close(j, '}');
}

static void json_sums(struct json *j, const char *key, const struct gc_sum *at, size_t count, unsigned top)
{
	json_open(j, key, '[');
	for (size_t i = 0; i < count && i < top; i++) {
		json_open(j, NULL, '{');
		json_names(j, at[i].name, at[i].what, at[i].cause);
		json_number(j, "count", at[i].count);
		json_seconds(j, "total_s", at[i].total_ns);
		json_seconds(j, "max_s", at[i].max_ns);
		json_close(j, '}');
	}
	json_close(j, ']');
}

void json_gc(struct json *j, const struct views *v, unsigned top)
{
	const struct gc_view *g = &v->gc;

	json_open(j, "gc", '{');
	json_number_if(j, recorded(v), "count", g->count);
	json_seconds_if(j, recorded(v), "total_s", g->total_ns);
	json_seconds_if(j, g->count, "mean_s", g->mean_ns);
	json_seconds_if(j, g->count, "p99_s", g->p99_ns);
	json_seconds_if(j, g->count, "max_s", g->max_ns);
	json_sums(j, "pauses", g->pauses.at, g->pauses.count, top);
	json_sums(j, "cycles", g->cycles.at, g->cycles.count, top);
	json_sums(j, "phases", g->phases.at, g->phases.count, top);
	json_open(j, "longest", '[');
	for (size_t i = 0; i < g->longest.count && i < top; i++)
		json_pause(j, v, &g->longest.at[i]);
	json_close(j, ']');
	json_close(j, '}');
}
