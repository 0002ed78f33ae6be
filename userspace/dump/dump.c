// SPDX-License-Identifier: Apache-2.0
#include "dump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <analyze/blocked.h>
#include <analyze/events.h>

/* ---- states ---- */

static const char *kernel_state(uint32_t flags)
{
	if (flags & BRAID_DUMP_RUNS)
		return "running";
	if (BRAID_OFFCPU_CLASS(flags) == BRAID_OFFCPU_RUNNABLE)
		return "runnable";
	if (BRAID_OFFCPU_CLASS(flags) == BRAID_OFFCPU_STOPPED)
		return "stopped";
	return flags & BRAID_OFFCPU_UNINTERRUPTIBLE ? "disk" : "sleeping";
}

/* What the VM's memory says is more certain than the stack. */
static enum blocked_why why_of(const struct analysis *an, uint32_t stack, uint32_t flags)
{
	const struct place *p = place_of(an, stack);

	if (flags & BRAID_DUMP_MONITOR)
		return BLOCKED_MONITOR;
	if (flags & BRAID_DUMP_WAIT)
		return BLOCKED_WAITING;
	return p ? (enum blocked_why)p->why : BLOCKED_CALL;
}

static const char *java_state(enum blocked_why why, uint32_t flags)
{
	if (flags & BRAID_DUMP_RUNS)
		return "RUNNABLE";
	switch (why) {
	case BLOCKED_MONITOR:
		return "BLOCKED";
	case BLOCKED_SLEEPING:
		return "TIMED_WAITING";
	case BLOCKED_PARKED:
	case BLOCKED_WAITING:
		return flags & BRAID_DUMP_TIMED ? "TIMED_WAITING" : "WAITING";
	default:
		return "RUNNABLE";
	}
}

static int add_thread(struct dump_view *v, const struct event *e)
{
	const struct analysis *an = v->an;
	const struct thread_row *t = table_row(&an->a->threads, e->thread);
	enum blocked_why why = why_of(an, e->stack, e->row->flags);
	bool blocked = !(e->row->flags & BRAID_DUMP_RUNS) && BRAID_OFFCPU_CLASS(e->row->flags) != BRAID_OFFCPU_RUNNABLE;
	uint32_t id;

	return VEC_PUSH(&v->threads,
			(struct dump_thread){.row = e->row,
					     .thread = e->thread,
					     .stack = e->stack,
					     .tid = t->tid,
					     .name = analysis_thread_name(an, e->thread),
					     .java = t->flags & TRACE_THREAD_JAVA ? java_state(why, e->row->flags) : "",
					     .kernel = kernel_state(e->row->flags),
					     .reason = blocked ? blocked_reason(why, e->row->flags, &id) : "",
					     .class = strpool_get(&an->a->strings, e->row->name),
					     .owner = CYCLE_NONE});
}

/* ---- frames ---- */

/* A place in a stack: frames are in stacks' nodes, and each has one xframe or more. */
struct cursor {
	const struct analysis *an;
	uint32_t node; /* row */
	uint32_t left; /* xframes of the node */
};

static uint32_t frames_of(const struct analysis *an, uint32_t node)
{
	const struct stack *s = &an->stacks[node];

	return s->frame == ROW_NONE ? 0 : an->expansions[s->frame].count;
}

static struct cursor cursor_at(const struct analysis *an, uint32_t stack)
{
	return (struct cursor){.an = an, .node = stack, .left = stack == ROW_NONE ? 0 : frames_of(an, stack)};
}

/* The next frame towards the root; NULL at the end. */
static const struct xframe *cursor_next(struct cursor *c)
{
	while (c->node != ROW_NONE) {
		const struct stack *s = &c->an->stacks[c->node];

		if (c->left)
			return &c->an->xframes.at[c->an->expansions[s->frame].first + --c->left];
		c->node = s->parent;
		c->left = c->node == ROW_NONE ? 0 : frames_of(c->an, c->node);
	}
	return NULL;
}

void dump_each_frame(const struct dump_view *v, uint32_t stack, dump_frame_fn fn, void *ctx)
{
	struct cursor c = cursor_at(v->an, stack);

	for (const struct xframe *x = cursor_next(&c); x; x = cursor_next(&c))
		fn(ctx, v->an, x);
}

/* The forms of a method are one method. */
static int compare_frames(const struct analysis *an, const struct xframe *x, const struct xframe *y)
{
	const struct sym *p = &an->syms.at[x->sym], *q = &an->syms.at[y->sym];
	int p_domain = (int)kind_domain((enum stack_kind)p->kind),
	    q_domain = (int)kind_domain((enum stack_kind)q->kind);

	if (p->name != q->name)
		return p->name < q->name ? -1 : 1;
	if (p_domain != q_domain)
		return p_domain - q_domain;
	return (x->line > y->line) - (x->line < y->line);
}

static int compare_stacks(const struct analysis *an, uint32_t p, uint32_t q)
{
	struct cursor x = cursor_at(an, p), y = cursor_at(an, q);
	int order = 0;

	while (!order && x.node != y.node) { /* the rest is the same when both are at one node */
		const struct xframe *a = cursor_next(&x), *b = cursor_next(&y);

		if (!a || !b)
			return (a != NULL) - (b != NULL);
		order = compare_frames(an, a, b);
	}
	return order ?: (x.left > y.left) - (x.left < y.left);
}

