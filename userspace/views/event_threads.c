// SPDX-License-Identifier: Apache-2.0
/* The report's tables of threads: who blocked whom, and the life of each thread. event_views.c calls it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event_views.h"

#include <util/compare.h>

/* ---- who blocked whom ---- */

static int compare_same(const void *x, const void *y)
{
	const struct blocker_view *p = x, *q = y;
	int c = strcmp(p->blocked_name, q->blocked_name);

	if (!c)
		c = strcmp(p->owner_name, q->owner_name);
	if (!c)
		c = strcmp(p->monitor, q->monitor);
	if (!c)
		c = compare_u64(p->site, q->site);
	if (!c)
		c = compare_u64(p->blocked, q->blocked);
	return c ? c : compare_u64(p->owner, q->owner);
}

static int compare_blockers(const void *x, const void *y)
{
	const struct blocker_view *p = x, *q = y;
	int c = compare_u64(q->ns, p->ns);

	if (!c)
		c = compare_u64(q->count, p->count);
	return c ? c : compare_same(x, y);
}

/* Merges equal rows and sorts by weight, heaviest first; returns the number of rows left. */
static size_t merge_blockers(struct blocker_view *b, size_t count)
{
	size_t n = 0;

	if (!count)
		return 0;
	qsort(b, count, sizeof(*b), compare_same);
	for (size_t i = 1; i < count; i++) {
		if (compare_same(&b[n], &b[i]) != 0) {
			b[++n] = b[i];
			continue;
		}
		b[n].count = add_saturating(b[n].count, b[i].count);
		b[n].ns = add_saturating(b[n].ns, b[i].ns);
		if (b[i].max_ns > b[n].max_ns)
			b[n].max_ns = b[i].max_ns;
	}
	qsort(b, n + 1, sizeof(*b), compare_blockers);
	return n + 1;
}

const char *thread_pattern(struct strpool *texts, const char *name)
{
	size_t length = strlen(name), stem = length;
	char text[256];
	uint32_t id;

	while (stem && name[stem - 1] >= '0' && name[stem - 1] <= '9')
		stem--;
	if (stem == length || !stem || stem >= sizeof(text) - 1)
		return name;
	memcpy(text, name, stem);
	text[stem] = '*';
	id = strpool_add(texts, text, stem + 1);
	return id == STRPOOL_FAILED ? NULL : strpool_get(texts, id);
}

static int view_pools(struct event_views *v)
{
	for (size_t i = 0; i < v->blockers.count; i++) {
		struct blocker_view b = v->blockers.at[i];

		b.blocked = b.owner = ROW_NONE;
		b.blocked_name = thread_pattern(&v->texts, b.blocked_name);
		b.owner_name = thread_pattern(&v->texts, b.owner_name);
		if (!b.blocked_name || !b.owner_name || VEC_PUSH(&v->pools, b))
			return -ENOMEM;
	}
	v->pools.count = merge_blockers(v->pools.at, v->pools.count);
	return 0;
}

/* A method at another line or in another form counts as the same site. */
static uint32_t same_site(const struct analysis *an, uint32_t *site_of, uint32_t site)
{
	uint32_t *first;

	if (site == ROW_NONE)
		return site;
	first = &site_of[an->syms.at[an->xframes.at[site].sym].name];
	if (!*first)
		*first = site + 1;
	return *first - 1;
}

static int view_blockers(struct event_views *v, const struct analysis *an)
{
	uint32_t *site_of = calloc(an->names.strings.count + 1, sizeof(*site_of)); /* per name: an xframe + 1 */
	int err = site_of ? 0 : -ENOMEM;

	for (size_t i = 0; i < an->a->events.count && !err; i++) {
		struct blocker_view b = {.count = 1};
		struct event e;

		if (an->a->events.at[i].kind != BRAID_JVM_LOCK || !events_get(an, i, &e))
			continue;
		b.blocked = e.thread;
		b.owner = e.other;
		b.blocked_name = analysis_thread_name(an, e.thread);
		b.owner_name = e.other == ROW_NONE ? "" : analysis_thread_name(an, e.other);
		b.monitor = *e.name ? e.name : "[unknown]";
		b.site = same_site(an, site_of, events_site(an, e.other_stack));
		b.ns = b.max_ns = e.duration_ns;
		err = VEC_PUSH(&v->blockers, b);
	}
	free(site_of);
	v->blockers.count = merge_blockers(v->blockers.at, v->blockers.count);
	return err ?: view_pools(v);
}

