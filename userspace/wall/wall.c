// SPDX-License-Identifier: Apache-2.0
#include "wall.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <analyze/blocked.h>
#include <analyze/events.h>
#include <util/search.h>

/* ---- states ---- */

static const struct {
	const char *key, *title;
} states[WALL_STATES] = {
	[WALL_RUNNING] = {"running", "running"},
	[WALL_RUNNABLE] = {"runnable", "waited for a CPU"},
	[WALL_CARRIER] = {"carrier", "waited for a carrier"},
	[WALL_GC] = {"gc", "stood still for a GC pause"},
	[WALL_SAFEPOINT] = {"safepoint", "stood still for another VM operation"},
	[WALL_MONITOR] = {"monitor", "blocked on a monitor"},
	[WALL_PARKED] = {"parked", "parked"},
	[WALL_WAITING] = {"waiting", "waited for notify"},
	[WALL_SLEEPING] = {"sleeping", "slept"},
	[WALL_FUTEX] = {"futex", "futex"},
	[WALL_POLL] = {"poll", "poll, select, epoll"},
	[WALL_SOCKET] = {"socket", "socket"},
	[WALL_PIPE] = {"pipe", "pipe"},
	[WALL_FILE] = {"file", "file"},
	[WALL_BLOCK_IO] = {"block", "block I/O"},
	[WALL_FAULT] = {"fault", "page fault"},
	[WALL_STOPPED] = {"stopped", "stopped"},
	[WALL_CHILD] = {"child", "waited for a child process"},
	[WALL_CALL] = {"call", "another system call"},
	[WALL_BLOCKED] = {"blocked", "blocked, the reason is not known"},
	[WALL_IDLE] = {"idle", "idle: waited for work"},
	[WALL_UNKNOWN] = {"unknown", "not known"},
};

const char *wall_key(enum wall_state state)
{
	return states[state].key;
}

const char *wall_title(enum wall_state state)
{
	return states[state].title;
}

bool wall_is_blocked(enum wall_state state)
{
	return state >= WALL_MONITOR && state <= WALL_BLOCKED;
}

enum wall_state wall_state_of_class(uint32_t flags)
{
	static const uint8_t of_class[BRAID_OFFCPU_CLASSES] = {
		[BRAID_OFFCPU_UNKNOWN] = WALL_BLOCKED, [BRAID_OFFCPU_RUNNABLE] = WALL_RUNNABLE,
		[BRAID_OFFCPU_FUTEX] = WALL_FUTEX,     [BRAID_OFFCPU_SLEEP] = WALL_SLEEPING,
		[BRAID_OFFCPU_POLL] = WALL_POLL,       [BRAID_OFFCPU_SOCKET] = WALL_SOCKET,
		[BRAID_OFFCPU_PIPE] = WALL_PIPE,       [BRAID_OFFCPU_FILE] = WALL_FILE,
		[BRAID_OFFCPU_BLOCK] = WALL_BLOCK_IO,  [BRAID_OFFCPU_FAULT] = WALL_FAULT,
		[BRAID_OFFCPU_STOPPED] = WALL_STOPPED, [BRAID_OFFCPU_CHILD] = WALL_CHILD,
		[BRAID_OFFCPU_CALL] = WALL_CALL,       [BRAID_OFFCPU_UNMOUNTED] = WALL_PARKED,
		[BRAID_OFFCPU_CARRIER] = WALL_CARRIER,
	};
	unsigned class = BRAID_OFFCPU_CLASS(flags);

	return class < BRAID_OFFCPU_CLASSES ? (enum wall_state)of_class[class] : WALL_BLOCKED;
}

static bool is_futex(uint32_t flags)
{
	return BRAID_OFFCPU_CLASS(flags) == BRAID_OFFCPU_FUTEX ||
	       (BRAID_OFFCPU_CLASS(flags) == BRAID_OFFCPU_UNKNOWN && (flags & BRAID_OFFCPU_SYSCALL) == SYS_futex);
}

