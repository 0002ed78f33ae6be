// SPDX-License-Identifier: Apache-2.0
#include "facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <analyze/events.h>
#include <util/compare.h>

/* ---- waits ---- */

static bool is_one_of(uint32_t call, const uint16_t *calls, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (calls[i] == call)
			return true;
	return false;
}

static bool syncs(uint32_t call)
{
	static const uint16_t calls[] = {SYS_fsync, SYS_fdatasync, SYS_msync, SYS_sync_file_range, SYS_syncfs};

	return is_one_of(call, calls, sizeof(calls) / sizeof(calls[0]));
}

static bool writes(uint32_t call)
{
	static const uint16_t calls[] = {SYS_write, SYS_pwrite64, SYS_writev, SYS_pwritev, SYS_pwritev2};

	return is_one_of(call, calls, sizeof(calls) / sizeof(calls[0]));
}

/* "server.log", "/var/log/messages", "access_log" are logs, "catalog" and "login" are not. */
static bool is_log_path(const char *path)
{
	for (const char *at = path; (at = strstr(at, "log")); at += 3) {
		bool begins = at == path || !((at[-1] | 32) >= 'a' && (at[-1] | 32) <= 'z');

		if (begins && !((at[3] | 32) >= 'a' && (at[3] | 32) <= 'z'))
			return true;
	}
	return false;
}

static bool is_file_state(enum wall_state state)
{
	return state == WALL_BLOCK_IO || state == WALL_FILE || state == WALL_CALL;
}

static enum wait_class file_class(const struct facts *f, const struct wall_segment *s, uint8_t marks)
{
	uint32_t call = s->row->flags & BRAID_OFFCPU_SYSCALL;
	bool write = writes(call), sync = syncs(call);

	if (s->state == WALL_CALL && !sync)
		return WAIT_OTHER;
	if ((write || sync) && (marks & MARK_LOG || is_log_path(strpool_get(&f->an->a->strings, s->object))))
		return WAIT_LOG;
	return write || sync ? WAIT_SYNC : s->state == WALL_BLOCK_IO ? WAIT_DISK : WAIT_OTHER;
}

static bool by_timer(const struct facts *f, const struct wall_segment *s)
{
	return s->state == WALL_SLEEPING ||
	       (s->row->flags & BRAID_OFFCPU_IRQ && strcmp(wall_ended_by(f->wall, s->row), "timer") == 0);
}

static enum wait_class class_of(const struct facts *f, const struct wall_segment *s)
{
	uint8_t marks = s->stack == ROW_NONE ? 0 : f->marks[s->stack];

	if (marks & MARK_GC)
		return WAIT_GC_CALL;
	if (!wall_is_blocked(s->state))
		return WAIT_OTHER;
	if (marks & MARK_RESOLVER)
		return WAIT_DNS;
	if (is_file_state(s->state))
		return file_class(f, s, marks);
	if (s->state == WALL_FAULT)
		return WAIT_FAULT;
	return by_timer(f, s) ? WAIT_TIMER : WAIT_OTHER;
}

static int add_place(struct facts *f, const struct wall_segment *s, uint64_t count, uint64_t ns, uint64_t max_ns)
{
	struct fact_place fresh = {
		.class = class_of(f, s), .state = s->state, .site = wait_site(f->an, s->stack), .object = ""};
	uint32_t name = fresh.site == ROW_NONE ? 0 : f->an->syms.at[f->an->xframes.at[fresh.site].sym].name + 1;
	uint32_t *at = u64map_put(&f->place_of, (uint64_t)(fresh.class << 8 | fresh.state) << 32 | name);
	struct fact_place *p;

	if (!at || (!*at && VEC_PUSH(&f->places, fresh)))
		return -ENOMEM;
	if (!*at)
		*at = (uint32_t)f->places.count;
	p = &f->places.at[*at - 1];
	p->count = add_saturating(p->count, count);
	p->ns = add_saturating(p->ns, ns);
	if (max_ns > p->max_ns) {
		p->max_ns = max_ns;
		p->object = strpool_get(&f->an->a->strings, s->object);
	}
	return 0;
}

