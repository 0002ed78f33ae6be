// SPDX-License-Identifier: Apache-2.0
/*
 * The lives of threads: since when and until when, what is known of them in sum, and their times off the CPU in order.
 * wall.c calls it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <analyze/events.h>

#include "wall.h"

/* A parked thread's LOCK takes the place of its OFFCPU, unless all its time is recorded. */
bool wall_is_off_cpu(const struct jvm_event_row *r)
{
	return r->kind == BRAID_JVM_OFFCPU ||
	       (r->kind == BRAID_JVM_LOCK && (r->flags & BRAID_LOCK_PARKED) && r->source == BRAID_SOURCE_KERNEL);
}

/* Others that say which object a thread was blocked on. */
bool wall_is_note(const struct jvm_event_row *r)
{
	return r->kind == BRAID_JVM_LOCK || r->kind == BRAID_JVM_WAIT;
}

bool wall_is_inside(const struct jvm_event_row *r, const struct jvm_event_row *note)
{
	uint64_t middle_ns = event_middle_ns(r);

	return note->time_ns <= middle_ns && middle_ns < event_end_ns(note);
}

void wall_extend_life(struct wall_thread *t, uint64_t start_ns, uint64_t end_ns)
{
	if (start_ns >= end_ns)
		return;
	if (!t->end_ns || start_ns < t->start_ns)
		t->start_ns = start_ns;
	if (end_ns > t->end_ns)
		t->end_ns = end_ns;
}

/* A row that belongs to a stack that the trace has. */
static bool is_stacked(const struct wall *w, const struct jvm_event_row *r)
{
	return event_is_sum(r) && table_find(&w->an->a->nodes, r->node) != TABLE_NONE;
}

static void count(const struct wall *w, struct wall_thread *t, const struct jvm_event_row *r)
{
	enum wall_state state = wall_state_of_sum(w, r);
	bool stacked = is_stacked(w, r);
	uint32_t stack = stacked ? table_row_of(&w->an->a->nodes, r->node) : ROW_NONE;

	t->counted_ns[state] = add_saturating(t->counted_ns[state], r->weight);
	if (analysis_selects_stack(w->an, stack))
		t->chosen_ns[state] = add_saturating(t->chosen_ns[state], r->weight);
	t->sums.count += stacked && !t->vthread;
}

/* What was counted before the life began is not of it: the thread was followed for less until then. */
void wall_take_counted(const struct wall *w, struct wall_thread *t, const struct jvm_event_row *r)
{
	bool before = t->known && !event_is_sum(r) && r->time_ns < t->start_ns;

	if (r->kind == BRAID_JVM_COUNTED && r->number == BRAID_JVM_OFFCPU && !before)
		count(w, t, r);
}

void wall_take_life(struct wall_thread *t, const struct jvm_event_row *r)
{
	if (r->kind != BRAID_JVM_THREAD_TIME || !r->duration_ns)
		return;
	t->known = true;
	t->running_ns = add_saturating(t->running_ns, r->value);
	t->runnable_ns = add_saturating(t->runnable_ns, r->weight);
	wall_extend_life(t, r->time_ns, event_end_ns(r));
}

/* A virtual thread's time without a carrier, or the LOCK that says more about it. */
static bool is_unmounted(const struct jvm_event_row *r)
{
	return event_is_unmounted(r) || (r->kind == BRAID_JVM_LOCK && r->vthread);
}

/* What is known in sum, and in place. Without a recorded life, it is as long as the latter. */
static void take_row(struct wall *w, struct wall_thread *t, const struct jvm_event_row *r)
{
	if (wall_is_off_cpu(r) && !t && !is_unmounted(r)) {
		w->nobodys++;
		w->nobodys_ns = add_saturating(w->nobodys_ns, r->duration_ns);
	}
	if (t)
		wall_take_counted(w, t, r);
	if (!t || (!wall_is_off_cpu(r) && !wall_is_note(r)))
		return;
	t->rows.count++;
	if (wall_is_off_cpu(r) && !t->known)
		wall_extend_life(t, r->time_ns, event_end_ns(r));
}

