// SPDX-License-Identifier: Apache-2.0
#include "shot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include <analyze/events.h>
#include <util/quantity.h>

/* ---- tables ---- */

uint32_t top_table_find(const struct top_table *t, uint64_t key)
{
	uint32_t at = u64map_get(&t->row_of, key);

	return at ? at - 1 : ROW_NONE;
}

struct top_row *top_table_put(struct top_table *t, uint32_t parent, const char *name, uint64_t more)
{
	const struct top_row *up = parent ? &t->rows.at[parent - 1] : NULL;
	uint64_t key = XXH3_64bits_withSeed(name, strlen(name), (up ? up->key : 0) + more);
	uint32_t *at = u64map_put(&t->row_of, key);

	if (!at)
		return NULL;
	if (!*at) {
		if (VEC_PUSH(&t->rows, (struct top_row){.name = name,
							.note = "",
							.key = key,
							.parent = parent,
							.depth = up ? up->depth + 1 : 0,
							.domain = DOMAIN_CLASS}))
			return NULL;
		*at = (uint32_t)t->rows.count;
		if (parent)
			t->rows.at[parent - 1].has_children = true;
	}
	return &t->rows.at[*at - 1];
}

void top_table_free(struct top_table *t)
{
	free(t->rows.at);
	u64map_free(&t->row_of);
	*t = (struct top_table){0};
}

uint32_t top_table_place(const struct top_table *t, const struct top_row *r)
{
	return (uint32_t)(r - t->rows.at) + 1;
}

/* Agents report these, so without one that does, nothing is known of them. An import has the events only. */
static void set_recorded_by_agents(const struct shot *s, struct top_table *t, enum braid_event_type type)
{
	t->asked_for = events_recorded(s->analysis, type);
	t->recorded = t->asked_for && t->rows.count;
	for (size_t i = 0; i < s->views->jvms.count && !t->recorded; i++)
		t->recorded = events_recorded_of(s->analysis, s->views->jvms.at[i].process, type);
}

/* ---- methods ---- */

static int fill_methods(struct shot *s)
{
	struct top_table *t = &s->tables[TOP_METHODS];
	uint64_t all = s->analysis->samples.quality.total;

	t->recorded = events_recorded(s->analysis, BRAID_EVENT_TYPE_CPU);
	for (size_t i = 0; i < s->views->methods.count; i++) {
		const struct method_view *m = &s->views->methods.at[i];
		struct top_row *r = top_table_put(t, 0, m->name, m->domain);

		if (!r)
			return -ENOMEM;
		r->note = kind_name(m->kind);
		r->domain = (uint8_t)m->domain;
		r->value[0] = percent(m->self, all);
		r->value[1] = percent(m->total, all);
		r->value[2] = (double)m->self;
		s->figures.by_domain[m->domain] += m->self;
	}
	return 0;
}

/* ---- threads ---- */

/* The columns that states of a thread are shown in. */
enum { THREAD_CPU, THREAD_QUEUE, THREAD_LOCK, THREAD_WAIT, THREAD_IO, THREAD_IDLE, THREAD_ID };

static int column_of(enum wall_state state)
{
	switch (state) {
	case WALL_RUNNABLE:
	case WALL_CARRIER:
		return THREAD_QUEUE;
	case WALL_MONITOR:
	case WALL_PARKED:
		return THREAD_LOCK;
	case WALL_SOCKET:
	case WALL_PIPE:
	case WALL_FILE:
	case WALL_BLOCK_IO:
	case WALL_FAULT:
		return THREAD_IO;
	case WALL_IDLE:
		return THREAD_IDLE;
	case WALL_RUNNING:
	case WALL_UNKNOWN:
		return -1;
	default:
		return THREAD_WAIT;
	}
}

/* The state in which the thread was for the longest time. */
static const char *most_of(const struct wall_thread *w, double running_ns)
{
	enum wall_state most = WALL_RUNNING;
	double longest = running_ns;

	for (int state = WALL_RUNNABLE; state < WALL_UNKNOWN; state++)
		if ((double)w->ns[state] > longest) {
			longest = (double)w->ns[state];
			most = (enum wall_state)state;
		}
	return longest > 0 ? wall_key(most) : "";
}