/* ---- lives ---- */

/* The part of a time off the CPU in which the thread could not run. A window may leave out the end, where it could. */
static uint64_t blocked_ns(const struct event *e)
{
	bool runnable = BRAID_OFFCPU_CLASS(e->row->flags) == BRAID_OFFCPU_RUNNABLE;
	uint64_t ready_ns = e->row->value < e->row->duration_ns ? e->row->value : e->row->duration_ns;
	uint64_t until_ns = event_end_ns(e->row) - ready_ns, end_ns = add_saturating(e->start_ns, e->duration_ns);

	if (runnable)
		return 0;
	if (e->summed)
		return e->weight;
	if (until_ns > end_ns)
		until_ns = end_ns;
	return until_ns > e->start_ns ? until_ns - e->start_ns : 0;
}

static void add_to_life(struct life_view *l, const struct event *e)
{
	switch (e->kind) {
	case BRAID_JVM_THREAD_START:
		l->started_ns = e->row->time_ns;
		l->reported = true;
		break;
	case BRAID_JVM_THREAD_END:
		l->ended_ns = e->row->time_ns;
		l->cpu_ns = e->row->value;
		l->system_ns = e->row->weight;
		l->reported = true;
		break;
	case BRAID_JVM_THREAD_CPU:
		l->cpu_ns = e->row->value;
		l->system_ns = e->row->weight;
		l->reported = true;
		break;
	case BRAID_JVM_LOCK:
		l->lock_ns = add_saturating(l->lock_ns, e->duration_ns);
		break;
	case BRAID_JVM_WAIT:
		l->waited_ns = add_saturating(l->waited_ns, e->duration_ns);
		break;
	case BRAID_JVM_OFFCPU:
		l->blocked_ns = add_saturating(l->blocked_ns, blocked_ns(e));
		break;
	case BRAID_JVM_ALLOC:
		l->allocated = add_saturating(l->allocated, e->weight);
		break;
	default:
		break;
	}
}

static int compare_lives(const void *x, const void *y)
{
	const struct life_view *p = x, *q = y;
	int c = compare_u64(q->cpu_ns, p->cpu_ns);

	if (!c)
		c = compare_u64(q->samples, p->samples);
	if (!c)
		c = compare_u64(p->started_ns, q->started_ns);
	return c ? c : compare_u64(p->thread, q->thread);
}

static int view_lives(struct event_views *v, const struct analysis *an)
{
	size_t count = an->a->threads.count, n = 0;
	struct life_view *lives = NULL;
	struct event e;

	if (!v->kinds[BRAID_JVM_THREAD_START].count && !v->kinds[BRAID_JVM_THREAD_END].count &&
	    !v->kinds[BRAID_JVM_THREAD_CPU].count)
		return 0;
	if (VEC_RESERVE(&v->lives, count + 1))
		return -ENOMEM;
	lives = v->lives.at;
	memset(lives, 0, (count + 1) * sizeof(*lives));
	for (size_t i = 0; i < an->a->events.count; i++)
		if (events_get_summed(an, i, &e) && e.thread != ROW_NONE)
			add_to_life(&lives[e.thread], &e);
	for (size_t i = 0; i < count; i++) {
		lives[i].thread = (uint32_t)i;
		lives[i].samples = an->thread_weight[i];
		if (lives[i].reported ||
		    ((const struct thread_row *)table_row(&an->a->threads, i))->flags & TRACE_THREAD_JAVA)
			lives[n++] = lives[i];
	}
	v->lives.count = n;
	if (n)
		qsort(lives, n, sizeof(*lives), compare_lives);
	return 0;
}

int event_views_threads(struct event_views *v, const struct analysis *an)
{
	return view_blockers(v, an) ?: view_lives(v, an);
}
