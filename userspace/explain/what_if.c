// SPDX-License-Identifier: Apache-2.0
#include "what_if.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <analyze/events.h>

/* ---- changes ---- */

static uint32_t states_named(const char *name)
{
	uint32_t states = 0;

	if (strcmp(name, "io") == 0)
		return 1U << WALL_FILE | 1U << WALL_BLOCK_IO | 1U << WALL_FAULT;
	if (strcmp(name, "cpu") == 0)
		return 1U << WALL_RUNNABLE;
	for (int s = 0; s < WALL_IDLE; s++)
		if (strcmp(name, wall_key((enum wall_state)s)) == 0)
			states |= 1U << s;
	return states;
}

/* "0", "/2", "*1.5" in thousandths. */
static int parse_factor(const char *text, struct what_if_change *c)
{
	char *end;
	double x = strtod(*text == '/' || *text == '*' ? text + 1 : text, &end);
	uint32_t thousandths;

	if (*end || end == text || !(x >= 0 && x <= 1000))
		return -EINVAL;
	thousandths = (uint32_t)(x * 1000 + 0.5);
	if (*text == '/' && !thousandths)
		return -EINVAL;
	if (*text != '/' && *text != '*' && thousandths)
		return -EINVAL;
	c->part = *text == '/' ? 1000 : thousandths;
	c->whole = *text == '/' ? thousandths : 1000;
	return 0;
}

int what_if_add(struct what_if *wi, char *text)
{
	struct what_if_change c = {.target = text};
	char *is = strrchr(text, '=');

	if (wi->count >= WHAT_IF_MAX)
		return -E2BIG;
	if (!is || is == text || parse_factor(is + 1, &c))
		return -EINVAL;
	*is = '\0';
	c.states = states_named(text);
	wi->changes[wi->count++] = c;
	return 0;
}

/* The whole of a name of that length, or what follows its package or its outer class. */
static bool is_called(const char *name, size_t length, const char *target)
{
	size_t wanted = strlen(target);

	if (length < wanted || strncmp(name + length - wanted, target, wanted) != 0)
		return false;
	return length == wanted || strchr(".$", name[length - wanted - 1]);
}

/* A lock of java.util.concurrent is known by a class inside of its own: ReentrantLock$NonfairSync, by convention. */
static bool is_lock_called(const char *class, const char *target)
{
	size_t length = strlen(class);
	const char *inner = strrchr(class, '$');
	bool sync = inner && length >= 4 && strcmp(class + length - 4, "Sync") == 0;

	return is_called(class, length, target) || (sync && is_called(class, (size_t)(inner - class), target));
}

/* ---- the replay ---- */

/* A thread that is replayed. Until `real_ns` of the recording it is done, at `replay_ns`. */
struct lane {
	uint32_t thread;
	bool begun, kept; /* kept: its last wait was needed, and so is the wait for a CPU after it */
	bool paced;	  /* by a clock of its own: no thread of the replay has woken it, or it was idle since */
	size_t first, count, at;
	uint64_t real_ns, replay_ns;
	uint64_t ready_ns; /* when it could have been here if it had not been idle */
	/*
	 * of the current wait, or the last one: where it began, and where the thread was then that ends it (0: not
	 * known)
	 */
	uint64_t wait_ns, waker_ns;
	uint32_t waker;			    /* that thread, ROW_NONE: none */
	const struct jvm_event_row *lock;   /* that it is a part of */
	uint64_t pooled[WHAT_IF_MAX], pool; /* weights of samples in short running segments: with the method, all */
	uint64_t with[WHAT_IF_MAX],
		weight; /* the same for the current segment, if it is running; see enter_segment() */
};

/* The end of a lane's next segment, or its begin. */
struct turn {
	uint64_t time_ns;
	uint32_t lane;
};

