// SPDX-License-Identifier: Apache-2.0
/*
 * Lanes of CPUs: who ran on each. A thread came back to a CPU after one time off it, and left one for the next; if both
 * are the same, it ran there. Where this says nothing, there are samples.
 */
#include <stdlib.h>
#include <string.h>

#include <util/search.h>

#include "lanes.h"

#define CPUS_MAX 4096U	     /* of a larger number there is no lane */
#define NO_PERIOD_NS 1000000 /* the period of samples if the recording does not say it */

struct run {
	uint64_t start_ns, end_ns; /* on the page */
	uint32_t cpu;
	uint32_t thread; /* row */
	bool sampled;
};

typedef VEC(struct run) run_list;

struct cpus {
	struct lanes lanes;
	run_list exact, sampled, all;
};

static int add_run(struct page *p, run_list *to, const struct run *run)
{
	struct run r = *run;

	r.start_ns = lanes_time(p, run->start_ns);
	r.end_ns = lanes_time(p, run->end_ns);
	return r.start_ns < r.end_ns && r.cpu < CPUS_MAX ? VEC_PUSH(to, r) : 0;
}

/* ---- by times off the CPU ---- */

static int find_runs(struct page *p, const struct wall *w, const struct wall_thread *t, run_list *to)
{
	struct run run = {.start_ns = t->start_ns, .thread = t->thread, .cpu = UINT32_MAX};
	bool began = t->known;
	int err = 0;

	for (size_t i = t->rows.first; i < t->rows.first + t->rows.count && !err; i++) {
		const struct jvm_event_row *r = &w->an->a->events.at[w->rows[i]];

		if (r->kind != BRAID_JVM_OFFCPU || !BRAID_OFFCPU_CLASS(r->flags))
			continue;
		run.end_ns = r->time_ns;
		if (began && !(r->flags & BRAID_OFFCPU_BEFORE) &&
		    (run.cpu == UINT32_MAX || run.cpu == (uint32_t)r->weight)) {
			run.cpu = (uint32_t)r->weight;
			err = add_run(p, to, &run);
		}
		began = !(r->flags & BRAID_OFFCPU_OPEN);
		run.start_ns = add_saturating(r->time_ns, r->duration_ns);
		run.cpu = (uint32_t)(r->weight >> 32);
	}
	run.end_ns = t->end_ns;
	return err ?: t->known && began ? add_run(p, to, &run) : 0;
}

static int compare(const void *x, const void *y)
{
	const struct run *p = x, *q = y;

	if (p->cpu != q->cpu)
		return p->cpu < q->cpu ? -1 : 1;
	if (p->start_ns != q->start_ns)
		return p->start_ns < q->start_ns ? -1 : 1;
	if (p->end_ns != q->end_ns)
		return p->end_ns > q->end_ns ? -1 : 1;
	return p->thread < q->thread ? -1 : p->thread > q->thread;
}

/* Times off the CPU that were too short for a record are inside of runs: who came later ran. */
static int flatten(run_list *list, run_list *to)
{
	run_list open = {0};
	uint64_t time_ns = 0;
	int err = 0;

	VEC_SORT(list, compare);
	for (size_t i = 0; i <= list->count && !err; i++) {
		const struct run *next = i < list->count ? &list->at[i] : NULL;

		while (open.count && !err) {
			struct run *top = &open.at[open.count - 1], part = *top;
			bool same = next && next->cpu == top->cpu;

			part.start_ns = time_ns > top->start_ns ? time_ns : top->start_ns;
			part.end_ns = same && next->start_ns < top->end_ns ? next->start_ns : top->end_ns;
			if (part.start_ns < part.end_ns) {
				err = VEC_PUSH(to, part);
				time_ns = part.end_ns;
			}
			if (same && next->start_ns < top->end_ns)
				break;
			open.count--;
		}
		if (next && (!i || next->cpu != list->at[i - 1].cpu))
			time_ns = 0;
		err = err ?: next ? VEC_PUSH(&open, *next) : 0;
	}
	free(open.at);
	return err;
}

/* ---- by samples ---- */

static int find_samples(struct page *p, const struct wall *w, run_list *to)
{
	const struct analysis *an = p->an;
	uint64_t half_ns = (analyzer_period_ns(an->a) ?: NO_PERIOD_NS) / 2;
	int err = 0;

	for (size_t i = 0; i < an->a->samples.count && !err; i++) {
		const struct sample *s = &an->a->samples.at[i];
		struct stack_sum sum;
		struct run run = {.cpu = s->cpu, .sampled = true};

		if (!analysis_selects_time(an, s->time_ns) || !analysis_selects_span(an, s->span) ||
		    !analysis_sum_of(an, s->thread, s->node, s->weight, &sum) || sum.thread == ROW_NONE)
			continue;
		run.thread = w->threads.at[w->leader[sum.thread]].thread;
		run.start_ns = s->time_ns > half_ns ? s->time_ns - half_ns : 0;
		run.end_ns = add_saturating(s->time_ns, half_ns);
		err = add_run(p, to, &run);
	}
	return err;
}