static int add_thread(struct shot *s, uint32_t index, uint64_t weight)
{
	const struct wall_thread *w = &s->wall->threads.at[index];
	const struct thread_row *thread = table_row(&s->analyzer->threads, w->thread);
	double shown = (double)s->figures.shown_ns;
	double running = s->figures.frequency_hz ? (double)weight * 1e9 / (double)s->figures.frequency_hz : 0;
	struct top_row *r = top_table_put(&s->tables[TOP_THREADS], 0, analysis_thread_name(s->analysis, w->thread),
					  (uint64_t)thread->process << 32 | thread->tid);

	if (!r)
		return -ENOMEM;
	if (s->figures.frequency_hz)
		r->value[THREAD_CPU] += 100 * running / shown;
	for (int column = THREAD_QUEUE; column < THREAD_ID && !s->off_cpu; column++)
		r->value[column] = -1;
	for (int state = 0; state < WALL_STATES && s->off_cpu; state++)
		if (column_of((enum wall_state)state) >= 0)
			r->value[column_of((enum wall_state)state)] += 100 * (double)w->ns[state] / shown;
	r->value[THREAD_ID] = thread->virtual ? -1 : (double)thread->tid;
	r->note = most_of(w, running);
	r->of = index;
	r->domain = w->java ? DOMAIN_JAVA : DOMAIN_NATIVE;
	return 0;
}

static int fill_threads(struct shot *s)
{
	size_t count = s->analyzer->threads.count;
	uint64_t *weight = calloc(count + 1, sizeof(*weight));
	int err = weight ? 0 : -ENOMEM;

	s->tables[TOP_THREADS].recorded = true;
	s->off_cpu = events_recorded(s->analysis, BRAID_EVENT_TYPE_OFFCPU);
	for (size_t i = 0; i < count && !err; i++)
		weight[s->wall->leader[i]] += s->analysis->thread_weight[i];
	for (size_t i = 0; i < count && !err; i++)
		if (weight[i] || s->wall->threads.at[i].life_ns)
			err = add_thread(s, (uint32_t)i, weight[i]);
	free(weight);
	return err;
}

/* ---- locks and allocations ---- */

/* Both have a share, an amount, a number and a longest one, by class and then by site. */
#define OPEN_SHARE 10 /* rows of at least this share show their children */

enum { SUM_SHARE, SUM_AMOUNT, SUM_COUNT, SUM_LONGEST };

static void add_event(struct top_row *r, const struct event *e)
{
	r->value[SUM_AMOUNT] += (double)e->weight;
	r->value[SUM_COUNT] += (double)e->count;
	if ((double)e->longest > r->value[SUM_LONGEST])
		r->value[SUM_LONGEST] = (double)e->longest;
	r->of = e->row->name;
}

static int fill_sums(struct shot *s, enum top_view view, uint32_t kind, enum braid_event_type type)
{
	struct top_table *t = &s->tables[view];
	double all = 0;

	for (size_t i = 0; i < s->analyzer->events.count; i++) {
		struct top_row *class, *site;
		struct event e;

		if (s->analyzer->events.at[i].kind != kind || !events_get(s->analysis, i, &e))
			continue;
		class = top_table_put(t, 0, *e.name ? e.name : "[unknown]", 0);
		if (!class)
			return -ENOMEM;
		add_event(class, &e);
		site = top_table_put(t, top_table_place(t, class),
				     events_site_name(s->analysis, event_site(s->analysis, &e)), 0);
		if (!site)
			return -ENOMEM;
		add_event(site, &e);
		site->domain = DOMAIN_JAVA;
		all += (double)e.weight;
	}
	for (size_t i = 0; i < t->rows.count; i++) {
		struct top_row *r = &t->rows.at[i];

		r->value[SUM_SHARE] = all > 0 ? 100 * r->value[SUM_AMOUNT] / all : 0;
		r->open = r->value[SUM_SHARE] >= OPEN_SHARE;
	}
	set_recorded_by_agents(s, t, type);
	if (view == TOP_ALLOC)
		s->figures.alloc_bytes = (uint64_t)all;
	else
		s->figures.blocked_ns = (uint64_t)all;
	return 0;
}

/* Who had the lock of a class for the longest time while others waited. */
static void name_owners(struct shot *s)
{
	struct top_table *t = &s->tables[TOP_LOCKS];

	for (size_t i = 0; i < s->views->events->blockers.count; i++) {
		const struct blocker_view *b = &s->views->events->blockers.at[i];

		for (size_t k = 0; k < t->rows.count; k++) /* the first one has waited for the longest */
			if (!t->rows.at[k].parent && !*t->rows.at[k].note && !strcmp(t->rows.at[k].name, b->monitor))
				t->rows.at[k].note = b->owner_name;
	}
}

/* ---- collections ---- */

enum { GC_SHARE, GC_TIME, GC_COUNT, GC_LONGEST };

static void add_gc(struct top_row *r, const struct gc_sum *sum)
{
	r->value[GC_TIME] += (double)sum->total_ns;
	r->value[GC_COUNT] += (double)sum->count;
	if ((double)sum->max_ns > r->value[GC_LONGEST])
		r->value[GC_LONGEST] = (double)sum->max_ns;
}