/* ---- groups ---- */

static int compare_alike(const struct analysis *an, const struct dump_thread *p, const struct dump_thread *q)
{
	int order = strcmp(p->java, q->java);

	order = order ?: strcmp(p->kernel, q->kernel);
	order = order ?: strcmp(p->reason, q->reason);
	order = order ?: strcmp(p->class, q->class);
	return order ?: compare_stacks(an, p->stack, q->stack);
}

static int compare_threads(const void *x, const void *y, void *an)
{
	const struct dump_thread *p = x, *q = y;
	int order = compare_alike(an, p, q);

	return order ?: (p->tid > q->tid) - (p->tid < q->tid);
}

static int compare_groups(const void *x, const void *y, void *threads)
{
	const struct dump_group *p = x, *q = y;
	const struct dump_thread *a = (const struct dump_thread *)threads + p->first,
				 *b = (const struct dump_thread *)threads + q->first;

	if (p->count != q->count)
		return p->count > q->count ? -1 : 1;
	return (a->tid > b->tid) - (a->tid < b->tid);
}

static int make_groups(struct dump_view *v)
{
	struct dump_group *last = NULL;

	if (v->threads.count)
		qsort_r(v->threads.at, v->threads.count, sizeof(*v->threads.at), compare_threads, (void *)v->an);
	for (size_t i = 0; i < v->threads.count; i++) {
		if (!last || compare_alike(v->an, &v->threads.at[last->first], &v->threads.at[i])) {
			if (VEC_PUSH(&v->groups, (struct dump_group){.first = i}))
				return -ENOMEM;
			last = &v->groups.at[v->groups.count - 1];
		}
		last->count++;
	}
	if (v->groups.count)
		qsort_r(v->groups.at, v->groups.count, sizeof(*v->groups.at), compare_groups, v->threads.at);
	return 0;
}

/* ---- deadlocks ---- */

/* Owners of objects, of which those that are certain make deadlocks. */
static int find_deadlocks(struct dump_view *v)
{
	size_t count = v->threads.count;
	uint32_t *of_row = calloc(v->an->a->threads.count + 1, sizeof(*of_row)); /* index of the thread, + 1 */
	uint32_t *next = calloc(count + 1, sizeof(*next)), *cycle = calloc(count + 1, sizeof(*cycle));
	int err = of_row && next && cycle ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && !err; i++)
		of_row[v->threads.at[i].thread] = (uint32_t)i + 1;
	for (size_t i = 0; i < count && !err; i++) {
		struct dump_thread *t = &v->threads.at[i];
		size_t owner = t->row->other ? table_find(&v->an->a->threads, t->row->other) : TABLE_NONE;

		if (owner != TABLE_NONE && of_row[owner])
			t->owner = of_row[owner] - 1;
		next[i] = t->row->flags & BRAID_DUMP_OWNED && t->row->flags & (BRAID_DUMP_MONITOR | BRAID_DUMP_PARK)
				  ? t->owner
				  : CYCLE_NONE;
	}
	v->deadlocks = err ? 0 : cycles_find(next, count, cycle);
	if (v->deadlocks == SIZE_MAX)
		err = -ENOMEM;
	for (size_t i = 0; i < count && !err; i++)
		v->threads.at[i].deadlock = cycle[i];
	free(of_row);
	free(next);
	free(cycle);
	return err;
}

const struct dump_thread *dump_deadlock(const struct dump_view *v, size_t number)
{
	size_t i = 0;

	while (i < v->threads.count && v->threads.at[i].deadlock != number)
		i++;
	return i < v->threads.count ? &v->threads.at[i] : NULL;
}

/* ---- the view ---- */

static bool is_dump(const struct analysis *an, const struct jvm_event_row *r, uint32_t pid)
{
	return r->kind == BRAID_JVM_DUMP && analysis_process(an, r->process)->pid == pid;
}

static int fill(struct dump_view *v)
{
	const struct analysis *an = v->an;
	const struct jvm_event_row *rows = an->a->events.at;
	uint64_t last_ns = 0;
	struct event e;
	int err = 0;

	for (size_t i = 0; i < an->a->events.count; i++)
		if (is_dump(an, &rows[i], v->pid) && rows[i].time_ns >= last_ns) {
			last_ns = rows[i].time_ns;
			v->process = rows[i].process;
		}
	for (size_t i = 0; i < an->a->events.count && !err; i++)
		if (is_dump(an, &rows[i], v->pid) && rows[i].time_ns == last_ns && events_get(an, i, &e) &&
		    e.thread != ROW_NONE)
			err = add_thread(v, &e);
	return err;
}

int dump_view_new(struct dump_view **out, const struct analysis *an, uint32_t pid)
{
	struct dump_view *v = *out = calloc(1, sizeof(*v));
	int err;

	if (!v)
		return -ENOMEM;
	v->an = an;
	v->pid = pid;
	err = fill(v) ?: make_groups(v);
	return err ?: find_deadlocks(v);
}

void dump_view_free(struct dump_view *v)
{
	if (!v)
		return;
	free(v->threads.at);
	free(v->groups.at);
	free(v);
}

size_t dump_view_count(const struct dump_view *v, const char *kernel)
{
	size_t count = 0;

	for (size_t i = 0; i < v->threads.count; i++)
		count += strcmp(v->threads.at[i].kernel, kernel) == 0;
	return count;
}
