// SPDX-License-Identifier: Apache-2.0
/* JVM events in the text report: the sections that only some kinds have. report.c calls it. */
#include <inttypes.h>

#include "events.h"

void text_blockers(FILE *out, const struct views *v, unsigned top)
{
	const struct event_views *e = v->events;
	char time[QUANTITY_TEXT], max[QUANTITY_TEXT];

	fprintf(out, "    %11s  %9s  %10s  who was blocked by whom\n", "time", "events", "max");
	for (size_t i = 0; i < e->pools.count && i < top; i++) {
		const struct blocker_view *b = &e->pools.at[i];

		fprintf(out, "    %11s  %9" PRIu64 "  %10s  %s on %s", duration_cell(time, 11, b->ns), b->count,
			duration_cell(max, 10, b->max_ns), b->blocked_name, b->monitor);
		if (*b->owner_name)
			fprintf(out, " by %s", b->owner_name);
		if (b->site != ROW_NONE)
			fprintf(out, " in %s", events_site_name(v->an, b->site));
		putc('\n', out);
	}
	text_more(out, 4, e->pools.count, top);
}

/* ---- threads ---- */

static void text_moment(FILE *out, const struct views *v, uint64_t time_ns)
{
	if (time_ns)
		fprintf(out, "  %9.3f", (double)analysis_since(v->an, time_ns) / 1e9);
	else
		fprintf(out, "  %9s", "-");
}

/* A cell of its own width, or "-" when the type was not recorded. */
static void text_count_if(FILE *out, bool recorded, int width, uint64_t count)
{
	if (recorded)
		fprintf(out, "  %*" PRIu64, width, count);
	else
		fprintf(out, "  %*s", width, "-");
}

void text_lives(FILE *out, const struct views *v, unsigned top)
{
	const struct event_views *e = v->events;
	bool waits = events_blocked_recorded(v->an);
	bool ticks = events_recorded(v->an, BRAID_EVENT_TYPE_CPU);
	char cpu[QUANTITY_TEXT], blocked[QUANTITY_TEXT], waited[QUANTITY_TEXT], lock[QUANTITY_TEXT];

	if (!e->lives.count)
		return;
	fprintf(out,
		"\nLives of threads, in seconds since the recording's start\n    %9s  %9s  %10s  %8s  %10s  %10s  %10s "
		" %s\n",
		"start", "end", "CPU", "samples", "lock", "wait", "blocked", "thread");
	for (size_t i = 0; i < e->lives.count && i < top; i++) {
		const struct life_view *l = &e->lives.at[i];
		const struct thread_row *t = table_row(&v->an->a->threads, l->thread);
		bool locked = events_recorded_of(v->an, t->process, BRAID_EVENT_TYPE_LOCK),
		     waited_for = events_recorded_of(v->an, t->process, BRAID_EVENT_TYPE_WAIT);

		fputs("  ", out);
		text_moment(out, v, l->started_ns);
		text_moment(out, v, l->ended_ns);
		fprintf(out, "  %10s", l->ended_ns ? duration_cell(cpu, 10, l->cpu_ns) : "-");
		text_count_if(out, ticks || l->samples, 8, l->samples);
		fprintf(out, "  %10s  %10s  %10s  %s (%u/%u)\n", locked ? duration_cell(lock, 10, l->lock_ns) : "-",
			waited_for ? duration_cell(waited, 10, l->waited_ns) : "-",
			waits ? duration_cell(blocked, 10, l->blocked_ns) : "-", analysis_thread_name(v->an, l->thread),
			analysis_process(v->an, t->process)->pid, t->tid);
	}
	text_more(out, 4, e->lives.count, top);
}

/* ---- compilations ---- */

static const char *level_name(unsigned level)
{
	static const char *const names[COMPILE_LEVELS] = {"0 native wrapper", "1 C1", "2 C1, counters", "3 C1, profile",
							  "4 C2"};

	return names[level] ?: "unknown";
}

/* "-": not known. */
static const char *time_cell(char buf[QUANTITY_TEXT], int width, uint64_t ns)
{
	return ns ? duration_cell(buf, width, ns) : "-";
}

static void text_levels(FILE *out, const struct event_views *e)
{
	char time[QUANTITY_TEXT], size[QUANTITY_TEXT], failed[24];

	fprintf(out, "\nCompilations\n    %9s  %8s  %11s  %11s  level\n", "count", "failed", "time", "code");
	for (unsigned l = 0; l < COMPILE_LEVELS; l++) {
		const struct level_view *level = &e->levels[l];

		if (!level->count)
			continue;
		snprintf(failed, sizeof(failed), "%" PRIu64, level->failed);
		fprintf(out, "    %9" PRIu64 "  %8s  %11s  %11s  %s\n", level->count, level->timed ? failed : "-",
			time_cell(time, 11, level->ns), size_text(size, level->bytes), level_name(l));
	}
}

static void text_longest(FILE *out, const struct views *v, unsigned top)
{
	const struct event_views *e = v->events;
	char time[QUANTITY_TEXT], size[QUANTITY_TEXT];

	fprintf(out, "    %11s  %10s  %5s  %11s  %s\n", "at", "time", "level", "code",
		e->compiles.at[0].duration_ns ? "longest" : "largest");
	for (size_t i = 0; i < e->compiles.count && i < top; i++) {
		const struct compile_view *c = &e->compiles.at[i];

		fprintf(out, "    %9.3f s  %10s  %3u %s  %11s  %s%s\n", (double)analysis_since(v->an, c->at_ns) / 1e9,
			time_cell(time, 10, c->duration_ns), c->flags & BRAID_COMPILE_LEVEL,
			c->flags & BRAID_COMPILE_OSR ? "%" : " ", size_text(size, c->bytes), c->method,
			c->flags & BRAID_COMPILE_FAILED ? " (failed)" : "");
	}
	text_more(out, 4, e->compiles.count, top);
}

