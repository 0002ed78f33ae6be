// SPDX-License-Identifier: Apache-2.0
/* Where the time of threads went, as text. `braid report --wall` calls it. */
#include <inttypes.h>
#include <string.h>

#include "events.h"
#include "wall.h"

/* ---- sums ---- */

static void text_state(FILE *out, const struct wall_sums *sums, const struct wall_count *of, enum wall_state s)
{
	char time[QUANTITY_TEXT], max[QUANTITY_TEXT], summed[QUANTITY_TEXT];

	if (!sums->ns[s])
		return;
	fprintf(out, "    %11s  %6.2f%%", duration_cell(time, 11, sums->ns[s]), percent(sums->ns[s], sums->life_ns));
	if (of[s].count)
		fprintf(out, "  %9" PRIu64 "  %10s", of[s].count, duration_cell(max, 10, of[s].max_ns));
	else
		fprintf(out, "  %9s  %10s", "-", "-");
	fprintf(out, "  %s", wall_title(s));
	if (sums->summed_ns[s] && s != WALL_RUNNING && s != WALL_UNKNOWN)
		fprintf(out, " (%s of it only counted)", duration_text(summed, sums->summed_ns[s]));
	putc('\n', out);
}

static void text_states(FILE *out, const struct wall_view *v)
{
	char life[QUANTITY_TEXT], excess[QUANTITY_TEXT];

	fprintf(out, "    %11s  %7s  %9s  %10s  state\n", "time", "share", "count", "max");
	for (int s = 0; s < WALL_STATES; s++)
		text_state(out, &v->all, v->of, (enum wall_state)s);
	fprintf(out, "    %11s  %6.2f%%  %9s  %10s  the lives of %" PRIu64 " thread%s\n",
		duration_cell(life, 11, v->all.life_ns), 100.0, "", "", v->all.threads, plural(v->all.threads));
	if (v->all.unknown)
		fprintf(out,
			"    %" PRIu64
			" thread%s no recorded life: from the first to the last time off the CPU, the rest "
			"is not known\n",
			v->all.unknown, v->all.unknown == 1 ? " has" : "s have");
	if (v->all.excess_ns)
		fprintf(out, "    the records have %s more than the threads lived, which are left out\n",
			duration_text(excess, v->all.excess_ns));
	if (v->wall->nobodys)
		fprintf(out, "    %" PRIu64 " time%s off the CPU, %s, of unknown threads %s left out\n",
			v->wall->nobodys, plural(v->wall->nobodys), duration_text(excess, v->wall->nobodys_ns),
			v->wall->nobodys == 1 ? "is" : "are");
}

/* Nobody sees the moment at which a virtual thread is unparked. */
static void text_virtual(FILE *out, const struct wall_view *v)
{
	const struct wall_sums *sums = &v->virtual;
	char life[QUANTITY_TEXT];

	if (!sums->threads)
		return;
	fputs("\nVirtual threads: what they were mounted is part of the lives above. A time for which one was parked, "
	      "blocked\nor sleeping lasts until it was mounted again, so it contains the wait for a carrier at its end\n",
	      out);
	fprintf(out, "    %11s  %7s  %9s  %10s  state\n", "time", "share", "count", "max");
	for (int s = 0; s < WALL_STATES; s++)
		text_state(out, sums, v->of_virtual, (enum wall_state)s);
	fprintf(out, "    %11s  %6.2f%%  %9s  %10s  the lives of %" PRIu64 " virtual thread%s\n",
		duration_cell(life, 11, sums->life_ns), 100.0, "", "", sums->threads, plural(sums->threads));
}

/* ---- threads ---- */

#define STATE(s) (1U << (s))