static int add_gc_sum(struct shot *s, const struct gc_sum *sum, const char *note)
{
	struct top_table *t = &s->tables[TOP_GC];
	const char *below = *sum->what ? sum->what : sum->cause;
	struct top_row *r = top_table_put(t, 0, *sum->name ? sum->name : "[unknown]", (uint64_t)*note);

	if (!r)
		return -ENOMEM;
	r->note = note;
	add_gc(r, sum);
	if (!*below)
		return 0;
	r = top_table_put(t, top_table_place(t, r), below, 0);
	if (!r)
		return -ENOMEM;
	r->note = *sum->what ? sum->cause : "";
	add_gc(r, sum);
	return 0;
}

static int fill_gc(struct shot *s)
{
	const struct gc_view *g = &s->views->gc;
	struct top_table *t = &s->tables[TOP_GC];
	uint64_t last_ns = 0;
	int err = 0;

	for (size_t i = 0; i < g->pauses.count && !err; i++)
		err = add_gc_sum(s, &g->pauses.at[i], "pause");
	for (size_t i = 0; i < g->phases.count && !err; i++)
		err = add_gc_sum(s, &g->phases.at[i], "concurrent");
	set_recorded_by_agents(s, t, BRAID_EVENT_TYPE_GC);
	for (size_t i = 0; i < t->rows.count; i++)
		t->rows.at[i].value[GC_SHARE] = 100 * t->rows.at[i].value[GC_TIME] / (double)s->figures.shown_ns;
	for (size_t i = 0; i < g->longest.count; i++)
		if (g->longest.at[i].used_after && g->longest.at[i].start_ns >= last_ns) {
			last_ns = g->longest.at[i].start_ns;
			s->figures.heap_after = g->longest.at[i].used_after;
		}
	s->figures.gc_ns = g->total_ns;
	return err;
}

/* ---- figures ---- */

static void say_what(struct shot *s)
{
	const struct process_view *p = s->views->processes.at;
	size_t count = s->views->processes.count;
	char label[PROCESS_LABEL_MAX];

	if (strcmp(analyzer_info(s->analyzer, "record.target"), "-a") == 0)
		snprintf(s->figures.what, sizeof(s->figures.what), "whole machine");
	else if (count == 1)
		snprintf(s->figures.what, sizeof(s->figures.what), "%s %u",
			 analysis_label(s->analysis, p->process, label), p->pid);
	else if (count)
		snprintf(s->figures.what, sizeof(s->figures.what), "%s %u and %zu more",
			 analysis_label(s->analysis, p->process, label), p->pid, count - 1);
}

static void fill_figures(struct shot *s)
{
	struct top_figures *f = &s->figures;

	f->shown_ns = analysis_shown_ns(s->analysis) ?: 1;
	f->samples = s->analysis->samples.quality.total;
	f->frequency_hz = analyzer_frequency(s->analyzer);
	f->cpus = (unsigned)strtoul(analyzer_info(s->analyzer, "host.cpus"), NULL, 10);
	f->cpus_busy = f->frequency_hz ? (double)f->samples * 1e9 / (double)f->frequency_hz / (double)f->shown_ns : -1;
	f->lost = analyzer_lost(s->analyzer);
	say_what(s);
}

/* ---- life ---- */

int shot_new(struct shot **out, struct analyzer *a)
{
	struct shot *s = *out = calloc(1, sizeof(*s));
	int err = s ? 0 : -ENOMEM;

	if (!s) {
		analyzer_free(a);
		return err;
	}
	s->analyzer = a;
	err = analysis_new(&s->analysis, a, NULL);
	err = err ?: views_new(&s->views, s->analysis);
	err = err ?: wall_new(&s->wall, s->analysis);
	if (!err) {
		fill_figures(s);
		err = fill_methods(s);
	}
	err = err ?: fill_threads(s);
	err = err ?: fill_sums(s, TOP_LOCKS, BRAID_JVM_LOCK, BRAID_EVENT_TYPE_LOCK);
	err = err ?: fill_sums(s, TOP_ALLOC, BRAID_JVM_ALLOC, BRAID_EVENT_TYPE_ALLOC);
	err = err ?: fill_gc(s);
	if (!err) {
		name_owners(s);
		return 0;
	}
	shot_free(s);
	*out = NULL;
	return err;
}

void shot_free(struct shot *s)
{
	if (!s)
		return;
	for (int view = 0; view < TOP_VIEWS; view++)
		top_table_free(&s->tables[view]);
	wall_free(s->wall);
	views_free(s->views);
	analysis_free(s->analysis);
	analyzer_free(s->analyzer);
	free(s);
}