/* The trace of a recording that did not ask for off-CPU times has no classes, but the number of the system call. */
static enum wall_state state_of_call(uint32_t flags)
{
	switch (flags & BRAID_OFFCPU_SYSCALL) {
	case SYS_futex:
		return WALL_FUTEX;
	case SYS_poll:
	case SYS_ppoll:
	case SYS_select:
	case SYS_pselect6:
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
		return WALL_POLL;
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
		return WALL_SLEEPING;
	case SYS_wait4:
	case SYS_waitid:
		return WALL_CHILD;
	case BRAID_OFFCPU_SYSCALL:
		return WALL_BLOCKED;
	default:
		return WALL_CALL;
	}
}

static uint32_t stack_of(const struct analysis *an, const struct jvm_event_row *row)
{
	uint32_t stack = table_row_of(&an->a->nodes, row->node);

	return stack != ROW_NONE && event_is_unmounted(row) ? place_of(an, stack)->seen : stack;
}

enum wall_state wall_state_of(const struct analysis *an, const struct jvm_event_row *row)
{
	static const uint8_t of_java[] = {[BLOCKED_PARKED] = WALL_PARKED,
					  [BLOCKED_SLEEPING] = WALL_SLEEPING,
					  [BLOCKED_WAITING] = WALL_WAITING,
					  [BLOCKED_MONITOR] = WALL_MONITOR};
	enum blocked_why why = place_why(place_of(an, stack_of(an, row)), row->flags);

	if (row->kind == BRAID_JVM_LOCK)
		return WALL_PARKED;
	if (why != BLOCKED_CALL)
		return (enum wall_state)of_java[why];
	return BRAID_OFFCPU_CLASS(row->flags) ? wall_state_of_class(row->flags) : state_of_call(row->flags);
}

/* ---- rows ---- */

static uint64_t tail_of(const struct jvm_event_row *r)
{
	if (r->kind == BRAID_JVM_OFFCPU && BRAID_OFFCPU_CLASS(r->flags) == BRAID_OFFCPU_RUNNABLE)
		return r->duration_ns;
	return r->value < r->duration_ns ? r->value : r->duration_ns;
}

uint64_t wall_woken_ns(const struct jvm_event_row *row)
{
	return event_end_ns(row) - (event_end_ns(row) - row->time_ns < tail_of(row) ? 0 : tail_of(row));
}

/* ---- segments ---- */

/* For which pauses a thread that is off the CPU stands still. */
enum stands {
	STANDS_NEVER,
	STANDS_BEGUN, /* those that had begun before */
	STANDS_EACH,
	STANDS_ALWAYS, /* it does nothing else: also when the pause is not known */
};

struct walk {
	const struct wall *w;
	const struct wall_thread *t;
	wall_fn fn;
	void *ctx;
	uint64_t cursor;			 /* everything before it is in a segment */
	uint64_t note_end_ns;			 /* until when the object is known */
	uint32_t note;				 /* in a->strings */
	uint64_t gap_ns, inside_ns, runnable_ns; /* for wall_sum() */
	/* of the current row */
	struct wall_segment segment;
	bool selected;
	enum stands stands;
	uint32_t process;
};

static int emit(struct walk *k, enum wall_state state, uint64_t start_ns, uint64_t end_ns)
{
	struct wall_segment s = k->segment;
	uint64_t ns = end_ns - start_ns;
	int err;

	if (start_ns >= end_ns || !k->selected || !analysis_clip(k->w->an, &start_ns, &ns))
		return 0;
	s.state = state;
	s.idle = s.idle && wall_is_blocked(state);
	s.start_ns = start_ns;
	s.end_ns = start_ns + ns;
	err = k->fn(k->ctx, k->t, &s);
	k->segment.first = false;
	return err;
}