struct replay {
	struct what_if *wi;
	struct timeline *tl;
	struct stretch stretch;
	uint64_t matched[WHAT_IF_MAX];
	uint8_t *methods;  /* per row of a->nodes: bits of the changes whose method is on the stack */
	uint32_t *lane_of; /* per thread: index + 1 */
	VEC(struct lane) lanes;
	VEC(struct turn) turns;
};

#define FEW_SAMPLES 8 /* below, the share of a method is that of all such segments of the thread */

static uint64_t scaled(uint64_t ns, const struct what_if_change *c)
{
	return wall_share(ns, c->part, c->whole);
}

static const struct wall_segment *segment_of(const struct replay *r, const struct lane *l)
{
	return &r->tl->lives[l->thread].segments.at[l->at];
}

static uint64_t clipped(const struct replay *r, uint64_t time_ns)
{
	return time_ns < r->stretch.from_ns ? r->stretch.from_ns
	       : time_ns > r->stretch.to_ns ? r->stretch.to_ns
					    : time_ns;
}

static int find_methods(struct replay *r)
{
	const struct analysis *an = r->tl->wall->an;
	uint8_t *of_sym = calloc(an->syms.count + 1, sizeof(*of_sym));

	r->methods = calloc(an->a->nodes.count + 1, sizeof(*r->methods));
	if (!of_sym || !r->methods) {
		free(of_sym);
		return -ENOMEM;
	}
	for (size_t s = 0; s < an->syms.count; s++)
		for (size_t c = 0; c < r->wi->count; c++)
			if (is_called(analysis_sym_name(an, (uint32_t)s), strlen(analysis_sym_name(an, (uint32_t)s)),
				      r->wi->changes[c].target))
				of_sym[s] |= (uint8_t)(1U << c);
	for (size_t i = 0; i < an->a->nodes.count; i++) {
		uint32_t row = an->order[i];
		const struct stack *s = &an->stacks[row];
		const struct expansion *e = s->frame == ROW_NONE ? NULL : &an->expansions[s->frame];

		r->methods[row] = s->parent == ROW_NONE ? 0 : r->methods[s->parent];
		for (uint32_t x = 0; e && x < e->count; x++)
			r->methods[row] |= of_sym[an->xframes.at[e->first + x].sym];
	}
	free(of_sym);
	return 0;
}

/* The weight of a thread's samples in an interval, and of those on stacks with each change's method. */
static uint64_t weigh(const struct replay *r, uint32_t thread, uint64_t from_ns, uint64_t to_ns, uint64_t *with)
{
	uint64_t all = 0;

	for (size_t i = timeline_sample_at(r->tl, thread, from_ns); i < r->tl->samples.count; i++) {
		const struct timeline_sample *s = &r->tl->samples.at[i];

		if (s->thread != thread || s->time_ns >= to_ns)
			break;
		all = add_saturating(all, s->weight);
		for (size_t c = 0; c < r->wi->count && s->stack != ROW_NONE; c++)
			if (r->methods[s->stack] >> c & 1)
				with[c] = add_saturating(with[c], s->weight);
	}
	return all;
}

/* ---- who is replayed ---- */

static int add_lane(struct replay *r, uint32_t thread)
{
	const struct timeline_life *life = &r->tl->lives[thread];
	struct lane l = {.thread = thread,
			 .kept = true,
			 .paced = true,
			 .real_ns = r->stretch.from_ns,
			 .replay_ns = r->stretch.from_ns,
			 .ready_ns = r->stretch.from_ns};
	int err;

	if (r->lane_of[thread])
		return 0;
	err = timeline_life(r->tl, thread);
	l.first = l.at = timeline_segment_at(life, r->stretch.from_ns);
	for (size_t i = l.first; i < life->segments.count && life->segments.at[i].start_ns < r->stretch.to_ns; i++)
		l.count++;
	l.begun = l.count && life->segments.at[l.first].start_ns <= r->stretch.from_ns;
	err = err ?: VEC_PUSH(&r->lanes, l);
	r->lane_of[thread] = (uint32_t)r->lanes.count;
	return err;
}