/* ---- threads ---- */

/* Classes that exclude others. What else a thread parks for mostly means that it waits for work or for a result. */
static bool is_lock_class(const char *name)
{
	static const char *const locks[] = {"java.util.concurrent.locks.ReentrantLock",
					    "java.util.concurrent.locks.ReentrantReadWriteLock",
					    "java.util.concurrent.locks.StampedLock", "java.util.concurrent.Semaphore"};

	for (size_t i = 0; i < sizeof(locks) / sizeof(locks[0]); i++)
		if (strncmp(name, locks[i], strlen(locks[i])) == 0)
			return true;
	return false;
}

static void keep_longest(uint64_t *max_ns, uint32_t *site, uint64_t ns, uint32_t at)
{
	if (ns <= *max_ns)
		return;
	*max_ns = ns;
	*site = at;
}

static void take_waker(struct facts *f, const struct wall_segment *s, uint64_t ns)
{
	uint32_t row = table_row_of(&f->an->a->threads, s->row->other);
	struct fact_thread *waker = row == ROW_NONE ? NULL : &f->threads[f->wall->leader[row]];

	if (!waker)
		return;
	waker->for_it_ns = add_saturating(waker->for_it_ns, ns);
	keep_longest(&waker->for_it_max_ns, &waker->for_it_site, ns, wait_site(f->an, s->stack));
}

static bool waits_for_lock(const struct facts *f, const struct wall_segment *s)
{
	return s->state == WALL_MONITOR ||
	       (s->state == WALL_PARKED && is_lock_class(strpool_get(&f->an->a->strings, s->object)));
}

static void take_thread(struct facts *f, const struct wall_thread *t, const struct wall_segment *s, uint64_t ns)
{
	struct fact_thread *at = &f->threads[t - f->wall->threads.at];
	uint32_t site = wait_site(f->an, s->stack);

	take_waker(f, s, ns);
	if (s->stack != ROW_NONE && f->marks[s->stack] & MARK_POOL && !waits_for_lock(f, s)) {
		at->pool_ns = add_saturating(at->pool_ns, ns);
		keep_longest(&at->pool_max_ns, &at->pool_site, ns, site);
	}
	if (s->row->vthread) {
		at->pinned_ns = add_saturating(at->pinned_ns, ns);
		keep_longest(&at->pinned_max_ns, &at->pinned_site, ns, site);
	}
}

/*
 * A thread that waits for a monitor wakes from time to time by itself and looks. The thread that leaves the monitor
 * wakes it, and then it has made progress. The last wait has no stack if the thread looked while the recording ended.
 */
static void take_stuck(struct facts *f, const struct wall_thread *t, const struct wall_segment *s, uint64_t ns)
{
	struct fact_thread *at = &f->threads[t - f->wall->threads.at];

	if (!s->row || s->state == WALL_RUNNABLE || (s->stack == ROW_NONE && s->row->flags & BRAID_OFFCPU_OPEN))
		return;
	if (s->state != WALL_MONITOR || (s->row->other && !event_is_open(s->row))) {
		at->stuck_ns = 0;
		return;
	}
	at->stuck_ns = add_saturating(at->stuck_ns, ns);
	at->stuck_site = wait_site(f->an, s->stack);
}

static int take_segment(void *ctx, const struct wall_thread *t, const struct wall_segment *s)
{
	struct facts *f = ctx;
	uint64_t ns = s->end_ns - s->start_ns;

	take_stuck(f, t, s, ns);
	if (!s->row || s->idle)
		return 0;
	f->threads[t - f->wall->threads.at].waits[class_of(f, s)] = true;
	if (wall_is_blocked(s->state))
		take_thread(f, t, s, ns);
	return add_place(f, s, s->first, ns, ns);
}