/* The columns, which are all states. */
static const struct {
	const char *title;
	uint32_t states;
} columns[] = {
	{"run", STATE(WALL_RUNNING)},
	{"ready", STATE(WALL_RUNNABLE) | STATE(WALL_CARRIER)},
	{"stop", STATE(WALL_GC) | STATE(WALL_SAFEPOINT)},
	{"lock", STATE(WALL_MONITOR)},
	{"park", STATE(WALL_PARKED)},
	{"wait", STATE(WALL_WAITING)},
	{"sleep", STATE(WALL_SLEEPING)},
	{"I/O", STATE(WALL_POLL) | STATE(WALL_SOCKET) | STATE(WALL_PIPE) | STATE(WALL_FILE) | STATE(WALL_BLOCK_IO) |
			STATE(WALL_FAULT)},
	{"other", STATE(WALL_FUTEX) | STATE(WALL_STOPPED) | STATE(WALL_CHILD) | STATE(WALL_CALL) | STATE(WALL_BLOCKED)},
	{"idle", STATE(WALL_IDLE)},
	{"?", STATE(WALL_UNKNOWN)},
};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static void text_shares(FILE *out, const struct wall_sums *s)
{
	char life[QUANTITY_TEXT];

	fprintf(out, "  %10s ", duration_cell(life, 10, s->life_ns));
	for (size_t c = 0; c < COLUMNS; c++) {
		uint64_t ns = 0;

		for (int state = 0; state < WALL_STATES; state++)
			if (columns[c].states >> state & 1)
				ns = add_saturating(ns, s->ns[state]);
		if (ns)
			fprintf(out, " %5.1f", percent(ns, s->life_ns));
		else
			fprintf(out, " %5s", "-");
	}
}

static bool is_idle(const struct wall_sums *s)
{
	return s->ns[WALL_IDLE] >= s->life_ns - s->life_ns / 20;
}

static void text_group(FILE *out, const struct wall_view *v, const struct wall_group *g)
{
	const struct thread_row *t = table_row(&v->wall->an->a->threads, g->thread);

	text_shares(out, &g->sums);
	if (g->virtual)
		fprintf(out, "    %s (%" PRIu64 " virtual thread%s)\n", g->name, g->sums.threads,
			plural(g->sums.threads));
	else if (g->sums.threads == 1)
		fprintf(out, "    %s (%u)\n", analysis_thread_name(v->wall->an, g->thread), t->tid);
	else
		fprintf(out, "    %s (%" PRIu64 " threads)\n", g->name, g->sums.threads);
}

static void add_to(struct wall_sums *to, const struct wall_sums *s)
{
	to->threads += s->threads;
	to->life_ns = add_saturating(to->life_ns, s->life_ns);
	for (int i = 0; i < WALL_STATES; i++)
		to->ns[i] = add_saturating(to->ns[i], s->ns[i]);
}

static void text_folded(FILE *out, const struct wall_sums *s, const char *what, bool virtual)
{
	if (!s->threads)
		return;
	text_shares(out, s);
	fprintf(out, "    %s (%" PRIu64 " %sthread%s)\n", what, s->threads, virtual ? "virtual " : "",
		plural(s->threads));
}

/*
 * The threads of a process, or its virtual threads. Those that were idle for at least 95 % of their life are one line.
 */
static void text_groups(FILE *out, const struct wall_view *v, const struct wall_process *p, bool virtual, unsigned top)
{
	struct wall_sums idle = {0}, more = {0};
	unsigned shown = 0;

	for (size_t i = p->first; i < p->first + p->count; i++) {
		const struct wall_group *g = &v->groups.at[i];

		if (g->virtual != virtual)
			continue;
		if (is_idle(&g->sums))
			add_to(&idle, &g->sums);
		else if (shown++ < top)
			text_group(out, v, g);
		else
			add_to(&more, &g->sums);
	}
	text_folded(out, &more, "and others", virtual);
	text_folded(out, &idle, "idle", virtual);
}

