// SPDX-License-Identifier: Apache-2.0
#include "dump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <analyze/blocked.h>
#include <analyze/events.h>
#include <analyze/vthreads.h>
#include <util/pair_map.h>

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

	v->unread += (e->row->flags & BRAID_DUMP_UNREAD) != 0;
	return VEC_PUSH(&v->threads,
			(struct dump_thread){.row = e->row,
					     .wait = e->row,
					     .mounted = CYCLE_NONE,
					     .thread = e->thread,
					     .stack = e->stack,
					     .tid = t->tid,
					     .count = 1,
					     .name = analysis_thread_name(an, e->thread),
					     .java = t->flags & TRACE_THREAD_JAVA ? java_state(why, e->row->flags) : "",
					     .kernel = kernel_state(e->row->flags),
					     .mount = "",
					     .reason = blocked ? blocked_reason(why, e->row->flags, &id) : "",
					     .class = strpool_get(&an->a->strings, e->row->name),
					     .vm = strpool_get(&an->a->strings, e->row->detail),
					     .owner = CYCLE_NONE});
}

/* Thread.State, as VirtualThread.threadState() has it. */
static const char *virtual_java_state(uint32_t flags)
{
	switch (flags & BRAID_VTHREAD_STATE) {
	case BRAID_VTHREAD_NEW:
		return "NEW";
	case BRAID_VTHREAD_PINNED:
	case BRAID_VTHREAD_PARKED:
	case BRAID_VTHREAD_WAITING:
		return flags & BRAID_DUMP_TIMED ? "TIMED_WAITING" : "WAITING";
	case BRAID_VTHREAD_BLOCKED:
		return "BLOCKED";
	default:
		return "RUNNABLE";
	}
}

static const char *mount_state(uint32_t flags)
{
	switch (flags & BRAID_VTHREAD_STATE) {
	case BRAID_VTHREAD_NEW:
		return "new";
	case BRAID_VTHREAD_QUEUED:
		return "queued";
	case BRAID_VTHREAD_MOUNTED:
	case BRAID_VTHREAD_PINNED:
		return "mounted";
	default:
		return "unmounted";
	}
}

/* Why a virtual thread waits: by its state, and its stack, which distinguishes sleeping from other parking. */
static const char *virtual_reason(const struct analysis *an, uint32_t stack, uint32_t flags)
{
	const struct place *p = place_of(an, stack);
	uint32_t id;

	switch (flags & BRAID_VTHREAD_STATE) {
	case BRAID_VTHREAD_PINNED:
	case BRAID_VTHREAD_PARKED:
		return blocked_reason(p && p->why == BLOCKED_SLEEPING ? BLOCKED_SLEEPING : BLOCKED_PARKED, flags, &id);
	case BRAID_VTHREAD_WAITING:
		return blocked_reason(BLOCKED_WAITING, flags, &id);
	case BRAID_VTHREAD_BLOCKED:
		return blocked_reason(BLOCKED_MONITOR, flags, &id);
	default:
		return "";
	}
}