static void take_all(struct wall *w)
{
	const struct analyzer *a = w->an->a;

	for (size_t i = 0; i < a->events.count; i++) {
		uint32_t row = table_row_of(&a->threads, a->events.at[i].thread);

		if (row != ROW_NONE)
			wall_take_life(&w->threads.at[row], &a->events.at[i]);
	}
	for (size_t i = 0; i < a->events.count; i++) {
		uint32_t row = table_row_of(&a->threads, a->events.at[i].thread);

		take_row(w, row == ROW_NONE ? NULL : &w->threads.at[row], &a->events.at[i]);
	}
}

/* ---- one OS thread with several names ---- */

static const struct thread_row *row_at(const struct wall *w, size_t row)
{
	return table_row(&w->an->a->threads, row);
}

static uint64_t os_thread(const struct thread_row *t)
{
	return (uint64_t)t->process << 32 | t->tid;
}

/* Gives what is known of one row to the row that has the OS thread's life; the busier one's name is shown. */
static void join(struct wall *w, size_t row, size_t with)
{
	struct wall_thread *t = &w->threads.at[row], *to = &w->threads.at[with];

	w->leader[row] = (uint32_t)with;
	if (t->rows.count > to->most) {
		to->most = t->rows.count;
		to->thread = (uint32_t)row;
	}
	to->rows.count += t->rows.count;
	to->java = to->java || t->java;
	for (int s = 0; s < WALL_STATES; s++) {
		to->counted_ns[s] = add_saturating(to->counted_ns[s], t->counted_ns[s]);
		to->chosen_ns[s] = add_saturating(to->chosen_ns[s], t->chosen_ns[s]);
	}
	to->sums.count += t->sums.count;
	*t = (struct wall_thread){.thread = (uint32_t)row};
}

/* Whether a row without a life is of another time than that life. */
static bool is_apart(const struct wall_thread *t, const struct wall_thread *life)
{
	return t->end_ns && (t->start_ns >= life->end_ns || t->end_ns <= life->start_ns);
}

/* So often is a thread's number used again in a process, at most: each row is compared with that many lives. */
#define REUSED_MAX 256

/*
 * An OS thread can be several Java threads in turn, such as main and DestroyJavaVM, or have no Java name at first. Its
 * life is one of them only.
 */
static int join_all(struct wall *w)
{
	size_t count = w->threads.count;
	uint32_t *next = calloc(count + 1, sizeof(*next)); /* of the same OS thread: rows + 1 */
	struct u64map known = {0};			   /* OS threads to their rows with a life + 1 */
	int err = next ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && !err; i++) {
		uint32_t *at = w->threads.at[i].known ? u64map_put(&known, os_thread(row_at(w, i))) : NULL;

		if (w->threads.at[i].known && !at)
			err = -ENOMEM;
		if (at) {
			next[i] = *at;
			*at = (uint32_t)i + 1;
		}
	}
	for (size_t i = 0; i < count && !err; i++) {
		const struct wall_thread *t = &w->threads.at[i];
		uint32_t with = t->known || row_at(w, i)->virtual ? 0 : u64map_get(&known, os_thread(row_at(w, i)));
		unsigned others = 0;

		while (with && others < REUSED_MAX && is_apart(t, &w->threads.at[with - 1])) {
			with = next[with - 1];
			others++;
		}
		if (with && others < REUSED_MAX)
			join(w, i, with - 1);
	}
	u64map_free(&known);
	free(next);
	return err;
}

/* ---- order ---- */

int wall_compare_rows(const void *x, const void *y, void *ctx)
{
	const struct jvm_event_row *events = ctx;
	const struct jvm_event_row *p = &events[*(const uint32_t *)x], *q = &events[*(const uint32_t *)y];

	if (p->time_ns != q->time_ns)
		return p->time_ns < q->time_ns ? -1 : 1;
	if ((p->kind == BRAID_JVM_OFFCPU) != (q->kind == BRAID_JVM_OFFCPU)) /* a note comes before what it explains */
		return p->kind == BRAID_JVM_OFFCPU ? 1 : -1;
	if (p->duration_ns != q->duration_ns)
		return p->duration_ns < q->duration_ns ? -1 : 1;
	return *(const uint32_t *)x < *(const uint32_t *)y ? -1 : 1;
}