static int take_part(void *ctx, const struct wall_thread *t, const struct wall_part *p)
{
	const struct wall_segment s = {.state = p->state, .row = p->row, .stack = p->stack};
	struct facts *f = ctx;

	if (!p->row)
		f->counted_ns[p->state] = add_saturating(f->counted_ns[p->state], p->ns);
	if (!p->row || p->state == WALL_IDLE)
		return 0;
	f->threads[t - f->wall->threads.at].waits[class_of(f, &s)] = true;
	return add_place(ctx, &s, p->row->value, p->ns, p->row->duration_ns);
}

/* Waits that were too short for records are shared out like those of the same state that have some. */
static void share_counted(struct facts *f)
{
	uint64_t recorded[WALL_STATES] = {0};

	for (size_t i = 0; i < f->places.count; i++)
		recorded[f->places.at[i].state] = add_saturating(recorded[f->places.at[i].state], f->places.at[i].ns);
	for (size_t i = 0; i < f->places.count; i++) {
		struct fact_place *p = &f->places.at[i];
		bool is_shared = p->state == WALL_BLOCK_IO || p->state == WALL_FILE || p->state == WALL_FAULT;

		p->ns = add_saturating(p->ns,
				       is_shared ? wall_share(f->counted_ns[p->state], p->ns, recorded[p->state]) : 0);
		f->waited_ns[p->class] = add_saturating(f->waited_ns[p->class], p->ns);
	}
}

static int compare_places(const void *x, const void *y)
{
	const struct fact_place *p = x, *q = y;
	int c = compare_u64(q->ns, p->ns);

	if (!c)
		c = compare_u64(p->class, q->class);
	return c ? c : compare_u64(p->site, q->site);
}

static uint64_t own_ns(const struct wall_thread *t)
{
	uint64_t other = add_saturating(t->ns[WALL_IDLE], t->ns[WALL_RUNNABLE]);

	return t->life_ns > other ? t->life_ns - other : 0;
}

static int take_wall(struct facts *f)
{
	int err = wall_new(&f->wall, f->an);

	f->threads = err ? NULL : calloc(f->wall->threads.count + 1, sizeof(*f->threads));
	if (!f->threads)
		return -ENOMEM;
	for (size_t i = 0; i < f->wall->threads.count; i++)
		f->threads[i].pool_site = f->threads[i].pinned_site = f->threads[i].stuck_site =
			f->threads[i].for_it_site = ROW_NONE;
	for (size_t i = 0; i < f->wall->threads.count && !err; i++) {
		const struct wall_thread *t = &f->wall->threads.at[i];

		if (!t->life_ns)
			continue;
		for (int s = 0; s < WALL_STATES; s++)
			f->wall_ns[s] = add_saturating(f->wall_ns[s], t->ns[s]);
		err = wall_each(f->wall, t, take_segment, f) ?: wall_each_part(f->wall, t, take_part, f);
		for (int class = 0; class < WAITS; class ++)
			if (f->threads[i].waits[class])
				f->own_ns[class] = add_saturating(f->own_ns[class], own_ns(t));
	}
	share_counted(f);
	VEC_SORT(&f->places, compare_places);
	return err;
}

/* ---- events ---- */

static int add_lock(struct facts *f, const struct event *e)
{
	uint64_t which = e->row->number ?: (1ULL << 63 | e->row->name);
	struct fact_lock fresh = {.name = e->name, .owner = "", .site = ROW_NONE, .owner_site = ROW_NONE}, *l;
	uint32_t *at;

	if (e->row->flags & BRAID_LOCK_PARKED && !is_lock_class(e->name))
		return 0;
	at = u64map_put(&f->lock_of, which ^ (uint64_t)e->row->process << 48);
	if (!at || (!*at && VEC_PUSH(&f->locks, fresh)))
		return -ENOMEM;
	if (!*at)
		*at = (uint32_t)f->locks.count;
	l = &f->locks.at[*at - 1];
	l->count++;
	l->ns = add_saturating(l->ns, e->duration_ns);
	if (e->duration_ns <= l->max_ns)
		return 0;
	l->max_ns = e->duration_ns;
	l->max_at_ns = e->start_ns;
	l->site = events_site(f->an, e->stack);
	l->owner = e->other == ROW_NONE ? "" : analysis_thread_name(f->an, e->other);
	l->owner_site = events_site(f->an, e->other_stack);
	return 0;
}

