// SPDX-License-Identifier: Apache-2.0
/* What happened in JVMs, in the text report: what only some kinds have. */
#include <inttypes.h>

#include "events.h"

void text_blockers(FILE *out, const struct views *v, unsigned top)
{
	const struct event_views *e = v->events;
	char time[24], max[24];

	fprintf(out, "    %11s  %9s  %10s  who was blocked by whom\n", "time", "events", "max");
	for (size_t i = 0; i < e->pools.count && i < top; i++) {
		const struct blocker_view *b = &e->pools.at[i];

		fprintf(out, "    %11s  %9" PRIu64 "  %10s  %s on %s", text_duration(time, b->ns), b->count,
			text_duration(max, b->max_ns), b->blocked_name, b->monitor);
		if (*b->owner_name)
			fprintf(out, " by %s", b->owner_name);
		if (b->site != ROW_NONE)
			fprintf(out, " in %s", events_site_name(v->an, b->site));
		putc('\n', out);
	}
	text_more(out, e->pools.count, top);
}

/* ---- threads ---- */

static void text_moment(FILE *out, const struct views *v, uint64_t time_ns)
{
	if (time_ns)
		fprintf(out, "  %9.3f", (double)text_since(v, time_ns) / 1e9);
	else
		fprintf(out, "  %9s", "-");
}

void text_lives(FILE *out, const struct views *v, unsigned top)
{
	const struct event_views *e = v->events;
	char cpu[24], blocked[24], waited[24], lock[24];

	if (!e->lives.count)
		return;
	fprintf(out,
		"\nLives of threads, in seconds since the first event\n    %9s  %9s  %10s  %8s  %10s  %10s  %10s  %s\n",
		"start", "end", "CPU", "samples", "lock", "wait", "blocked", "thread");
	for (size_t i = 0; i < e->lives.count && i < top; i++) {
		const struct life_view *l = &e->lives.at[i];
		const struct thread_row *t = table_row(&v->an->a->threads, l->thread);

		fputs("  ", out);
		text_moment(out, v, l->started_ns);
		text_moment(out, v, l->ended_ns);
		fprintf(out, "  %10s  %8" PRIu64 "  %10s  %10s  %10s  %s (%u/%u)\n",
			l->ended_ns ? text_duration(cpu, l->cpu_ns) : "-", l->samples, text_duration(lock, l->lock_ns),
			text_duration(waited, l->waited_ns), text_duration(blocked, l->blocked_ns),
			analysis_thread_name(v->an, l->thread), analysis_process(v->an, t->process)->pid, t->tid);
	}
	text_more(out, e->lives.count, top);
}

/* ---- compilations ---- */

static const char *level_name(unsigned level)
{
	static const char *const names[COMPILE_LEVELS] = {"0 native wrapper", "1 C1", "2 C1, counters", "3 C1, profile",
							  "4 C2"};

	return names[level] ?: "unknown";
}

static void text_levels(FILE *out, const struct event_views *e)
{
	char time[24], size[24];

	fprintf(out, "\nCompilations\n    %9s  %8s  %11s  %11s  level\n", "count", "failed", "time", "code");
	for (unsigned l = 0; l < COMPILE_LEVELS; l++)
		if (e->levels[l].count)
			fprintf(out, "    %9" PRIu64 "  %8" PRIu64 "  %11s  %11s  %s\n", e->levels[l].count,
				e->levels[l].failed, text_duration(time, e->levels[l].ns),
				text_bytes(size, e->levels[l].bytes), level_name(l));
}

static void text_longest(FILE *out, const struct views *v, unsigned top)
{
	const struct event_views *e = v->events;
	char time[24], size[24];

	fprintf(out, "    %11s  %10s  %5s  %11s  longest\n", "at", "time", "level", "code");
	for (size_t i = 0; i < e->compiles.count && i < top; i++) {
		const struct compile_view *c = &e->compiles.at[i];

		fprintf(out, "    %9.3f s  %10s  %3u %s  %11s  %s%s\n", (double)text_since(v, c->at_ns) / 1e9,
			text_duration(time, c->duration_ns), c->flags & BRAID_COMPILE_LEVEL,
			c->flags & BRAID_COMPILE_OSR ? "%" : " ", text_bytes(size, c->bytes), c->method,
			c->flags & BRAID_COMPILE_FAILED ? " (failed)" : "");
	}
	text_more(out, e->compiles.count, top);
}

static void text_storms(FILE *out, const struct event_views *e, unsigned top)
{
	char time[24];

	if (!e->storms.count)
		return;
	fprintf(out, "    %9s  %8s  %11s  compiled %d times or more\n", "count", "deopts", "time", STORM);
	for (size_t i = 0; i < e->storms.count && i < top; i++)
		fprintf(out, "    %9" PRIu64 "  %8" PRIu64 "  %11s  %s\n", e->storms.at[i].count,
			e->storms.at[i].deopts, text_duration(time, e->storms.at[i].ns), e->storms.at[i].method);
	text_more(out, e->storms.count, top);
}

static void text_heaps(FILE *out, const struct event_views *e)
{
	char first[24], last[24], max[24], reserved[24];

	if (!e->heaps.count)
		return;
	fprintf(out, "\nCode cache\n    %11s  %11s  %11s  %11s  %6s  heap\n", "at first", "at last", "most", "reserved",
		"full");
	for (size_t i = 0; i < e->heaps.count; i++) {
		const struct code_heap_view *h = &e->heaps.at[i];

		fprintf(out, "    %11s  %11s  %11s  %11s  %5.1f%%  %s (pid %u)\n", text_bytes(first, h->first),
			text_bytes(last, h->last), text_bytes(max, h->max), text_bytes(reserved, h->reserved),
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
	char paused[24];

	for (size_t i = 0; i < e->starts.count; i++) {
		const struct start_view *s = &e->starts.at[i];

		if (i == 0 || s->pid != s[-1].pid)
			fprintf(out, "\nStart of pid %u, sums until then\n    %10s  %8s  %8s  %8s  %10s  %10s  phase\n",
				s->pid, "at", "classes", "compiled", "threads", "exceptions", "GC");
		fprintf(out, "    %8.3f s  %8" PRIu64 "  %8" PRIu64 "  %8" PRIu64 "  %10" PRIu64 "  %10s%s%s\n",
			(double)s->at_ns / 1e9, s->loaded, s->compiled, s->threads, s->exceptions,
			text_duration(paused, s->paused_ns), *s->phase ? "  " : "", s->phase);
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
	text_more(out, loaders->sums.count, top);
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
	text_more(out, e->binds.count, top);
}