/* The lane of the thread that ended a wait; NULL: it is not replayed. */
static struct lane *waker_of(const struct replay *r, const struct wall_segment *s)
{
	uint32_t waker = timeline_waited_for(r->tl->wall, s);

	return waker == ROW_NONE || !r->lane_of[waker] ? NULL : &r->lanes.at[r->lane_of[waker] - 1];
}

static int add_wakers(struct replay *r, size_t lane)
{
	uint32_t thread = r->lanes.at[lane].thread;
	size_t first = r->lanes.at[lane].first, count = r->lanes.at[lane].count;
	int err = 0;

	for (size_t i = first; i < first + count && !err; i++) {
		const struct wall_segment *s = &r->tl->lives[thread].segments.at[i];
		uint32_t waker = timeline_waited_for(r->tl->wall, s);

		if (waker != ROW_NONE && waker != thread && r->tl->wall->threads.at[waker].known)
			err = add_lane(r, waker);
	}
	return err;
}

static void pool_samples(struct replay *r, struct lane *l)
{
	for (size_t i = l->first; i < l->first + l->count; i++) {
		const struct wall_segment *s = &r->tl->lives[l->thread].segments.at[i];
		uint64_t with[WHAT_IF_MAX] = {0}, all;

		if (s->state != WALL_RUNNING)
			continue;
		all = weigh(r, l->thread, clipped(r, s->start_ns), clipped(r, s->end_ns), with);
		if (all >= FEW_SAMPLES)
			continue;
		l->pool += all;
		for (size_t c = 0; c < r->wi->count; c++)
			l->pooled[c] += with[c];
	}
}

static int compare_turns(const void *x, const void *y)
{
	const struct turn *p = x, *q = y;

	if (p->time_ns != q->time_ns)
		return p->time_ns < q->time_ns ? -1 : 1;
	return p->lane > q->lane ? -1 : p->lane < q->lane; /* wakers were found later */
}

static int plan(struct replay *r)
{
	int err = add_lane(r, r->stretch.thread);

	for (size_t i = 0; i < r->lanes.count && !err; i++)
		err = add_wakers(r, i);
	for (size_t i = 0; i < r->lanes.count && !err; i++) {
		struct lane *l = &r->lanes.at[i];
		const struct wall_segment *s = r->tl->lives[l->thread].segments.at + l->first;

		pool_samples(r, l);
		if (l->count && !l->begun)
			err = VEC_PUSH(&r->turns, (struct turn){s->start_ns, (uint32_t)i});
		for (size_t k = 0; k < l->count && !err; k++)
			err = VEC_PUSH(&r->turns, (struct turn){clipped(r, s[k].end_ns), (uint32_t)i});
	}
	if (!err)
		VEC_SORT(&r->turns, compare_turns);
	return err;
}

/* ---- new lengths ---- */

/* The time on a CPU: that of the changed methods, and the rest. A stack with several of them counts for the first. */
static uint64_t change_running(const struct replay *r, const struct lane *l, uint64_t ns, uint64_t *matched)
{
	uint64_t left = ns, changed = 0;

	for (size_t c = 0; c < r->wi->count; c++) {
		const struct what_if_change *change = &r->wi->changes[c];
		uint64_t mine = change->states >> WALL_RUNNING & 1 ? ns : wall_share(ns, l->with[c], l->weight);

		mine = mine < left ? mine : left;
		left -= mine;
		changed = add_saturating(changed, scaled(mine, change));
		matched[c] = add_saturating(matched[c], mine);
	}
	return add_saturating(left, changed);
}

static uint64_t change_state(const struct replay *r, enum wall_state state, uint64_t ns, uint64_t *matched)
{
	uint64_t changed = ns;

	for (size_t c = 0; c < r->wi->count; c++)
		if (r->wi->changes[c].states >> state & 1) {
			matched[c] = add_saturating(matched[c], ns);
			changed = scaled(changed, &r->wi->changes[c]);
		}
	return changed;
}

