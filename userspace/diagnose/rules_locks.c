// SPDX-License-Identifier: Apache-2.0
/* Rules about threads that wait for other threads. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "check.h"

#define SHOWN 3
#define THREADS_SHOWN 8

/* ---- deadlocks ---- */

/* In the thread dumps of the trace. */
static void dumped_deadlocks(struct check *c)
{
	const struct dumps *dumps = &c->to->dumps;

	if (!dumps->deadlocks.count || !found(c, (double)dumps->deadlocks.count))
		return;
	say(c, "%zu deadlock%s: threads wait for each other for ever", dumps->deadlocks.count,
	    plural(dumps->deadlocks.count));
	for (size_t i = 0; i < dumps->deadlocks.count && i < SHOWN; i++) {
		const struct dumps_deadlock *d = &dumps->deadlocks.at[i];
		const struct dump_thread *first = dump_deadlock(d->view, d->number), *t = first;

		do {
			const struct dump_thread *owner = &d->view->threads.at[t->owner];

			evidence(c, "pid %u: %s waits for %s, which %s has", d->view->pid, t->name,
				 *t->class ? t->class : "a lock", owner->name);
			t = owner;
		} while (t != first && c->finding->evidence.count < THREADS_SHOWN);
	}
}

static const struct thread_row *row_of(const struct wall *w, size_t thread)
{
	return table_row(&w->an->a->threads, w->threads.at[thread].thread);
}

/* Whether a thread of the process waited for a monitor for at least half of the time, until the end. */
static bool is_stuck(const struct check *c, size_t thread, uint32_t process)
{
	return c->facts->threads[thread].stuck_ns * 2 > c->facts->ns &&
	       row_of(c->facts->wall, thread)->process == process;
}

static uint64_t count_stuck(const struct check *c, uint32_t process)
{
	uint64_t stuck = 0;

	for (size_t i = 0; i < c->facts->wall->threads.count; i++)
		stuck += is_stuck(c, i, process);
	return stuck;
}

static void show_stuck(struct check *c, uint32_t process)
{
	const struct wall *w = c->facts->wall;
	char at[PLACE_TEXT], ns[QUANTITY_TEXT];

	for (size_t i = 0, shown = 0; i < w->threads.count && shown < THREADS_SHOWN; i++) {
		const struct fact_thread *t = &c->facts->threads[i];

		if (!is_stuck(c, i, process))
			continue;
		shown++;
		evidence(c, "%s (%u) has waited for a monitor for %s, and still does%s",
			 analysis_thread_name(w->an, w->threads.at[i].thread), row_of(w, i)->tid,
			 duration_text(ns, t->stuck_ns), place_text(at, w->an, t->stuck_site));
	}
}

bool has_deadlock(const struct check *c)
{
	return has_offcpu(c) || (events_recorded(c->v->an, BRAID_EVENT_TYPE_DUMP) &&
				 (c->to->dumps.deadlocks.count || !c->to->dumps.unread));
}

int rule_deadlock(struct check *c)
{
	dumped_deadlocks(c);
	for (size_t i = 0; c->facts->wall && i < c->v->jvms.count && !c->finding; i++) {
		uint64_t stuck = count_stuck(c, c->v->jvms.at[i].process);

		if (stuck < 2 || !found(c, (double)stuck))
			continue;
		say(c, "%" PRIu64 " threads of pid %u wait for monitors and never get them: mostly a deadlock", stuck,
		    c->v->jvms.at[i].pid);
		show_stuck(c, c->v->jvms.at[i].process);
	}
	return 0;
}

/* ---- locks ---- */

int rule_lock(struct check *c)
{
	const struct fact_lock *l = c->facts->locks.count ? &c->facts->locks.at[0] : NULL;
	char total[QUANTITY_TEXT], max[QUANTITY_TEXT], at[PLACE_TEXT], by[PLACE_TEXT];

	if (!l || !found(c, threads_on_average(c->facts, l->ns)))
		return 0;
	say(c, "Threads stand in line for one lock, %s: %.1f at any time", *l->name ? l->name : "of an unknown class",
	    threads_on_average(c->facts, l->ns));
	evidence(c, "%" PRIu64 " wait%s, %s in all, the longest %s at %.3f s%s", l->count, plural(l->count),
		 duration_text(total, l->ns), duration_text(max, l->max_ns),
		 (double)analysis_since(c->v->an, l->max_at_ns) / 1e9, place_text(at, c->v->an, l->site));
	if (*l->owner)
		evidence(c, "%s had it then, and released it%s", l->owner, place_text(by, c->v->an, l->owner_site));
	return 0;
}

/* ---- pools ---- */

struct pool {
	const char *name; /* pattern */
	uint32_t process, site;
	uint64_t threads, life_ns, blocked_ns, idle_ns, max_ns;
};

typedef VEC(struct pool) pool_list;

#define POOLS_MAX 256U /* names of pools that are distinguished */