static int add_virtual(struct dump_view *v, const struct event *e)
{
	const struct analysis *an = v->an;
	const struct vthread_row *t = vthreads_get(an->a, e->row->vthread);
	uint32_t flags = e->row->flags;

	return VEC_PUSH(&v->threads, (struct dump_thread){.row = e->row,
							  .wait = e->row,
							  .mounted = CYCLE_NONE,
							  .thread = table_row_of(&an->a->threads, e->row->thread),
							  .stack = e->stack,
							  .number = t ? t->number : 0,
							  .count = t ? 1 : e->row->value,
							  .name = t ? strpool_get(&an->a->strings, t->name) : "",
							  .java = virtual_java_state(flags),
							  .kernel = "",
							  .mount = mount_state(flags),
							  .reason = virtual_reason(an, e->stack, flags),
							  .class = strpool_get(&an->a->strings, e->row->name),
							  .vm = "",
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

/* ---- threads by their rows ---- */

/* Indexes in v->threads, + 1. */
struct rows {
	uint32_t *of_thread, *of_vthread;
};

static int rows_new(struct rows *r, const struct dump_view *v)
{
	const struct analyzer *a = v->an->a;

	r->of_thread = calloc(a->threads.count + 1, sizeof(*r->of_thread));
	r->of_vthread = calloc(a->vthreads.count + 1, sizeof(*r->of_vthread));
	if (!r->of_thread || !r->of_vthread)
		return -ENOMEM;
	for (size_t i = 0; i < v->threads.count; i++) {
		const struct dump_thread *t = &v->threads.at[i];

		if (!dump_is_virtual(t))
			r->of_thread[t->thread] = (uint32_t)i + 1;
		else if (t->number)
			r->of_vthread[table_find(&a->vthreads, t->row->vthread)] = (uint32_t)i + 1;
	}
	return 0;
}

static void rows_free(struct rows *r)
{
	free(r->of_thread);
	free(r->of_vthread);
}

static struct dump_thread *carrier_of(const struct rows *r, struct dump_view *v, const struct dump_thread *t)
{
	uint32_t index = dump_is_virtual(t) && t->thread != ROW_NONE ? r->of_thread[t->thread] : 0;

	return index ? &v->threads.at[index - 1] : NULL;
}

/* A virtual thread that its carrier runs does what its carrier does, and waits for what that waits for. */
static void take_carriers(struct dump_view *v, const struct rows *r)
{
	for (size_t i = 0; i < v->threads.count; i++) {
		struct dump_thread *t = &v->threads.at[i];
		const struct dump_thread *carrier = carrier_of(r, v, t);

		if (!carrier || (t->row->flags & BRAID_VTHREAD_STATE) != BRAID_VTHREAD_MOUNTED)
			continue;
		t->wait = carrier->row;
		t->java = carrier->java;
		t->reason = carrier->reason;
		t->class = carrier->class;
	}
}

/* To be called when the threads have their places. */
static void find_mounted(struct dump_view *v, const struct rows *r)
{
	for (size_t i = 0; i < v->threads.count; i++) {
		struct dump_thread *carrier = carrier_of(r, v, &v->threads.at[i]);

		if (carrier)
			carrier->mounted = (uint32_t)i;
	}
}

/* The owner of what the row waits for. What a carrier owns, its virtual thread does. */
static uint32_t owner_of(const struct rows *r, const struct dump_view *v, const struct jvm_event_row *row)
{
	const struct table *t = row->other_vthread ? &v->an->a->vthreads : &v->an->a->threads;
	uint32_t id = row->other_vthread ?: row->other;
	size_t at = table_find(t, id);
	uint32_t index = at == TABLE_NONE ? 0 : (row->other_vthread ? r->of_vthread : r->of_thread)[at];

	if (!index)
		return CYCLE_NONE;
	return v->threads.at[index - 1].mounted != CYCLE_NONE ? v->threads.at[index - 1].mounted : index - 1;
}

/* ---- groups ---- */

static int compare_rows(const void *x, const void *y, void *an)
{
	return compare_stacks(an, *(const uint32_t *)x, *(const uint32_t *)y);
}

/* Very many threads are on few stacks, which are compared once. */
static int rank_stacks(struct dump_view *v)
{
	VEC(uint32_t) stacks = {0};
	struct pair_map ranks = {0};
	uint32_t rank = 0;
	int err = 0;

	for (size_t i = 0; i < v->threads.count && !err; i++) {
		uint32_t stack = v->threads.at[i].stack;

		if (!pair_find(&ranks, stack, 0))
			err = pair_put(&ranks, stack, 0, 1) ? VEC_PUSH(&stacks, stack) : -ENOMEM;
	}
	if (stacks.count && !err)
		qsort_r(stacks.at, stacks.count, sizeof(*stacks.at), compare_rows, (void *)v->an);
	for (size_t i = 0; i < stacks.count && !err; i++) {
		rank += !i || compare_stacks(v->an, stacks.at[i - 1], stacks.at[i]);
		pair_find(&ranks, stacks.at[i], 0)->value = rank;
	}
	for (size_t i = 0; i < v->threads.count && !err; i++)
		v->threads.at[i].rank = pair_find(&ranks, v->threads.at[i].stack, 0)->value;
	pair_map_free(&ranks);
	free(stacks.at);
	return err;
}

/* Most of them are the same pointers. */
static int compare_texts(const char *p, const char *q)
{
	return p == q ? 0 : strcmp(p, q);
}

static int compare_alike(const struct dump_thread *p, const struct dump_thread *q)
{
	int order = compare_texts(p->java, q->java);

	order = order ?: compare_texts(p->kernel, q->kernel);
	order = order ?: compare_texts(p->mount, q->mount);
	order = order ?: compare_texts(p->reason, q->reason);
	order = order ?: compare_texts(p->class, q->class);
	return order ?: (p->rank > q->rank) - (p->rank < q->rank);
}

/* Several threads come after those that have numbers. */
static int compare_ids(const struct dump_thread *p, const struct dump_thread *q)
{
	if (p->tid != q->tid)
		return p->tid < q->tid ? -1 : 1;
	return (p->number - 1 > q->number - 1) - (p->number - 1 < q->number - 1);
}

static int compare_threads(const void *x, const void *y)
{
	const struct dump_thread *p = x, *q = y;

	return compare_alike(p, q) ?: compare_ids(p, q);
}

static int compare_groups(const void *x, const void *y, void *threads)
{
	const struct dump_group *p = x, *q = y;
	const struct dump_thread *a = (const struct dump_thread *)threads + p->first,
				 *b = (const struct dump_thread *)threads + q->first;

	if (p->threads != q->threads)
		return p->threads > q->threads ? -1 : 1;
	return compare_ids(a, b);
}

static int make_groups(struct dump_view *v)
{
	struct dump_group *last = NULL;
	int err = rank_stacks(v);

	if (err)
		return err;
	VEC_SORT(&v->threads, compare_threads);
	for (size_t i = 0; i < v->threads.count; i++) {
		if (!last || compare_alike(&v->threads.at[last->first], &v->threads.at[i])) {
			if (VEC_PUSH(&v->groups, (struct dump_group){.first = i}))
				return -ENOMEM;
			last = &v->groups.at[v->groups.count - 1];
		}
		last->count++;
		last->threads += v->threads.at[i].count;
	}
	if (v->groups.count)
		qsort_r(v->groups.at, v->groups.count, sizeof(*v->groups.at), compare_groups, v->threads.at);
	return 0;
}

/* ---- deadlocks ---- */

/* Owners of objects, of which those that are certain make deadlocks. */
static int find_deadlocks(struct dump_view *v, const struct rows *rows)
{
	size_t count = v->threads.count;
	uint32_t *next = calloc(count + 1, sizeof(*next)), *cycle = calloc(count + 1, sizeof(*cycle));
	int err = next && cycle ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && !err; i++) {
		struct dump_thread *t = &v->threads.at[i];

		t->owner = owner_of(rows, v, t->wait);
		next[i] = t->wait->flags & BRAID_DUMP_OWNED && t->wait->flags & (BRAID_DUMP_MONITOR | BRAID_DUMP_PARK)
				  ? t->owner
				  : CYCLE_NONE;
	}
	v->deadlocks = err ? 0 : cycles_find(next, count, cycle);
	if (v->deadlocks == SIZE_MAX)
		err = -ENOMEM;
	v->deadlock_first = err ? NULL : calloc(v->deadlocks + 1, sizeof(*v->deadlock_first));
	if (!v->deadlock_first)
		err = -ENOMEM;
	for (size_t i = count; i-- > 0 && !err;) {
		v->threads.at[i].deadlock = cycle[i];
		if (cycle[i])
			v->deadlock_first[cycle[i] - 1] = (uint32_t)i;
	}
	free(next);
	free(cycle);
	return err;
}

const struct dump_thread *dump_deadlock(const struct dump_view *v, size_t number)
{
	return &v->threads.at[v->deadlock_first[number - 1]];
}

/* ---- the view ---- */

static int add(struct dump_view *v, const struct event *e)
{
	if (e->kind == BRAID_JVM_DUMP_VTHREAD)
		return add_virtual(v, e);
	return e->thread == ROW_NONE ? 0 : add_thread(v, e);
}

static int fill(struct dump_view *v, const struct dump_ref *ref)
{
	struct event e;
	int err = 0;

	for (size_t i = 0; i < ref->count && !err; i++)
		if (events_get(v->an, ref->rows[i].row, &e))
			err = add(v, &e);
	return err;
}

int dump_view_new(struct dump_view **out, const struct analysis *an, const struct dump_ref *ref, bool grouped)
{
	struct dump_view *v = *out = calloc(1, sizeof(*v));
	struct rows unsorted = {0}, rows = {0};
	int err;

	if (!v)
		return -ENOMEM;
	v->an = an;
	v->process = ref->process;
	v->pid = ref->pid;
	v->time_ns = ref->time_ns;
	err = fill(v, ref) ?: rows_new(&unsorted, v);
	if (!err)
		take_carriers(v, &unsorted);
	if (grouped)
		err = err ?: make_groups(v);
	err = err ?: rows_new(&rows, v);
	if (!err)
		find_mounted(v, &rows);
	err = err ?: find_deadlocks(v, &rows);
	rows_free(&unsorted);
	rows_free(&rows);
	return err;
}

void dump_view_free(struct dump_view *v)
{
	if (!v)
		return;
	free(v->threads.at);
	free(v->groups.at);
	free(v->deadlock_first);
	free(v);
}

uint64_t dump_view_count(const struct dump_view *v, bool virtual, const char *state)
{
	uint64_t count = 0;

	for (size_t i = 0; i < v->threads.count; i++) {
		const struct dump_thread *t = &v->threads.at[i];

		if (dump_is_virtual(t) == virtual && (!state || !strcmp(virtual ? t->mount : t->kernel, state)))
			count += t->count;
	}
	return count;
}
