// SPDX-License-Identifier: Apache-2.0
#include "dumps.h"

#include <errno.h>
#include <stdlib.h>

#include <analyze/events.h>
#include <util/compare.h>
#include <util/pair_map.h>

/* ---- the list ---- */

static int compare_rows(const void *x, const void *y)
{
	const struct dump_row *p = x, *q = y;

	return compare_u64(p->time_ns, q->time_ns) ?: compare_u64(p->process, q->process) ?: compare_u64(p->row, q->row);
}

/* The events of several processes alternate, and those of two dumps may. */
static int sort_rows(struct dumps *d, const struct analysis *an)
{
	const struct jvm_event_row *rows = an->a->events.at;
	struct event e;
	int err = 0;

	for (size_t i = 0; i < an->a->events.count && !err; i++)
		if ((rows[i].kind == BRAID_JVM_DUMP || rows[i].kind == BRAID_JVM_DUMP_VTHREAD) && events_get(an, i, &e))
			err = VEC_PUSH(
				&d->rows,
				(struct dump_row){.time_ns = rows[i].time_ns, .process = rows[i].process, .row = i});
	VEC_SORT(&d->rows, compare_rows);
	return err;
}

/* Takes the rows in their order. */
static int note(struct dumps *d, const struct analysis *an, const struct dump_row *r)
{
	struct dump_ref *last = d->refs.count ? &d->refs.at[d->refs.count - 1] : NULL;

	if (last && last->time_ns == r->time_ns && last->process == r->process) {
		last->count++;
		return 0;
	}
	return VEC_PUSH(&d->refs, (struct dump_ref){.process = r->process,
						    .pid = analysis_process(an, r->process)->pid,
						    .time_ns = r->time_ns,
						    .rows = r,
						    .count = 1});
}

static int compare_refs(const void *x, const void *y)
{
	const struct dump_ref *p = x, *q = y;

	return compare_u64(p->time_ns, q->time_ns) ?: compare_u64(p->pid, q->pid);
}

int dumps_list(struct dumps *d, const struct analysis *an)
{
	int err;

	*d = (struct dumps){0};
	err = sort_rows(d, an);
	for (size_t i = 0; i < d->rows.count && !err; i++)
		err = note(d, an, &d->rows.at[i]);
	VEC_SORT(&d->refs, compare_refs);
	return err;
}

const struct dump_ref *dumps_at(const struct dumps *d, uint32_t pid, uint64_t until_ns)
{
	for (size_t i = d->refs.count; i-- > 0;)
		if (d->refs.at[i].time_ns <= until_ns && (!pid || d->refs.at[i].pid == pid))
			return &d->refs.at[i];
	return NULL;
}

/* ---- deadlocks ---- */

/* By its threads, wherever it begins. */
static uint64_t key_of(const struct dump_view *v, size_t number)
{
	const struct dump_thread *first = dump_deadlock(v, number), *t = first;
	uint64_t key = pair_hash(v->process, 0);

	do {
		key += pair_hash(t->row->thread, t->row->vthread);
		t = &v->threads.at[t->owner];
	} while (t != first);
	return key;
}

static struct dumps_deadlock *deadlock_of(const struct dumps *d, uint64_t key)
{
	for (size_t i = 0; i < d->deadlocks.count; i++)
		if (d->deadlocks.at[i].key == key)
			return &d->deadlocks.at[i];
	return NULL;
}

static int add_deadlock(struct dumps *d, const struct dump_view *v, size_t number, uint64_t time_ns)
{
	uint64_t key = key_of(v, number);
	struct dumps_deadlock *is = deadlock_of(d, key);

	if (is) {
		is->last_ns = time_ns;
		is->dumps++;
		return 0;
	}
	if (d->deadlocks.count == DUMPS_DEADLOCKS_MAX) {
		d->more++;
		return 0;
	}
	return VEC_PUSH(
		&d->deadlocks,
		(struct dumps_deadlock){.view = v, .number = number, .key = key, .last_ns = time_ns, .dumps = 1});
}

/* A view without a new deadlock is not needed any more. */
static int look(struct dumps *d, const struct analysis *an, const struct dump_ref *ref)
{
	size_t before = d->deadlocks.count;
	struct dump_view *v = NULL;
	int err = dump_view_new(&v, an, ref, false);

	d->unread += !err && v->unread;
	for (size_t i = 1; !err && i <= v->deadlocks; i++)
		err = add_deadlock(d, v, i, ref->time_ns);
	if (!err && d->deadlocks.count > before)
		err = VEC_PUSH(&d->views, v);
	else
		dump_view_free(v);
	return err;
}

int dumps_new(struct dumps *d, const struct analysis *an)
{
	int err = dumps_list(d, an);

	for (size_t i = 0; i < d->refs.count && !err; i++)
		err = look(d, an, &d->refs.at[i]);
	return err;
}

void dumps_free(struct dumps *d)
{
	for (size_t i = 0; i < d->views.count; i++)
		dump_view_free(d->views.at[i]);
	free(d->views.at);
	free(d->deadlocks.at);
	free(d->refs.at);
	free(d->rows.at);
}
