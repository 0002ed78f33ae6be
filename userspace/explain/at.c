// SPDX-License-Identifier: Apache-2.0
#include "at.h"

#include <errno.h>
#include <stdlib.h>

#include <analyze/vthreads.h>
#include <util/compare.h>
#include <util/search.h>

/* ---- samples near the moment ---- */

#define NO_PERIOD_NS 10000000U /* if the recording does not say its own */

uint64_t at_near_ns(const struct analyzer *a)
{
	return analyzer_period_ns(a) ?: NO_PERIOD_NS;
}

/* A sample, and whose it is, as an index of wall->threads: an OS thread can have several names, each a row. */
struct near_sample {
	const struct sample *s;
	uint32_t thread; /* ROW_NONE: not known */
};

/* Samples near the moment, in the order of a comparison; and which CPUs threads were on then. */
struct near_samples {
	uint64_t at_ns;
	VEC(struct near_sample) list;
	struct u64map cpu_of; /* a thread's index to the CPU's number + 1 */
};

static uint64_t distance(uint64_t x, uint64_t y)
{
	return x < y ? y - x : x - y;
}

static int take_near(struct near_samples *n, const struct wall *w, const struct sample *samples, size_t count)
{
	uint64_t limit_ns = at_near_ns(w->an->a);
	int err = 0;

	for (size_t i = 0; i < count && !err; i++)
		if (distance(samples[i].time_ns, n->at_ns) <= limit_ns)
			err = VEC_PUSH(&n->list,
				       (struct near_sample){&samples[i], timeline_thread(w, samples[i].thread)});
	return err;
}

static int by_distance(const struct sample *p, const struct sample *q, uint64_t at_ns)
{
	return compare_u64(distance(p->time_ns, at_ns), distance(q->time_ns, at_ns)) ?: (p > q) - (p < q);
}

static int by_cpu_and_distance(const void *x, const void *y, void *at_ns)
{
	const struct sample *p = ((const struct near_sample *)x)->s, *q = ((const struct near_sample *)y)->s;

	return compare_u64(p->cpu, q->cpu) ?: by_distance(p, q, *(uint64_t *)at_ns);
}

static int by_thread_and_distance(const void *x, const void *y, void *at_ns)
{
	const struct near_sample *p = x, *q = y;

	return compare_u64(p->thread, q->thread)
		       ?: compare_u64(p->s->vthread, q->s->vthread)
		       ?: by_distance(p->s, q->s, *(uint64_t *)at_ns);
}

static void order(struct near_samples *n, int (*compare)(const void *, const void *, void *))
{
	if (n->list.count)
		qsort_r(n->list.at, n->list.count, sizeof(*n->list.at), compare, &n->at_ns);
}

/* ---- names ---- */

static bool is_java(const struct analyzer *a, uint32_t row)
{
	return ((const struct thread_row *)table_row(&a->threads, row))->flags & TRACE_THREAD_JAVA;
}

/*
 * An OS thread can be several Java threads in turn. Which one it was then, as a row of a->threads: that of its last
 * time off the CPU, or of the first one. A name from before it was a Java thread says less.
 */
static uint32_t row_then(const struct wall *w, const struct wall_thread *t, uint64_t at_ns)
{
	const struct jvm_event_row *events = w->an->a->events.at;
	size_t first = t->rows.first, end = first + t->rows.count;
	size_t next = SEARCH(i, first, end, events[w->rows[i]].time_ns <= at_ns);
	uint32_t row = ROW_NONE;

	if (t->vthread || !t->rows.count)
		return t->thread;
	row = table_row_of(&w->an->a->threads, events[w->rows[next > first ? next - 1 : first]].thread);
	return row != ROW_NONE && (is_java(w->an->a, row) || !is_java(w->an->a, t->thread)) ? row : t->thread;
}

/* ---- CPUs ---- */