static int emit_rest(struct walk *k, enum wall_state state, uint64_t start_ns, uint64_t end_ns)
{
	return emit(k, k->stands == STANDS_ALWAYS && wall_is_blocked(state) ? WALL_SAFEPOINT : state, start_ns, end_ns);
}

typedef int (*part_fn)(struct walk *k, enum wall_state state, uint64_t start_ns, uint64_t end_ns);

/* Cuts the pauses of a list out of a part; `rest` takes what is left. */
static int cut(struct walk *k, const struct wall_pauses *list, enum wall_state as, enum wall_state state,
	       uint64_t start_ns, uint64_t end_ns, part_fn rest)
{
	const struct wall_pause *p = wall_pauses_after(list, k->process, start_ns);
	int err = 0;

	for (; p && p->start_ns < end_ns && start_ns < end_ns && !err; p = wall_pauses_next(list, p)) {
		uint64_t from = p->start_ns > start_ns ? p->start_ns : start_ns;
		uint64_t to = p->end_ns < end_ns ? p->end_ns : end_ns;

		if (k->stands == STANDS_BEGUN && p->start_ns > k->segment.row->time_ns)
			continue;
		err = rest(k, state, start_ns, from) ?: emit(k, as, from, to);
		start_ns = to;
	}
	return err ?: rest(k, state, start_ns, end_ns);
}

static int cut_safepoints(struct walk *k, enum wall_state state, uint64_t start_ns, uint64_t end_ns)
{
	return cut(k, k->w->safepoints, WALL_SAFEPOINT, state, start_ns, end_ns, emit_rest);
}

static int emit_part(struct walk *k, enum wall_state state, uint64_t start_ns, uint64_t end_ns)
{
	if (k->stands == STANDS_NEVER || start_ns >= end_ns)
		return emit(k, state, start_ns, end_ns);
	return cut(k, k->w->gc, WALL_GC, state, start_ns, end_ns, cut_safepoints);
}

static uint64_t inside(const struct analysis *an, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t ns = end_ns - start_ns;

	return start_ns < end_ns && analysis_clip(an, &start_ns, &ns) ? ns : 0;
}

/* Until `end_ns`, the thread was not off the CPU, or not for long. */
static int emit_gap(struct walk *k, uint64_t end_ns)
{
	const struct filter *f = k->w->an->filter;
	uint64_t start_ns = k->cursor;

	if (end_ns <= start_ns)
		return 0;
	k->cursor = end_ns;
	k->gap_ns += end_ns - start_ns;
	k->inside_ns += inside(k->w->an, start_ns, end_ns);
	k->segment = (struct wall_segment){.first = true, .stack = ROW_NONE};
	k->selected = f->include.count == 0;
	return emit(k, k->t->known ? WALL_RUNNING : WALL_UNKNOWN, start_ns, end_ns);
}

/*
 * A Java thread stands still for a pause in the VM's own code: native code goes on, and a thread that was parked before
 * is parked during the pause, too. A thread that begins to park in a pause comes back to Java code. The VM's thread can
 * also take the CPU from a thread that is about to stand still.
 */
static enum stands stands(const struct wall_thread *t, const struct place *p, const struct jvm_event_row *r)
{
	bool waits = is_futex(r->flags) || BRAID_OFFCPU_CLASS(r->flags) == BRAID_OFFCPU_RUNNABLE;

	if (!t->java || !p || !waits || r->kind != BRAID_JVM_OFFCPU)
		return STANDS_NEVER;
	if (p->safepoint)
		return STANDS_ALWAYS;
	if (!p->vm || p->native)
		return STANDS_NEVER;
	return p->why == BLOCKED_CALL ? STANDS_EACH : STANDS_BEGUN;
}

static void begin_row(struct walk *k, const struct jvm_event_row *r)
{
	const struct analysis *an = k->w->an;
	uint32_t stack = stack_of(an, r);
	const struct place *p = place_of(an, stack);

	k->segment = (struct wall_segment){.first = true, .row = r, .stack = stack};
	k->segment.idle = event_is_idle(an, k->t->thread, stack);
	k->segment.object = r->name ?: event_middle_ns(r) < k->note_end_ns ? k->note : 0;
	k->selected = analysis_selects_stack(an, stack);
	k->stands = stands(k->t, p, r);
	k->process = r->process;
}