/* Between times off the CPU: what is known in sum only is shared out, as in a window. */
static uint64_t change_gap(const struct replay *r, const struct lane *l, uint64_t ns, uint64_t *matched)
{
	const struct wall_thread *t = &r->tl->wall->threads.at[l->thread];
	uint64_t left = ns, all = 0, changed = 0;

	for (int s = 0; s < WALL_STATES; s++)
		all = add_saturating(all, t->summed_ns[s]);
	for (int s = WALL_RUNNING + 1; s < WALL_STATES; s++) {
		uint64_t mine = wall_share(ns, t->summed_ns[s], all);

		mine = mine < left ? mine : left;
		left -= mine;
		changed = add_saturating(changed, change_state(r, (enum wall_state)s, mine, matched));
	}
	return add_saturating(changed, change_running(r, l, left, matched));
}

/* Whether a change means a time off the CPU. What a thread ended is not its method's time. */
static bool is_meant(const struct replay *r, size_t c, const struct wall_segment *s, bool ended_by_thread)
{
	const struct what_if_change *change = &r->wi->changes[c];

	if (change->states >> s->state & 1)
		return true;
	if (s->object && wall_is_blocked(s->state) &&
	    is_lock_called(strpool_get(&r->tl->wall->an->a->strings, s->object), change->target))
		return true;
	return !ended_by_thread && wall_is_blocked(s->state) && s->stack != ROW_NONE && r->methods[s->stack] >> c & 1;
}

/* `ns`: how long it would take without the changes. */
static uint64_t change_off_cpu(const struct replay *r, const struct wall_segment *s, bool ended_by_thread,
			       uint64_t recorded_ns, uint64_t ns, uint64_t *matched)
{
	for (size_t c = 0; c < r->wi->count; c++)
		if (is_meant(r, c, s, ended_by_thread)) {
			matched[c] = add_saturating(matched[c], recorded_ns);
			ns = scaled(ns, &r->wi->changes[c]);
		}
	return ns;
}

/* ---- the replay itself ---- */

/* Where a lane is in the replay when the recording is at that time, inside of its current segment. */
static uint64_t progress(const struct lane *l, uint64_t time_ns)
{
	return add_saturating(l->replay_ns, time_ns > l->real_ns ? time_ns - l->real_ns : 0);
}

/* The same for a thread that may run at that time, and so be slower or faster. */
static uint64_t reached(const struct replay *r, const struct lane *l, uint64_t time_ns)
{
	uint64_t unused[WHAT_IF_MAX] = {0}; /* it matches when the segment ends */

	if (l->at >= l->first + l->count || segment_of(r, l)->state != WALL_RUNNING || time_ns <= l->real_ns)
		return progress(l, time_ns);
	return add_saturating(l->replay_ns, change_gap(r, l, time_ns - l->real_ns, unused));
}

/* The same for one that may also be in the middle of a wait for nobody, which has a new length. */
static uint64_t passed(const struct replay *r, const struct lane *l, uint64_t time_ns)
{
	const struct wall_segment *s = l->at < l->first + l->count ? segment_of(r, l) : NULL;
	uint64_t unused[WHAT_IF_MAX] = {0}, ns;

	if (!s || !wall_is_blocked(s->state) || waker_of(r, s) || time_ns <= l->real_ns)
		return reached(r, l, time_ns);
	ns = time_ns - l->real_ns;
	return add_saturating(l->replay_ns, change_off_cpu(r, s, false, ns, ns, unused));
}

/*
 * Where the wait begins, and its waker is then. A thread that waits for a monitor may wake and look, and wait on: that
 * is one wait.
 */