static void add_rate(struct facts *f, enum rate_of rate, const struct event *e)
{
	uint64_t since = analysis_since(f->an, e->start_ns), from = analysis_since(f->an, f->an->from_ns), part;

	part = f->ns && since > from ? (since - from) / (f->ns / PARTS + 1) : 0;
	if (part < PARTS)
		f->rates[rate].part[part] =
			add_saturating(f->rates[rate].part[part], rate == RATE_CLASS_UNLOAD ? e->row->value : 1);
}

static int take_events(struct facts *f)
{
	static const uint8_t rates[BRAID_JVM_EVENTS] = {[BRAID_JVM_DEOPT] = RATE_DEOPT + 1,
							[BRAID_JVM_CLASS_LOAD] = RATE_CLASS_LOAD + 1,
							[BRAID_JVM_CLASS_UNLOAD] = RATE_CLASS_UNLOAD + 1,
							[BRAID_JVM_THREAD_START] = RATE_THREAD_START + 1};
	int err = 0;

	for (size_t i = 0; i < f->an->a->events.count && !err; i++) {
		uint32_t kind = f->an->a->events.at[i].kind;
		struct event e;

		if (kind >= BRAID_JVM_EVENTS || (kind != BRAID_JVM_LOCK && !rates[kind]) || !events_get(f->an, i, &e))
			continue;
		if (kind == BRAID_JVM_LOCK)
			err = add_lock(f, &e);
		else
			add_rate(f, (enum rate_of)(rates[kind] - 1), &e);
	}
	return err;
}

static int compare_locks(const void *x, const void *y)
{
	const struct fact_lock *p = x, *q = y;
	int c = compare_u64(q->ns, p->ns);

	if (!c)
		c = strcmp(p->name, q->name);
	return c ? c : compare_u64(p->max_at_ns, q->max_at_ns);
}

/* ---- life ---- */

int facts_new(struct facts **out, const struct views *v, bool idle)
{
	struct facts *f = calloc(1, sizeof(*f));
	int err = f ? 0 : -ENOMEM;

	*out = f;
	if (err)
		return err;
	f->an = v->an;
	f->idle = idle;
	f->ns = analysis_shown_ns(v->an);
	f->marks = marks_new(v->an);
	err = f->marks ? take_events(f) : -ENOMEM;
	if (!err && events_recorded(v->an, BRAID_EVENT_TYPE_OFFCPU))
		err = take_wall(f);
	VEC_SORT(&f->locks, compare_locks);
	if (err) {
		facts_free(f);
		*out = NULL;
	}
	return err;
}

void facts_free(struct facts *f)
{
	if (!f)
		return;
	wall_free(f->wall);
	free(f->marks);
	free(f->threads);
	free(f->places.at);
	free(f->locks.at);
	u64map_free(&f->place_of);
	u64map_free(&f->lock_of);
	free(f);
}

uint64_t facts_life_ns(const struct facts *f, const struct wall_thread *t)
{
	return f->idle || t->ns[WALL_IDLE] > t->life_ns ? t->life_ns : t->life_ns - t->ns[WALL_IDLE];
}

double facts_steady(const struct facts *f, enum rate_of rate)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < PARTS; i++)
		if (f->rates[rate].part[i] < least)
			least = f->rates[rate].part[i];
	return f->ns ? (double)least * PARTS * 1e9 / (double)f->ns : 0;
}

const struct fact_place *facts_place(const struct facts *f, enum wait_class class)
{
	for (size_t i = 0; i < f->places.count; i++)
		if (f->places.at[i].class == class)
			return &f->places.at[i];
	return NULL;
}