static int emit_row(struct walk *k, const struct jvm_event_row *r)
{
	uint64_t end_ns = event_end_ns(r) < k->t->end_ns ? event_end_ns(r) : k->t->end_ns;
	uint64_t woken_ns = wall_woken_ns(r), start_ns;
	enum wall_state state = wall_state_of(k->w->an, r);
	int err;

	if (end_ns <= k->cursor)
		return 0;
	err = emit_gap(k, r->time_ns);
	start_ns = k->cursor;
	if (start_ns >= end_ns || err)
		return err;
	woken_ns = woken_ns < start_ns ? start_ns : woken_ns > end_ns ? end_ns : woken_ns;
	k->cursor = end_ns;
	k->runnable_ns += end_ns - woken_ns;
	begin_row(k, r);
	return emit_part(k, state, start_ns, woken_ns) ?: emit_part(k, WALL_RUNNABLE, woken_ns, end_ns);
}

/*
 * Whether the thread's row is a time off the CPU and not only says more about one. If the life is recorded, a LOCK's
 * time off the CPU has a row of its own, or was too short for one, and is counted.
 */
static bool is_placed(const struct wall_thread *t, const struct jvm_event_row *r)
{
	return wall_is_off_cpu(r) && (r->kind == BRAID_JVM_OFFCPU || !t->known);
}

static void take_note(struct walk *k, const struct jvm_event_row *r)
{
	if (is_placed(k->t, r))
		return;
	k->note = r->name;
	k->note_end_ns = event_end_ns(r);
}

static int walk_thread(struct walk *k)
{
	const struct jvm_event_row *events = k->w->an->a->events.at;
	const struct wall_thread *t = k->t;
	const uint32_t *rows = t->vthread ? k->w->vthread_rows : k->w->rows;
	int err = 0;

	k->cursor = t->start_ns;
	for (size_t i = t->rows.first, end = i + t->rows.count; i < end && !err; i++) {
		const struct jvm_event_row *r = &events[rows[i]];

		take_note(k, r);
		if (i + 1 < end && wall_is_inside(r, &events[rows[i + 1]]))
			take_note(k, &events[rows[i + 1]]);
		if (is_placed(t, r))
			err = r->time_ns < t->end_ns ? emit_row(k, r) : 0;
	}
	return err ?: emit_gap(k, t->end_ns);
}

int wall_each(const struct wall *w, const struct wall_thread *t, wall_fn fn, void *ctx)
{
	struct walk k = {.w = w, .t = t, .fn = fn, .ctx = ctx};

	return t->life_ns ? walk_thread(&k) : 0;
}

const struct jvm_event_row *wall_lock_of(const struct wall *w, const struct jvm_event_row *r)
{
	const struct jvm_event_row *events = w->an->a->events.at;
	uint32_t lock = u64map_get(&w->lock_of, (uint64_t)(r - events));

	return lock ? &events[lock - 1] : NULL;
}

const struct jvm_event_row *wall_waited_for(const struct wall *w, const struct jvm_event_row *r)
{
	return r->other || event_is_unmounted(r) ? r : wall_lock_of(w, r) ?: r;
}

const struct jvm_event_row *wall_last(const struct wall *w, uint32_t thread, uint64_t time_ns, bool ended)
{
	const struct wall_thread *t = &w->threads.at[w->leader[thread]];
	const struct jvm_event_row *events = w->an->a->events.at;
	size_t low = SEARCH(i, t->rows.first, t->rows.first + t->rows.count, events[w->rows[i]].time_ns < time_ns);

	/* times off the CPU do not overlap, so it is one of the last few */
	for (int tries = 0; low > t->rows.first && tries < 8; tries++) {
		const struct jvm_event_row *r = &events[w->rows[--low]];

		if (is_placed(t, r) && (!ended || event_end_ns(r) <= time_ns))
			return r;
	}
	return NULL;
}