static void enter_wait(const struct replay *r, struct lane *l, const struct wall_segment *s)
{
	const struct jvm_event_row *lock = s->row ? wall_lock_of(r->tl->wall, s->row) : NULL;
	const struct lane *waker = waker_of(r, s);

	if (lock && lock == l->lock && waker && waker->thread == l->waker)
		return;
	l->lock = lock;
	l->waker = waker ? waker->thread : ROW_NONE;
	l->wait_ns = l->replay_ns;
	l->waker_ns = waker && waker->begun ? reached(r, waker, l->real_ns) : 0;
}

/* What has to be known of the lane's next segment. */
static void enter_segment(const struct replay *r, struct lane *l)
{
	const struct wall_segment *s = l->at < l->first + l->count ? segment_of(r, l) : NULL;

	memset(l->with, 0, sizeof(l->with));
	l->weight = 0;
	if (s && l->begun && wall_is_blocked(s->state))
		enter_wait(r, l, s);
	if (!s || s->state != WALL_RUNNING)
		return;
	l->weight = weigh(r, l->thread, clipped(r, s->start_ns), clipped(r, s->end_ns), l->with);
	if (l->weight >= FEW_SAMPLES || !l->pool)
		return;
	memcpy(l->with, l->pooled, sizeof(l->with));
	l->weight = l->pool;
}

/*
 * How long the wait would be, if nothing about it changes. A thread with a pace of its own takes as long as it took,
 * from whenever it is waited for: a timer that ended its last wait is no consequence of what the others do.
 */
static uint64_t wait_ns(const struct replay *r, struct lane *l, const struct wall_segment *s, uint64_t end_ns)
{
	const struct lane *waker = waker_of(r, s);
	uint64_t at_ns, from_ns = s->idle ? l->ready_ns : l->replay_ns;

	if (!waker || !waker->begun || waker == l)
		return end_ns - l->real_ns;
	at_ns = passed(r, waker, end_ns);
	if (waker->paced && l->waker_ns) {
		from_ns = l->replay_ns;
		at_ns = add_saturating(l->wait_ns, at_ns > l->waker_ns ? at_ns - l->waker_ns : 0);
	}
	l->paced = false;
	l->replay_ns = from_ns;
	return at_ns > from_ns ? at_ns - from_ns : 0;
}

/* Whether somebody ended the wait who is not known. */
static bool is_unknown(const struct wall_segment *s)
{
	const uint32_t ended = 1U << WALL_MONITOR | 1U << WALL_PARKED | 1U << WALL_WAITING | 1U << WALL_FUTEX |
			       1U << WALL_POLL | 1U << WALL_SOCKET | 1U << WALL_PIPE | 1U << WALL_CHILD;

	return ended >> s->state & 1 && !s->idle && s->row && !s->row->text && !(s->row->flags & BRAID_OFFCPU_IRQ);
}

static void note_unknown(struct replay *r, const struct wall_segment *s, uint64_t ns)
{
	struct what_if *wi = r->wi;
	uint32_t site = wait_site(r->tl->wall->an, s->stack);
	size_t i = 0;

	wi->unknown_ns = add_saturating(wi->unknown_ns, ns);
	while (i < wi->unknown_count &&
	       (wi->unknown[i].state != s->state || wi->unknown[i].object != s->object || wi->unknown[i].site != site))
		i++;
	if (i == WHAT_IF_UNKNOWN)
		return;
	if (i == wi->unknown_count)
		wi->unknown[wi->unknown_count++] =
			(struct what_if_unknown){.state = s->state, .object = s->object, .site = site};
	wi->unknown[i].ns = add_saturating(wi->unknown[i].ns, ns);
	wi->unknown[i].count++;
}

static void finish_wait(struct replay *r, struct lane *l, const struct wall_segment *s, uint64_t end_ns)
{
	const struct lane *waker = waker_of(r, s);
	uint64_t ready_ns = l->ready_ns, recorded_ns = end_ns - l->real_ns;
	uint64_t same_ns = wait_ns(r, l, s, end_ns);
	uint64_t ns = change_off_cpu(r, s, waker, recorded_ns, same_ns, r->matched);

	if (!waker && ns == same_ns && is_unknown(s))
		note_unknown(r, s, recorded_ns);
	l->kept = ns > 0;
	l->replay_ns = add_saturating(l->replay_ns, ns);
	l->ready_ns = l->replay_ns;
	if (!waker && s->idle) {
		l->paced = true;
		l->ready_ns = ready_ns;
	}
}