/* Times of threads on one CPU do not overlap, and come by CPU. */
static int add_runs(struct at_view *v, const struct timeline *tl, struct u64map *cpu_of)
{
	for (size_t i = 0; i < tl->runs.count; i++) {
		const struct wall_run *run = &tl->runs.at[i];
		struct at_cpu c = {.cpu = run->cpu,
				   .thread = row_then(tl->wall, &tl->wall->threads.at[run->thread], v->at_ns),
				   .start_ns = run->start_ns,
				   .end_ns = run->end_ns};
		uint32_t *cpu;

		if (run->start_ns > v->at_ns || run->end_ns <= v->at_ns || run->cpu == UINT32_MAX)
			continue;
		cpu = u64map_put(cpu_of, run->thread);
		if (!cpu || VEC_PUSH(&v->cpus, c))
			return -ENOMEM;
		*cpu = run->cpu + 1;
	}
	return 0;
}

static int by_cpu(const void *x, const void *y)
{
	const struct at_cpu *p = x, *q = y;

	return compare_u64(p->cpu, q->cpu);
}

/*
 * A sample of a CPU: of the thread that was on it, or, if no thread's time there is known, it says which thread that
 * was, unless that one is known to have been elsewhere.
 */
static int add_sample(struct at_view *v, const struct wall *w, size_t runs, const struct near_sample *near,
		      const struct u64map *cpu_of)
{
	const struct sample *s = near->s;
	size_t at = SEARCH(i, 0, runs, v->cpus.at[i].cpu < s->cpu);
	struct at_cpu *run = at < runs && v->cpus.at[at].cpu == s->cpu ? &v->cpus.at[at] : NULL;

	if (s->cpu == TRACE_NO_CPU)
		return 0;
	if (run && !run->sample && s->time_ns >= run->start_ns && s->time_ns <= run->end_ns &&
	    (s->vthread || near->thread == w->leader[run->thread]))
		run->sample = s;
	if (run || u64map_get(cpu_of, near->thread) ||
	    (v->cpus.count > runs && v->cpus.at[v->cpus.count - 1].cpu == s->cpu))
		return 0;
	return VEC_PUSH(
		&v->cpus,
		(struct at_cpu){.cpu = s->cpu, .thread = table_row_of(&w->an->a->threads, s->thread), .sample = s});
}

static int add_cpus(struct at_view *v, const struct timeline *tl, struct near_samples *near)
{
	int err = add_runs(v, tl, &near->cpu_of);
	size_t runs = v->cpus.count;

	order(near, by_cpu_and_distance);
	for (size_t i = 0; i < near->list.count && !err; i++)
		err = add_sample(v, tl->wall, runs, &near->list.at[i], &near->cpu_of);
	VEC_SORT(&v->cpus, by_cpu);
	return err;
}

/* ---- threads ---- */

/* Looks for the segment of the moment. */
struct search {
	uint64_t at_ns;
	struct wall_segment *segment;
};

static int take_segment(void *ctx, const struct wall_thread *t, const struct wall_segment *s)
{
	const struct search *x = ctx;

	(void)t;
	if (s->end_ns <= x->at_ns)
		return 0;
	if (s->start_ns > x->at_ns)
		return -1;
	*x->segment = *s;
	return 1;
}

/* The nearest sample of a running thread, with the index `thread`, in its time on the CPU. */
static const struct sample *sample_of(const struct near_samples *near, uint32_t thread, const struct at_thread *t)
{
	const struct near_sample *n = near->list.at;
	size_t i = SEARCH(k, 0, near->list.count,
			  n[k].thread < thread || (n[k].thread == thread && n[k].s->vthread < t->vthread));

	for (; i < near->list.count && n[i].thread == thread && (!t->vthread || n[i].s->vthread == t->vthread); i++)
		if (n[i].s->time_ns >= t->segment.start_ns && n[i].s->time_ns <= t->segment.end_ns)
			return n[i].s;
	return NULL;
}

/* What adds threads. */
struct adding {
	const struct wall *w;
	const struct near_samples *near;
	struct at_view *v;
};