const struct jvm_event_row *wall_wait_before(const struct wall *w, uint32_t waker, const struct jvm_event_row *r)
{
	bool ended = wall_waited_for(w, r) == r;
	const struct jvm_event_row *own = waker == ROW_NONE ? NULL : wall_last(w, waker, wall_woken_ns(r), ended);

	return own && wall_woken_ns(own) > r->time_ns && wall_is_blocked(wall_state_of(w->an, own)) ? own : NULL;
}

const char *wall_ended_by(const struct wall *w, const struct jvm_event_row *r)
{
	const char *text = strpool_get(&w->an->a->strings, r->text);

	if (event_is_open(r))
		return "[not ended]";
	if (*text)
		return text;
	return r->kind == BRAID_JVM_OFFCPU && r->flags & BRAID_OFFCPU_IRQ ? "[interrupt]" : "[not known]";
}

void wall_end_text(char to[WALL_END_TEXT], const struct wall *w, const struct jvm_event_row *r)
{
	uint32_t owner = event_is_open(r) ? table_row_of(&w->an->a->threads, r->other) : ROW_NONE;
	const char *then = wall_parked_owner(w, r);

	if (*then)
		snprintf(to, WALL_END_TEXT, "%s, held by %s when it parked", wall_ended_by(w, r), then);
	else
		snprintf(to, WALL_END_TEXT, "%s%s%s", wall_ended_by(w, r), owner == ROW_NONE ? "" : ", held by ",
			 owner == ROW_NONE ? "" : analysis_thread_name(w->an, owner));
}

uint32_t wall_waker(const struct wall *w, const struct jvm_event_row *r)
{
	return event_is_open(r) ? ROW_NONE : table_row_of(&w->an->a->threads, r->other);
}

/* ---- life ---- */

static int add_segment(void *ctx, const struct wall_thread *t, const struct wall_segment *s)
{
	struct wall_thread *to = ctx;

	(void)t;
	if (s->row)
		to->ns[s->idle ? WALL_IDLE : s->state] += s->end_ns - s->start_ns;
	return 0;
}

void wall_sum_thread(const struct wall *w, struct wall_thread *t)
{
	struct walk k = {.w = w, .t = t, .fn = add_segment, .ctx = t};

	if (t->start_ns >= t->end_ns || !analysis_selects_thread(w->an, t->thread))
		return;
	(void)walk_thread(&k); /* add_segment() does not fail */
	wall_sum(w, t, k.gap_ns, k.inside_ns, k.runnable_ns);
}

int wall_new(struct wall **out, const struct analysis *an)
{
	struct wall *w = calloc(1, sizeof(*w));
	int err = w ? 0 : -ENOMEM;

	*out = w;
	if (!w)
		return err;
	w->an = an;
	w->gc = wall_pauses_new(an, BRAID_JVM_GC_PAUSE);
	w->safepoints = wall_pauses_new(an, BRAID_JVM_SAFEPOINT);
	err = w->gc && w->safepoints ? wall_lives(w) ?: wall_vthreads_find(w) : -ENOMEM;
	if (!err)
		err = wall_weigh(w);
	for (size_t i = 0; i < w->threads.count && !err; i++)
		wall_sum_thread(w, &w->threads.at[i]);
	if (err) {
		wall_free(w);
		*out = NULL;
	}
	return err;
}

void wall_free(struct wall *w)
{
	if (!w)
		return;
	wall_pauses_free(w->gc);
	wall_pauses_free(w->safepoints);
	free(w->threads.at);
	free(w->weights);
	free(w->leader);
	free(w->rows);
	free(w->vthread_rows);
	free(w->sums);
	u64map_free(&w->lock_of);
	free(w);
}