/* The part of a sample's time in which nothing is known exactly, from `from_ns` on: what lies behind an exact run is
 * left out. */
static int put_sampled(run_list *to, const struct run *s, uint64_t from_ns, const struct run *exact)
{
	struct run r = *s, *last = to->count ? &to->at[to->count - 1] : NULL;

	if (r.start_ns < from_ns)
		r.start_ns = from_ns;
	if (exact && exact->cpu == r.cpu && exact->start_ns < r.end_ns)
		r.end_ns = exact->start_ns;
	if (r.start_ns >= r.end_ns)
		return 0;
	if (last && last->sampled && last->cpu == r.cpu && last->thread == r.thread &&
	    r.start_ns <= last->end_ns + 1000) {
		last->end_ns = r.end_ns;
		return 0;
	}
	return VEC_PUSH(to, r);
}

static int merge(struct cpus *k)
{
	const run_list *exact = &k->exact, *sampled = &k->sampled;
	uint64_t time_ns = 0;
	uint32_t cpu = UINT32_MAX;
	size_t e = 0, s = 0;
	int err = 0;

	while ((e < exact->count || s < sampled->count) && !err) {
		const struct run *next = e < exact->count ? &exact->at[e] : NULL;
		bool is_exact = next && (s >= sampled->count || compare(next, &sampled->at[s]) <= 0);
		const struct run *run = is_exact ? next : &sampled->at[s];

		if (run->cpu != cpu)
			time_ns = 0;
		cpu = run->cpu;
		if (is_exact)
			err = VEC_PUSH(&k->all, *run);
		else
			err = put_sampled(&k->all, run, time_ns, next);
		e += is_exact;
		s += !is_exact;
		if (k->all.count && k->all.at[k->all.count - 1].cpu == cpu)
			time_ns = k->all.at[k->all.count - 1].end_ns;
	}
	return err;
}

/* ---- lanes ---- */

static int measure_cpus(struct cpus *k)
{
	uint32_t number;
	int err = 0;

	for (size_t i = 0; i < k->all.count && !err; i++) {
		const struct run *r = &k->all.at[i];

		if (!i || r->cpu != k->all.at[i - 1].cpu)
			err = lanes_begin(&k->lanes, r->cpu);
		err = err ?: page_thread(k->lanes.page, r->thread, &number)
			  ?: lanes_measure(&k->lanes, number + 1, r->start_ns, r->end_ns);
		if (!err && (i + 1 == k->all.count || r->cpu != k->all.at[i + 1].cpu))
			err = lanes_end(&k->lanes);
	}
	return err;
}

static int write_cpu(struct cpus *k, struct lane *lane)
{
	struct page *p = k->lanes.page;
	struct run first = {.cpu = lane->id, .end_ns = UINT64_MAX};
	uint32_t number;
	size_t low = SEARCH(i, 0, k->all.count, compare(&k->all.at[i], &first) < 0);
	bool kept;
	int err = 0;

	for (size_t i = low; i < k->all.count && k->all.at[i].cpu == lane->id && !err; i++) {
		const struct run *r = &k->all.at[i];

		err = lanes_keep(&k->lanes, lane, r->start_ns, r->end_ns, &kept);
		if (kept)
			err = err ?: page_thread(p, r->thread, &number)
				  ?: pack_put(&lane->segments, (uint64_t)number * 2 + r->sampled);
	}
	json_open(&p->j, NULL, '{');
	json_number(&p->j, "cpu", lane->id);
	err = err ?: lanes_write(&k->lanes, lane);
	json_close(&p->j, '}');
	return err;
}

static int find_all(struct cpus *k, const struct wall *w)
{
	run_list runs = {0};
	int err = 0;

	for (size_t i = 0; i < w->threads.count && !err; i++)
		if (w->threads.at[i].life_ns)
			err = find_runs(k->lanes.page, w, &w->threads.at[i], &runs);
	err = err ?: flatten(&runs, &k->exact) ?: find_samples(k->lanes.page, w, &k->sampled);
	free(runs.at);
	VEC_SORT(&k->sampled, compare);
	return err ?: merge(k);
}

int html_cpu_lanes(struct page *p, const struct wall *w)
{
	struct cpus k = {.lanes = {.page = p, .budget.most = PAGE_SEGMENTS_MAX / 4}};
	int err = find_all(&k, w) ?: measure_cpus(&k);

	lanes_fit(&k.lanes, PAGE_BIN_BYTES / 4);
	json_open(&p->j, "cpus", '[');
	for (size_t i = 0; i < k.lanes.list.count && !err; i++)
		err = write_cpu(&k, &k.lanes.list.at[i]);
	json_close(&p->j, ']');
	lanes_free(&k.lanes);
	free(k.exact.at);
	free(k.sampled.at);
	free(k.all.at);
	return err;
}