/* A thread that was blocked in a task makes a pool; its other threads belong to it, whatever they did. */
static int add_worker(struct check *c, struct strpool *texts, pool_list *pools, size_t i)
{
	const struct wall *w = c->facts->wall;
	const struct wall_thread *t = &w->threads.at[i];
	const struct fact_thread *f = &c->facts->threads[i];
	const struct thread_row *row = row_of(w, i);
	const char *name = thread_pattern(texts, analysis_thread_name(w->an, t->thread));
	struct pool *p = NULL;

	if (!name)
		return -ENOMEM;
	for (size_t k = 0; k < pools->count && !p; k++)
		if (pools->at[k].process == row->process && strcmp(pools->at[k].name, name) == 0)
			p = &pools->at[k];
	if (!p && (!f->pool_ns || pools->count == POOLS_MAX))
		return 0;
	if (!p && VEC_PUSH(pools, (struct pool){.name = name, .process = row->process, .site = ROW_NONE}))
		return -ENOMEM;
	p = p ?: &pools->at[pools->count - 1];
	p->threads++;
	p->life_ns = add_saturating(p->life_ns, t->life_ns);
	p->idle_ns = add_saturating(p->idle_ns, t->ns[WALL_IDLE]);
	p->blocked_ns = add_saturating(p->blocked_ns, f->pool_ns);
	if (f->pool_max_ns > p->max_ns) {
		p->max_ns = f->pool_max_ns;
		p->site = f->pool_site;
	}
	return 0;
}

/*
 * A pool whose workers are never idle has tasks in its queue: this is about their idle time, which counts in any case.
 */
static const struct pool *starved_pool(const pool_list *pools)
{
	const struct pool *worst = NULL;

	for (size_t i = 0; i < pools->count; i++) {
		const struct pool *p = &pools->at[i];

		if (p->threads >= 2 && percent(p->idle_ns, p->life_ns) < 5 &&
		    (!worst || percent(p->blocked_ns, p->life_ns) > percent(worst->blocked_ns, worst->life_ns)))
			worst = p;
	}
	return worst;
}

int rule_pool(struct check *c)
{
	const struct wall *w = c->facts->wall;
	struct strpool texts = {0};
	pool_list pools = {0};
	const struct pool *p;
	char at[PLACE_TEXT], max[QUANTITY_TEXT];
	int err = 0;

	for (int in_tasks = 1; in_tasks >= 0; in_tasks--)
		for (size_t i = 0; i < w->threads.count && !err; i++)
			if (w->threads.at[i].life_ns && (c->facts->threads[i].pool_ns != 0) == in_tasks)
				err = add_worker(c, &texts, &pools, i);
	p = starved_pool(&pools);
	if (!err && p && found(c, percent(p->blocked_ns, p->life_ns))) {
		say(c,
		    "The pool %s has no worker left: all %" PRIu64 " wait inside their tasks, for %.0f %% of the time",
		    p->name, p->threads, percent(p->blocked_ns, p->life_ns));
		evidence(c, "the longest wait, %s, was%s", duration_text(max, p->max_ns),
			 place_text(at, c->v->an, p->site));
		evidence(c, "no worker was idle, so tasks waited in the queue");
	}
	free(pools.at);
	strpool_free(&texts);
	return err;
}

/* ---- one thread for all ---- */

int rule_one_thread(struct check *c)
{
	const struct wall *w = c->facts->wall;
	size_t worst = SIZE_MAX;
	char at[PLACE_TEXT], max[QUANTITY_TEXT];

	for (size_t i = 0; i < w->threads.count; i++) {
		const struct wall_thread *t = &w->threads.at[i];
		uint64_t active = add_saturating(t->ns[WALL_RUNNING], t->ns[WALL_RUNNABLE]);

		/* it has no rest itself, idle or not: otherwise, what it waits for is to blame */
		if (t->java && percent(active, t->life_ns) >= 70 &&
		    (worst == SIZE_MAX || c->facts->threads[i].for_it_ns > c->facts->threads[worst].for_it_ns))
			worst = i;
	}
	if (worst == SIZE_MAX || !found(c, threads_on_average(c->facts, c->facts->threads[worst].for_it_ns)))
		return 0;
	say(c, "All wait for one thread, %s, which has no rest: %.1f threads at any time",
	    analysis_thread_name(w->an, w->threads.at[worst].thread),
	    threads_on_average(c->facts, c->facts->threads[worst].for_it_ns));
	evidence(c, "it ran, or waited for a CPU, for %.0f %% of its time",
		 percent(add_saturating(w->threads.at[worst].ns[WALL_RUNNING], w->threads.at[worst].ns[WALL_RUNNABLE]),
			 w->threads.at[worst].life_ns));
	evidence(c, "the longest wait for it, %s, was%s", duration_text(max, c->facts->threads[worst].for_it_max_ns),
		 place_text(at, c->v->an, c->facts->threads[worst].for_it_site));
	return 0;
}

/* ---- virtual threads ---- */

int rule_pinned(struct check *c)
{
	const struct wall *w = c->facts->wall;
	uint64_t life_ns = 0, pinned_ns = 0, carriers = 0;
	const struct fact_thread *worst = NULL;
	char at[PLACE_TEXT], max[QUANTITY_TEXT];

	for (size_t i = 0; i < w->threads.count; i++) {
		const struct fact_thread *t = &c->facts->threads[i];

		if (!t->pinned_ns)
			continue;
		carriers++;
		life_ns = add_saturating(life_ns, facts_life_ns(c->facts, &w->threads.at[i]));
		pinned_ns = add_saturating(pinned_ns, t->pinned_ns);
		if (!worst || t->pinned_max_ns > worst->pinned_max_ns)
			worst = t;
	}
	if (!worst || !found(c, percent(pinned_ns, life_ns)))
		return 0;
	say(c, "Virtual threads pin their carriers: %" PRIu64 " carrier%s waited with them for %.0f %% of the time",
	    carriers, plural(carriers), percent(pinned_ns, life_ns));
	evidence(c, "the longest such wait, %s, was%s", duration_text(max, worst->pinned_max_ns),
		 place_text(at, c->v->an, worst->pinned_site));
	return 0;
}