static void finish_segment(struct replay *r, struct lane *l, uint64_t end_ns)
{
	const struct wall_segment *s = segment_of(r, l);
	uint64_t ns = end_ns - l->real_ns, changed = 0;

	if (wall_is_blocked(s->state)) {
		finish_wait(r, l, s, end_ns);
	} else if (s->state == WALL_RUNNING) {
		changed = change_gap(r, l, ns, r->matched);
	} else {
		changed = l->kept || s->first || s->state != WALL_RUNNABLE
				  ? change_off_cpu(r, s, false, ns, ns, r->matched)
				  : 0;
		l->kept = true;
	}
	l->replay_ns = add_saturating(l->replay_ns, changed);
	l->ready_ns = add_saturating(l->ready_ns, changed);
	l->real_ns = end_ns;
	l->at++;
	enter_segment(r, l);
}

static void take_turn(struct replay *r, const struct turn *turn)
{
	struct lane *l = &r->lanes.at[turn->lane];

	if (!l->begun) {
		l->replay_ns = l->ready_ns = reached(r, &r->lanes.at[0], turn->time_ns);
		l->real_ns = turn->time_ns;
		l->begun = true;
		l->paced = false;
		enter_segment(r, l);
	} else {
		finish_segment(r, l, turn->time_ns);
	}
}

int what_if_replay(struct what_if *wi, struct timeline *tl, const struct stretch *s)
{
	struct replay r = {.wi = wi, .tl = tl, .stretch = *s};
	int err = -ENOMEM;

	r.lane_of = calloc(tl->wall->threads.count + 1, sizeof(*r.lane_of));
	if (r.lane_of)
		err = find_methods(&r) ?: plan(&r);
	for (size_t i = 0; i < r.lanes.count && !err; i++)
		enter_segment(&r, &r.lanes.at[i]);
	for (size_t i = 0; i < r.turns.count && !err; i++)
		take_turn(&r, &r.turns.at[i]);
	for (size_t c = 0; c < wi->count; c++)
		wi->changes[c].matched_ns = r.matched[c];
	if (!err) {
		wi->recorded_ns = s->to_ns - s->from_ns;
		wi->predicted_ns = progress(&r.lanes.at[0], s->to_ns) - s->from_ns;
		wi->threads = r.lanes.count;
	}
	free(r.methods);
	free(r.lane_of);
	free(r.lanes.at);
	free(r.turns.at);
	return err;
}

/* ---- the program ---- */

static bool is_main(const struct wall *w, uint32_t row, uint32_t process, bool java)
{
	const struct thread_row *t = table_row(&w->an->a->threads, row);

	if (t->process != process || t->virtual)
		return false;
	return java ? t->flags & TRACE_THREAD_JAVA && strcmp(analysis_thread_name(w->an, row), "main") == 0
		    : t->tid == analysis_process(w->an, process)->pid;
}

/* The launcher's first thread only waits for main, so the latter goes first. */
bool what_if_program(const struct wall *w, uint32_t process, struct stretch *s)
{
	*s = (struct stretch){.thread = ROW_NONE};
	for (int java = 1; java >= 0 && s->thread == ROW_NONE; java--)
		for (uint32_t i = 0; i < w->an->a->threads.count; i++) {
			const struct wall_thread *t = &w->threads.at[w->leader[i]];

			if (t->life_ns > s->to_ns - s->from_ns && is_main(w, i, process, java))
				*s = (struct stretch){
					.thread = w->leader[i], .from_ns = t->start_ns, .to_ns = t->end_ns};
		}
	return s->thread != ROW_NONE;
}