static void text_storms(FILE *out, const struct event_views *e, unsigned top)
{
	char time[QUANTITY_TEXT];

	if (!e->storms.count)
		return;
	fprintf(out, "    %9s  %8s  %11s  compiled %d times or more\n", "count", "deopts", "time", STORM);
	for (size_t i = 0; i < e->storms.count && i < top; i++)
		fprintf(out, "    %9" PRIu64 "  %8" PRIu64 "  %11s  %s\n", e->storms.at[i].count,
			e->storms.at[i].deopts, time_cell(time, 11, e->storms.at[i].ns), e->storms.at[i].method);
	text_more(out, 4, e->storms.count, top);
}

static void text_heaps(FILE *out, const struct event_views *e)
{
	char first[QUANTITY_TEXT], last[QUANTITY_TEXT], max[QUANTITY_TEXT], reserved[QUANTITY_TEXT];

	if (!e->heaps.count)
		return;
	fprintf(out, "\nCode cache\n    %11s  %11s  %11s  %11s  %6s  heap\n", "at first", "at last", "most", "reserved",
		"full");
	for (size_t i = 0; i < e->heaps.count; i++) {
		const struct code_heap_view *h = &e->heaps.at[i];

		fprintf(out, "    %11s  %11s  %11s  %11s  %5.1f%%  %s (pid %u)\n", size_text(first, h->first),
			size_text(last, h->last), size_text(max, h->max), size_text(reserved, h->reserved),
			percent(h->last, h->reserved), *h->heap ? h->heap : "[unknown]", h->pid);
	}
}

void text_compiles(FILE *out, const struct views *v, unsigned top)
{
	const struct event_views *e = v->events;

	if (e->compiles.count) {
		text_levels(out, e);
		text_longest(out, v, top);
		text_storms(out, e, top);
	}
	text_heaps(out, e);
}

/* ---- start and classes ---- */

void text_starts(FILE *out, const struct views *v)
{
	const struct event_views *e = v->events;
	char paused[QUANTITY_TEXT];

	for (size_t i = 0; i < e->starts.count; i++) {
		const struct start_view *s = &e->starts.at[i];

		if (i == 0 || s->pid != s[-1].pid)
			fprintf(out,
				"\nStart of pid %u: since the process began, sums until then\n    %10s  %8s  %8s  %8s  "
				"%10s  %10s  phase\n",
				s->pid, "at", "classes", "compiled", "threads", "exceptions", "GC");
		fprintf(out, "    %8.3f s", (double)s->at_ns / 1e9);
		text_count_if(out, events_recorded_of(v->an, s->process, BRAID_EVENT_TYPE_CLASS), 8, s->loaded);
		text_count_if(out, events_recorded_of(v->an, s->process, BRAID_EVENT_TYPE_JIT), 8, s->compiled);
		text_count_if(out, events_recorded_of(v->an, s->process, BRAID_EVENT_TYPE_THREAD), 8, s->threads);
		text_count_if(out, events_recorded_of(v->an, s->process, BRAID_EVENT_TYPE_EXCEPTION), 10,
			      s->exceptions);
		fprintf(out, "  %10s%s%s\n",
			events_recorded_of(v->an, s->process, BRAID_EVENT_TYPE_GC)
				? duration_cell(paused, 10, s->paused_ns)
				: "-",
			*s->phase ? "  " : "", s->phase);
	}
}

void text_classes(FILE *out, const struct views *v, unsigned top)
{
	const struct event_views *e = v->events;
	const struct event_table *loaders = &e->kinds[BRAID_JVM_CLASS_LOAD].by[BY_DETAIL];
	size_t busiest = 0;

	if (!e->classes.count)
		return;
	for (size_t i = 1; i < e->classes.count; i++)
		if (e->classes.at[i].loaded > e->classes.at[busiest].loaded)
			busiest = i;
	fprintf(out,
		"\nClasses\n    %" PRIu64 " loaded, %" PRIu64 " unloaded; most in one second: %" PRIu64
		" loaded (at %" PRIu64 " s)\n",
		e->kinds[BRAID_JVM_CLASS_LOAD].weight, e->kinds[BRAID_JVM_CLASS_UNLOAD].weight,
		e->classes.at[busiest].loaded, e->classes.at[busiest].second);
	if (loaders->sums.count)
		fprintf(out, "    %9s  loader\n", "loaded");
	for (size_t i = 0; i < loaders->sums.count && i < top; i++)
		fprintf(out, "    %9" PRIu64 "  %s\n", loaders->sums.at[i].weight,
			*loaders->sums.at[i].name ? loaders->sums.at[i].name : "[unknown]");
	text_more(out, 4, loaders->sums.count, top);
}

void text_binds(FILE *out, const struct views *v, unsigned top)
{
	const struct event_views *e = v->events;

	if (!e->binds.count)
		return;
	fputs("\nNative methods bound\n", out);
	for (size_t i = 0; i < e->binds.count && i < top; i++) {
		const struct bind_view *b = &e->binds.at[i];

		fprintf(out, "    %s to ", b->method);
		if (*b->symbol)
			fprintf(out, "%s (pid %u)\n", b->symbol, b->pid);
		else
			fprintf(out, "0x%" PRIx64 " (pid %u)\n", b->address, b->pid);
	}
	text_more(out, 4, e->binds.count, top);
}