static bool is_row(const struct wall *w, const struct jvm_event_row *r)
{
	(void)w;
	return wall_is_off_cpu(r) || wall_is_note(r);
}

static struct wall_range *rows_of(struct wall_thread *t)
{
	return &t->rows;
}

static struct wall_range *sums_of(struct wall_thread *t)
{
	return &t->sums;
}

/* The indices of the events that belong, by thread; the ranges' counts are known. NULL: no memory. */
static uint32_t *place(struct wall *w, struct wall_range *range_of(struct wall_thread *),
		       bool belongs(const struct wall *, const struct jvm_event_row *))
{
	const struct analyzer *a = w->an->a;
	uint32_t *placed;
	size_t all = 0;

	for (size_t i = 0; i < w->threads.count; i++) {
		struct wall_range *range = range_of(&w->threads.at[i]);

		range->first = all;
		all += range->count;
		range->count = 0;
	}
	placed = calloc(all + 1, sizeof(*placed));
	for (size_t i = 0; placed && i < a->events.count; i++) {
		const struct jvm_event_row *r = &a->events.at[i];
		uint32_t row = belongs(w, r) ? table_row_of(&a->threads, r->thread) : ROW_NONE;
		struct wall_range *range = row == ROW_NONE ? NULL : range_of(&w->threads.at[w->leader[row]]);

		if (range)
			placed[range->first + range->count++] = (uint32_t)i;
	}
	return placed;
}

static int place_all(struct wall *w)
{
	w->rows = place(w, rows_of, is_row);
	w->sums = place(w, sums_of, is_stacked);
	if (!w->rows || !w->sums)
		return -ENOMEM;
	for (size_t i = 0; i < w->threads.count; i++) {
		const struct wall_range *range = &w->threads.at[i].rows;

		if (range->count)
			qsort_r(w->rows + range->first, range->count, sizeof(*w->rows), wall_compare_rows,
				w->an->a->events.at);
	}
	return 0;
}

/* ---- locks ---- */

static bool is_monitor(const struct jvm_event_row *r)
{
	return r->kind == BRAID_JVM_LOCK && !(r->flags & BRAID_LOCK_PARKED);
}

/* Of one thread's waits that a LOCK with an owner covers. A parked thread's LOCK is the wait itself. */
static int find_locks_of(struct wall *w, const struct wall_thread *t)
{
	const struct analyzer *a = w->an->a;
	const struct jvm_event_row *lock = NULL; /* the last one, or the one that begins next */

	for (size_t i = t->rows.first, end = i + t->rows.count; i < end; i++) {
		const struct jvm_event_row *r = &a->events.at[w->rows[i]];
		const struct jvm_event_row *next = i + 1 < end ? &a->events.at[w->rows[i + 1]] : r;
		uint32_t *at;

		if (is_monitor(r))
			lock = r;
		if (is_monitor(next) && wall_is_inside(r, next))
			lock = next;
		if (r->kind != BRAID_JVM_OFFCPU || !lock || !lock->other || !wall_is_inside(r, lock) ||
		    wall_state_of(w->an, r) != WALL_MONITOR)
			continue;
		at = u64map_put(&w->lock_of, w->rows[i]);
		if (!at)
			return -ENOMEM;
		*at = (uint32_t)(lock - a->events.at) + 1;
	}
	return 0;
}

static int find_locks(struct wall *w)
{
	int err = 0;

	for (size_t i = 0; i < w->threads.count && !err; i++)
		err = find_locks_of(w, &w->threads.at[i]);
	return err;
}

int wall_lives(struct wall *w)
{
	size_t count = w->an->a->threads.count;

	w->leader = calloc(count + 1, sizeof(*w->leader));
	if (!w->leader || VEC_RESERVE(&w->threads, count + 1))
		return -ENOMEM;
	w->threads.count = count;
	for (size_t i = 0; i < count; i++) {
		w->leader[i] = (uint32_t)i;
		w->threads.at[i] =
			(struct wall_thread){.thread = (uint32_t)i, .java = row_at(w, i)->flags & TRACE_THREAD_JAVA};
	}
	take_all(w);
	for (size_t i = 0; i < count; i++)
		w->threads.at[i].most = w->threads.at[i].rows.count;
	return join_all(w) ?: place_all(w) ?: find_locks(w);
}