static void text_process(FILE *out, const struct wall_view *v, const struct wall_process *p, unsigned top)
{
	char label[PROCESS_LABEL_MAX];

	text_shares(out, &p->sums);
	fprintf(out, "  %s (pid %u, %" PRIu64 " thread%s)\n", analysis_label(v->wall->an, p->id, label), p->pid,
		p->sums.threads, plural(p->sums.threads));
	if (p->count == 1 && strcmp(v->groups.at[p->first].name, p->name) == 0)
		return; /* a line that says the same */
	text_groups(out, v, p, false, top);
	text_groups(out, v, p, true, top);
}

static void text_processes(FILE *out, const struct wall_view *v, unsigned top)
{
	fprintf(out, "\nThreads: their life, and what was how much of it, in %%\n  %10s ", "life");
	for (size_t c = 0; c < COLUMNS; c++)
		fprintf(out, " %5s", columns[c].title);
	fputs("  process, threads\n", out);
	for (size_t i = 0; i < v->processes.count && i < top; i++)
		text_process(out, v, &v->processes.at[i], top);
	text_more(out, 4, v->processes.count, top);
}

/* ---- waits ---- */

static void text_waits(FILE *out, const struct wall_view *v, unsigned top)
{
	const struct analysis *an = v->wall->an;
	char time[QUANTITY_TEXT], max[QUANTITY_TEXT];

	if (!v->waits.count)
		return;
	fprintf(out, "\nWhat was waited for\n    %11s  %9s  %10s  reason, object, and where\n", "time", "count", "max");
	for (size_t i = 0; i < v->waits.count && i < top; i++) {
		const struct wall_wait *w = &v->waits.at[i];

		fprintf(out, "    %11s  %9" PRIu64 "  %10s  %s", duration_cell(time, 11, w->ns), w->count,
			duration_cell(max, 10, w->max_ns), wall_key(w->state));
		if (*w->object)
			fprintf(out, " %s", w->object);
		fprintf(out, " in %.*s\n", wait_site_length(an, w->site), events_site_name(an, w->site));
	}
	text_more(out, 4, v->waits.count, top);
}

/* Each waker has a line of its own, and its own wait, too. */
static void text_chain(FILE *out, const char *text)
{
	const char *arrow, *after;

	for (; (arrow = strstr(text, " <- ")); text = arrow + 4) {
		after = strstr(text, ", after ");
		if (after && after < arrow)
			fprintf(out, "%.*s\n%*s%.*s\n%*s<- ", (int)(after - text), text, 46, "",
				(int)(arrow - after - 2), after + 2, 40, "");
		else
			fprintf(out, "%.*s\n%*s<- ", (int)(arrow - text), text, 40, "");
	}
	after = strstr(text, ", after ");
	if (after)
		fprintf(out, "%.*s\n%*s%s\n", (int)(after - text), text, 46, "", after + 2);
	else
		fprintf(out, "%s\n", text);
}

static void text_chains(FILE *out, const char *title, const wall_chain_list *list, unsigned top)
{
	char time[QUANTITY_TEXT], max[QUANTITY_TEXT];

	if (!list->count)
		return;
	fprintf(out, "\n%s\n    %11s  %9s  %10s  who <- woken by whom\n", title, "time", "count", "max");
	for (size_t i = 0; i < list->count && i < top; i++) {
		fprintf(out, "    %11s  %9" PRIu64 "  %10s  ", duration_cell(time, 11, list->at[i].ns),
			list->at[i].count, duration_cell(max, 10, list->at[i].max_ns));
		text_chain(out, list->at[i].text);
	}
	text_more(out, 4, list->count, top);
}

void wall_text(FILE *out, const struct wall_view *v, unsigned top)
{
	fputs("Where the time went\n", out);
	text_states(out, v);
	text_virtual(out, v);
	text_processes(out, v, top);
	text_waits(out, v, top);
	text_chains(out, "Wakers", &v->wakes, top);
	text_chains(out, "Chains of waits: each waker's own wait that ended meanwhile", &v->chains, top);
}
