// SPDX-License-Identifier: Apache-2.0
/*
 * The lives of virtual threads: mounted on carriers, whose lives have this time, too, and unmounted. There may be
 * hundreds of thousands, so only their rows are kept, and the rest is found again each time. wall.c calls it.
 */
#include <errno.h>
#include <stdlib.h>

#include <analyze/events.h>
#include <analyze/vthreads.h>
#include <util/search.h>

#include "wall.h"

/*
 * What says that the virtual thread was followed. The times off the CPU while it was mounted are also known of others.
 */
static bool is_own(const struct jvm_event_row *r)
{
	return r->kind == BRAID_JVM_THREAD_TIME || event_is_unmounted(r);
}

static bool is_part(const struct jvm_event_row *r)
{
	return is_own(r) || wall_is_off_cpu(r) || wall_is_note(r) || r->kind == BRAID_JVM_COUNTED;
}

static int compare(const void *x, const void *y, void *ctx)
{
	const struct jvm_event_row *events = ctx;
	const struct jvm_event_row *p = &events[*(const uint32_t *)x], *q = &events[*(const uint32_t *)y];

	if (p->vthread != q->vthread)
		return p->vthread < q->vthread ? -1 : 1;
	return wall_compare_rows(x, y, ctx);
}

static int collect(struct wall *w, size_t count)
{
	const struct analyzer *a = w->an->a;

	w->vthread_rows = calloc(count + 1, sizeof(*w->vthread_rows));
	if (!w->vthread_rows)
		return -ENOMEM;
	for (size_t i = 0; i < a->events.count; i++)
		if (a->events.at[i].vthread && is_part(&a->events.at[i]))
			w->vthread_rows[w->vthread_count++] = (uint32_t)i;
	if (w->vthread_count)
		qsort_r(w->vthread_rows, w->vthread_count, sizeof(*w->vthread_rows), compare, a->events.at);
	return 0;
}

/* A LOCK says who had what its virtual thread was parked for. It comes right before the time off the carrier. */
static int find_locks(struct wall *w)
{
	const struct jvm_event_row *events = w->an->a->events.at, *lock = NULL;

	for (size_t i = 0; i < w->vthread_count; i++) {
		const struct jvm_event_row *r = &events[w->vthread_rows[i]];
		uint32_t *at;

		if (r->kind == BRAID_JVM_LOCK && r->flags & BRAID_LOCK_PARKED)
			lock = r;
		if (!event_is_unmounted(r) || !lock || lock->vthread != r->vthread || lock->time_ns != r->time_ns)
			continue;
		at = u64map_put(&w->lock_of, w->vthread_rows[i]);
		if (!at)
			return -ENOMEM;
		*at = (uint32_t)(lock - events) + 1;
	}
	return 0;
}

int wall_vthreads_find(struct wall *w)
{
	const struct analyzer *a = w->an->a;
	size_t count = 0, own = 0;

	for (size_t i = 0; i < a->events.count; i++) {
		const struct jvm_event_row *r = &a->events.at[i];

		count += r->vthread && is_part(r);
		own += r->vthread && is_own(r);
	}
	return own ? collect(w, count) ?: find_locks(w) : 0;
}

static uint32_t id_at(const struct wall *w, size_t i)
{
	return w->an->a->events.at[w->vthread_rows[i]].vthread;
}

/* The life of the virtual thread whose rows these are; false: it was not followed. */
static bool life_of(const struct wall *w, size_t first, size_t count, struct wall_thread *t)
{
	const struct jvm_event_row *events = w->an->a->events.at;
	const struct vthread_row *v = vthreads_get(w->an->a, id_at(w, first));
	uint32_t group = v ? table_row_of(&w->an->a->threads, v->group) : ROW_NONE;
	bool own = false;

	if (group == ROW_NONE)
		return false;
	*t = (struct wall_thread){.thread = group, .vthread = id_at(w, first), .java = true, .rows = {first, count}};
	for (size_t i = first; i < first + count; i++)
		wall_take_life(t, &events[w->vthread_rows[i]]);
	for (size_t i = first; i < first + count; i++) {
		const struct jvm_event_row *r = &events[w->vthread_rows[i]];

		own = own || is_own(r);
		wall_take_counted(w, t, r);
		if (!t->known && event_is_unmounted(r))
			wall_extend_life(t, r->time_ns, event_end_ns(r));
	}
	return own;
}

/*
 * Reads the one whose rows begin there, and returns where they end. t->life_ns 0: it was not followed, or not selected.
 */
static size_t read_one(const struct wall *w, size_t first, struct wall_thread *t)
{
	size_t end = first + 1;

	while (end < w->vthread_count && id_at(w, end) == id_at(w, first))
		end++;
	if (life_of(w, first, end - first, t))
		wall_sum_thread(w, t);
	else
		t->life_ns = 0;
	return end;
}

int wall_each_vthread(const struct wall *w, wall_vthread_fn fn, void *ctx)
{
	struct wall_thread t;
	int err = 0;

	for (size_t i = 0; i < w->vthread_count && !err;) {
		i = read_one(w, i, &t);
		if (t.life_ns)
			err = fn(ctx, &t);
	}
	return err;
}

bool wall_vthread(const struct wall *w, uint32_t vthread, struct wall_thread *t)
{
	size_t first = SEARCH(i, 0, w->vthread_count, id_at(w, i) < vthread);

	if (first == w->vthread_count || id_at(w, first) != vthread)
		return false;
	read_one(w, first, t);
	return t->life_ns;
}

int wall_add_vthread(struct wall *w, const struct wall_thread *t)
{
	return VEC_PUSH(&w->threads, *t);
}

const char *wall_parked_owner(const struct wall *w, const struct jvm_event_row *r)
{
	const struct analyzer *a = w->an->a;
	const struct jvm_event_row *said = r->other || r->other_vthread ? r : wall_lock_of(w, r);
	const struct vthread_row *v = said ? vthreads_get(a, said->other_vthread) : NULL;
	uint32_t owner = said ? table_row_of(&a->threads, said->other) : ROW_NONE;

	if (!event_is_unmounted(r))
		return "";
	if (v)
		return v->name ? strpool_get(&a->strings, v->name) : "a virtual thread";
	return owner == ROW_NONE ? "" : analysis_thread_name(w->an, owner);
}

const char *wall_name(const struct wall *w, const struct wall_thread *t)
{
	const struct vthread_row *v = vthreads_get(w->an->a, t->vthread);
	const char *name = v ? strpool_get(&w->an->a->strings, v->name) : "";

	if (!t->vthread)
		return analysis_thread_name(w->an, t->thread);
	return *name ? name : "virtual thread";
}

uint32_t wall_thread_process(const struct wall *w, uint32_t thread)
{
	return ((const struct thread_row *)table_row(&w->an->a->threads, w->threads.at[thread].thread))->process;
}

const char *wall_thread_name(const struct wall *w, uint32_t thread)
{
	return wall_name(w, &w->threads.at[thread]);
}

uint64_t wall_number(const struct wall *w, const struct wall_thread *t)
{
	const struct vthread_row *v = vthreads_get(w->an->a, t->vthread);

	return v ? v->number : ((const struct thread_row *)table_row(&w->an->a->threads, t->thread))->tid;
}

uint64_t wall_thread_number(const struct wall *w, uint32_t thread)
{
	return wall_number(w, &w->threads.at[thread]);
}