static int add_thread(void *ctx, const struct wall_thread *wt)
{
	const struct adding *x = ctx;
	struct at_view *v = x->v;
	uint32_t leader = x->w->leader[wt->thread];
	struct at_thread t = {.thread = row_then(x->w, wt, v->at_ns),
			      .vthread = wt->vthread,
			      .cpu = UINT32_MAX,
			      .parked_owner = "",
			      .waker = ROW_NONE,
			      .waker_stack = ROW_NONE};
	struct search s = {v->at_ns, &t.segment};

	if (!wt->life_ns || v->at_ns < wt->start_ns || v->at_ns >= wt->end_ns ||
	    wall_each(x->w, wt, take_segment, &s) != 1 || (t.segment.idle && !v->idle))
		return 0;
	if (t.segment.state == WALL_RUNNING)
		t.sample = sample_of(x->near, leader, &t);
	if (t.segment.state == WALL_RUNNING && !t.vthread)
		t.cpu = u64map_get(&x->near->cpu_of, leader) - 1;
	if (t.segment.row && wall_is_off_cpu(t.segment.row) && wall_is_blocked(t.segment.state)) {
		t.parked_owner = wall_parked_owner(x->w, t.segment.row);
		if (!*t.parked_owner)
			t.waker = table_row_of(&v->an->a->threads, t.segment.row->other);
		t.waker_stack = table_row_of(&v->an->a->nodes, t.segment.row->other_node);
	}
	return VEC_PUSH(&v->threads, t);
}

static int add_threads(struct at_view *v, const struct wall *w, struct near_samples *near)
{
	struct adding x = {.w = w, .near = near, .v = v};
	int err = 0;

	order(near, by_thread_and_distance);
	for (size_t i = 0; i < w->an->a->threads.count && !err; i++)
		err = add_thread(&x, &w->threads.at[i]);
	return err ?: wall_each_vthread(w, add_thread, &x);
}

enum at_activity at_activity(const struct at_thread *t)
{
	if (t->segment.idle)
		return AT_IDLE;
	if (t->segment.state == WALL_RUNNING)
		return AT_RUNNING;
	return wall_is_blocked(t->segment.state) ? AT_BLOCKED : AT_RUNNABLE;
}

static int by_interest(const void *x, const void *y)
{
	const struct at_thread *p = x, *q = y;

	return compare_u64(at_activity(p), at_activity(q))
		       ?: compare_u64(p->segment.start_ns, q->segment.start_ns)
		       ?: compare_u64(p->thread, q->thread)
		       ?: compare_u64(p->vthread, q->vthread);
}

/* ---- what lasted ---- */

/* Kinds whose interval is no time in which something went on, or is a thread's own time off the CPU. */
static bool lasts(uint32_t kind)
{
	switch (kind) {
	case BRAID_JVM_OFFCPU:
	case BRAID_JVM_THREAD_TIME:
	case BRAID_JVM_CPU_LOAD:
	case BRAID_JVM_METHOD_CALLS:
	case BRAID_JVM_JNI_REF:
	case BRAID_JVM_JNI_REFS:
	case BRAID_JVM_COUNTED:
		return false;
	default:
		return !kind_of(kind)->lasting;
	}
}

static bool covers(const struct event *e, uint64_t at_ns)
{
	bool open =
		(e->kind == BRAID_JVM_GC_PAUSE || e->kind == BRAID_JVM_GC_CYCLE) && e->row->flags & BRAID_GC_NOT_ENDED;

	return e->start_ns <= at_ns && (open || event_end_ns(e->row) > at_ns);
}

static uint64_t place_key(const struct wall *w, uint32_t thread, uint32_t vthread)
{
	return (uint64_t)(thread == ROW_NONE ? ROW_NONE : w->leader[thread]) << 32 | vthread;
}

/* Maps threads to their places in the view, plus one. */
static int find_places(const struct at_view *v, const struct wall *w, struct u64map *of)
{
	for (size_t i = 0; i < v->threads.count; i++) {
		const struct at_thread *t = &v->threads.at[i];
		uint32_t *at = u64map_put(of, place_key(w, t->thread, t->vthread));

		if (!at)
			return -ENOMEM;
		*at = (uint32_t)i + 1;
	}
	return 0;
}

static int by_kind(const void *x, const void *y)
{
	const struct event *p = x, *q = y;

	return compare_u64(p->kind, q->kind)
		       ?: compare_u64(p->start_ns, q->start_ns)
		       ?: (p->row > q->row) - (p->row < q->row);
}

static int add_events(struct at_view *v, const struct wall *w)
{
	struct u64map of = {0};
	int err = find_places(v, w, &of);

	for (size_t i = 0; i < events_count(v->an) && !err; i++) {
		struct event e;

		if (!events_get(v->an, i, &e) || !lasts(e.kind) || !covers(&e, v->at_ns))
			continue;
		if (e.kind == BRAID_JVM_LOCK || e.kind == BRAID_JVM_WAIT) {
			uint32_t at = u64map_get(&of, place_key(w, e.thread, e.row->vthread));

			if (at)
				v->threads.at[at - 1].waited = e.row;
		}
		err = VEC_PUSH(&v->events, e);
	}
	u64map_free(&of);
	VEC_SORT(&v->events, by_kind);
	return err;
}

static int by_start(const void *x, const void *y)
{
	const struct span_sum *p = x, *q = y;

	return compare_u64(p->first_ns, q->first_ns) ?: compare_u64(p->row->span_id, q->row->span_id);
}

static int add_spans(struct at_view *v)
{
	int err = span_view_new(&v->all_spans, v->an);

	for (size_t i = 0; !err && i < v->all_spans->sums.count; i++) {
		const struct span_sum *s = &v->all_spans->sums.at[i];

		if (s->first_ns <= v->at_ns && s->last_ns > v->at_ns)
			err = VEC_PUSH(&v->spans, *s);
	}
	VEC_SORT(&v->spans, by_start);
	return err;
}

/* ---- all ---- */

int at_view_new(struct at_view **out, const struct timeline *tl, uint64_t at_ns, bool idle)
{
	struct at_view *v = calloc(1, sizeof(*v));
	const struct analyzer *a = tl->wall->an->a;
	struct near_samples near = {.at_ns = at_ns};
	int err;

	*out = v;
	if (!v)
		return -ENOMEM;
	v->an = tl->wall->an;
	v->at_ns = at_ns;
	v->idle = idle;
	v->lives = events_recorded(v->an, BRAID_EVENT_TYPE_OFFCPU);
	err = take_near(&near, tl->wall, a->samples.at, a->samples.count) ?: add_cpus(v, tl, &near);
	/* A carrier's samples are its virtual threads', too. */
	err = err ?: take_near(&near, tl->wall, a->carried_samples.at, a->carried_samples.count);
	err = err ?: add_threads(v, tl->wall, &near);
	free(near.list.at);
	u64map_free(&near.cpu_of);
	VEC_SORT(&v->threads, by_interest);
	err = err ?: add_events(v, tl->wall) ?: add_spans(v);
	if (err) {
		at_view_free(v);
		*out = NULL;
	}
	return err;
}

void at_view_free(struct at_view *v)
{
	if (!v)
		return;
	span_view_free(v->all_spans);
	free(v->cpus.at);
	free(v->threads.at);
	free(v->events.at);
	free(v->spans.at);
	free(v);
}

const char *at_thread_name(const struct at_view *v, const struct at_thread *t)
{
	const struct vthread_row *vt = vthreads_get(v->an->a, t->vthread);
	const char *name = vt ? strpool_get(&v->an->a->strings, vt->name) : "";

	return *name ? name : analysis_thread_name(v->an, t->thread);
}

uint64_t at_thread_number(const struct at_view *v, const struct at_thread *t)
{
	const struct vthread_row *vt = vthreads_get(v->an->a, t->vthread);

	return vt ? vt->number : ((const struct thread_row *)table_row(&v->an->a->threads, t->thread))->tid;
}
