// SPDX-License-Identifier: Apache-2.0
/* Walks the critical path. explain_tree.c makes the tree and its parts of what is found. */
#include "explain.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <views/event_views.h>
#include <analyze/events.h>

/* A piece of the path: a segment of a thread, as far as it explains something. */
struct piece {
	uint32_t thread, parent, depth;
	const struct wall_segment *s;
	uint64_t from_ns, to_ns;
	struct wall_shares *on_cpu; /* what of the times between times off the CPU it ran */
};

static int follow(struct explaining *x, uint32_t thread, uint64_t from_ns, uint64_t to_ns, uint32_t parent,
		  uint32_t depth);

/* "request-*"; NULL without memory. */
static const char *pool_of(struct explaining *x, uint32_t thread)
{
	return thread_pattern(&x->e->texts, wall_thread_name(x->e->wall, thread));
}

__attribute__((format(printf, 2, 3))) static const char *text_of(struct explaining *x, const char *format, ...)
{
	char text[512];
	va_list args;
	uint32_t id;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	id = strpool_add(&x->e->texts, text, strlen(text));
	return id == STRPOOL_FAILED ? NULL : strpool_get(&x->e->texts, id);
}

/* ---- leaves ---- */

static void note_longest(struct explain_longest *longest, const struct piece *p, uint64_t at_ns, uint64_t ns)
{
	if (ns > longest->ns || !longest->at_ns)
		*longest = (struct explain_longest){
			.ns = ns, .at_ns = at_ns, .thread = p->thread, .stack = p->s ? p->s->stack : ROW_NONE};
}

static const char *ended_by(struct explaining *x, const struct piece *p)
{
	char text[WALL_END_TEXT];
	uint32_t waker;

	if (!p->s || !p->s->row || !wall_is_blocked(p->s->state))
		return "";
	waker = event_is_open(p->s->row) ? ROW_NONE : timeline_waited_for(x->e->wall, p->s);
	if (waker != ROW_NONE)
		return wall_thread_name(x->e->wall, waker);
	wall_end_text(text, x->e->wall, p->s->row);
	return text_of(x, "%s", text) ?: wall_ended_by(x->e->wall, p->s->row);
}

/* This piece has no further reason. */
static void end_here(struct explaining *x, uint32_t node, const struct piece *p, uint64_t at_ns, uint64_t ns)
{
	struct explain_node *n = &x->e->nodes.at[node];
	uint64_t longest = x->e->longest.ns;

	n->self_ns += ns;
	if (n->longest.at_ns == at_ns && n->longest.ns == ns)
		n->ended_by = ended_by(x, p);
	note_longest(&x->e->longest, p, at_ns, ns);
	if (x->e->longest.ns != longest)
		x->e->longest_node = node;
}

/* The node of a piece; ROW_NONE without memory. */
static uint32_t node_of(struct explaining *x, const struct piece *p, struct explain_kind kind)
{
	kind.pool = pool_of(x, p->thread);
	kind.own = p->depth == 0;
	kind.who = kind.own ? wall_thread_name(x->e->wall, p->thread) : kind.pool;
	return kind.pool && kind.object ? explain_node(x, p->parent, &kind) : ROW_NONE;
}

/* The same, and counts the piece. */
static uint32_t enter(struct explaining *x, const struct piece *p, struct explain_kind kind, uint64_t at_ns,
		      uint64_t ns)
{
	uint32_t node = node_of(x, p, kind);

	if (node == ROW_NONE)
		return node;
	x->e->nodes.at[node].count++;
	note_longest(&x->e->nodes.at[node].longest, p, at_ns, ns);
	return node;
}

static int leaf(struct explaining *x, const struct piece *p, struct explain_kind kind, uint64_t at_ns, uint64_t ns)
{
	uint32_t node = ns ? enter(x, p, kind, at_ns, ns) : 0;

	if (node == ROW_NONE)
		return -ENOMEM;
	if (ns)
		end_here(x, node, p, at_ns, ns);
	return 0;
}

/* ---- running ---- */

/* The times of a sum: of a share of them, neither their number nor the longest is known. */
static void note_sum(struct explain_node *n, uint32_t thread, const struct timeline_sum *sum)
{
	if (n->shared) {
		n->longest = (struct explain_longest){.thread = thread, .stack = sum->stack};
		return;
	}
	if (n->state != WALL_RUNNABLE) /* that is mostly the ends of other times, which are not in its number */
		n->count = add_saturating(n->count, sum->count);
	if (sum->longest_ns > n->longest.ns || !n->longest.at_ns)
		n->longest = (struct explain_longest){
			.ns = sum->longest_ns, .at_ns = sum->longest_at_ns, .thread = thread, .stack = sum->stack};
}

/* Whether a piece's time in a state is left out. */
static bool leave_out(struct explaining *x, const struct piece *p, enum wall_state state, uint64_t ns)
{
	if (x->idle || p->depth || state != WALL_IDLE)
		return false;
	x->e->left_out_ns += ns;
	return true;
}

/* A part of a sum of the piece's thread; `whole`: all of it. */
static int sum_leaf(struct explaining *x, const struct piece *p, const struct timeline_sum *sum, uint64_t ns,
		    bool whole)
{
	bool stacked = sum->stack != ROW_NONE;
	struct explain_kind kind = {.object = "",
				    .state = sum->state,
				    .site = sum->site,
				    .sum = stacked ? EXPLAIN_ADDED_UP : EXPLAIN_COUNTED,
				    .shared = !stacked || !whole};
	uint32_t node;

	if (!ns || leave_out(x, p, sum->state, ns))
		return 0;
	node = node_of(x, p, kind);
	if (node == ROW_NONE)
		return -ENOMEM;
	x->e->nodes.at[node].self_ns += ns;
	note_sum(&x->e->nodes.at[node], p->thread, sum);
	return 0;
}

/*
 * Gives each sum, of spans or others, what of it lies in a piece that may have several segments: all, or a share in
 * proportion to the time between times off the CPU. Takes it from *left_ns.
 */
static int sum_leaves(struct explaining *x, const struct piece *p, bool spans, uint64_t *left_ns)
{
	const struct timeline_life *life = &x->tl->lives[p->thread];
	uint64_t from_ns = timeline_gap_at(life, p->from_ns), to_ns = timeline_gap_at(life, p->to_ns);
	int err = 0;

	for (size_t i = timeline_sum_after(life, from_ns); i < life->sums.count && !err; i++) {
		const struct timeline_sum *s = &life->sums.at[i];
		uint64_t part = timeline_sum_part(s, from_ns, to_ns), ns = part < *left_ns ? part : *left_ns;

		if (s->from_ns >= to_ns)
			break;
		x->pieces++;
		if (spans != (s->span != 0))
			continue;
		*left_ns -= ns;
		err = sum_leaf(x, p, s, ns, ns == part && from_ns <= s->from_ns && to_ns >= s->to_ns);
	}
	return err;
}

/* What is known in sum only of the time of a piece that may have several segments. The rest of it is time on a CPU. */
static int summed(struct explaining *x, const struct piece *p)
{
	const struct timeline_life *life = &x->tl->lives[p->thread];
	uint64_t ns = timeline_gap_at(life, p->to_ns) - timeline_gap_at(life, p->from_ns), left_ns = ns;
	int err = sum_leaves(x, p, true, &left_ns) ?: sum_leaves(x, p, false, &left_ns);

	*p->on_cpu = (struct wall_shares){.ns = left_ns, .weight = ns};
	return err;
}

/* Time on a CPU, with samples. */
static int running(struct explaining *x, const struct piece *p)
{
	uint64_t ns = wall_shares_next(p->on_cpu, p->to_ns - p->from_ns);
	struct explain_kind kind = {.object = "", .site = ROW_NONE};
	uint32_t node = ns ? enter(x, p, kind, p->from_ns, ns) : 0;

	if (node == ROW_NONE)
		return -ENOMEM;
	if (!ns)
		return 0;
	end_here(x, node, p, p->from_ns, ns);
	return explain_hits(x, node, p->thread, p->from_ns, p->to_ns);
}

/* ---- waiting for a CPU ---- */

/* "python3 (pid 7)", who is of another process; a thread of the same one has its name. */
static const char *who_ran(struct explaining *x, const struct piece *p, uint32_t thread)
{
	const struct analysis *an = x->e->wall->an;
	const struct thread_row *mine = table_row(&an->a->threads, x->e->wall->threads.at[p->thread].thread);
	const struct thread_row *its = table_row(&an->a->threads, x->e->wall->threads.at[thread].thread);
	const char *name = pool_of(x, thread);

	if (!name || its->process == mine->process)
		return name;
	return text_of(x, "%s (pid %u)", name, analysis_process(an, its->process)->pid);
}

/* Where it waited before. Where a thread is preempted is a matter of chance. */
static uint32_t woken_site(const struct explaining *x, const struct piece *p)
{
	const struct jvm_event_row *r = p->s->row;

	return r && wall_woken_ns(r) > r->time_ns ? wait_site(x->e->wall->an, p->s->stack) : ROW_NONE;
}

static int runnable(struct explaining *x, const struct piece *p)
{
	uint32_t cpu = wall_run_cpu(p->s->row);
	size_t i = cpu == UINT32_MAX ? x->tl->runs.count : timeline_run_at(x->tl, cpu, p->from_ns);
	struct explain_kind kind = {.state = p->s->state, .site = woken_site(x, p)};
	const char *nobody = cpu == UINT32_MAX ? "" : "unrecorded threads";
	uint64_t at_ns = p->from_ns;
	int err = 0;

	for (; i < x->tl->runs.count && !err; i++) {
		const struct wall_run *run = &x->tl->runs.at[i];
		uint64_t from = run->start_ns > at_ns ? run->start_ns : at_ns;
		uint64_t to = run->end_ns < p->to_ns ? run->end_ns : p->to_ns;
		const char *name;

		if (run->cpu != cpu || run->start_ns >= p->to_ns)
			break;
		if (run->thread == p->thread || from >= to)
			continue;
		kind.object = nobody;
		err = leaf(x, p, kind, at_ns, from - at_ns);
		name = err ? NULL : who_ran(x, p, run->thread);
		kind.object = name;
		err = err ?: leaf(x, p, kind, from, to - from);
		at_ns = to;
		x->pieces++;
	}
	kind.object = nobody;
	return err ?: leaf(x, p, kind, at_ns, p->to_ns - at_ns);
}

/* ---- standing still ---- */

/* "G1 young, Pause Young (Normal), G1 Evacuation Pause" */
static const char *pause_name(struct explaining *x, const struct piece *p)
{
	const struct wall *w = x->e->wall;
	const struct wall_pauses *list = p->s->state == WALL_GC ? w->gc : w->safepoints;
	const struct wall_pause *pause = p->s->row ? wall_pauses_after(list, p->s->row->process, p->from_ns) : NULL;
	const struct strpool *strings = &w->an->a->strings;
	const char *name, *text, *detail;

	if (!pause || pause->start_ns >= p->to_ns)
		return "";
	name = strpool_get(strings, pause->row->name);
	text = strpool_get(strings, pause->row->text);
	detail = strpool_get(strings, pause->row->detail);
	return text_of(x, "%s%s%s%s%s", name, *text ? ", " : "", text, *detail ? ", " : "", detail);
}

/* ---- blocked ---- */

/* Who ended the wait, or has what is still waited for, if that thread can be followed: ROW_NONE if not. */
static uint32_t waker_of(const struct explaining *x, const struct piece *p)
{
	uint32_t waker = timeline_waited_for(x->e->wall, p->s);

	if (waker == ROW_NONE || p->depth >= EXPLAIN_DEPTH || x->pieces > EXPLAIN_PIECES ||
	    !x->e->wall->threads.at[waker].known)
		return ROW_NONE;
	for (uint32_t i = 0; i <= p->depth; i++)
		if (x->chain[i] == waker)
			return ROW_NONE;
	return waker;
}

static int blocked(struct explaining *x, const struct piece *p)
{
	const struct analysis *an = x->e->wall->an;
	bool idle = p->s->idle && !p->depth;
	uint32_t waker = idle ? ROW_NONE : waker_of(x, p), node;
	struct explain_kind kind = {.state = idle ? WALL_IDLE : p->s->state,
				    .site = wait_site(an, p->s->stack),
				    .object = strpool_get(&an->a->strings, p->s->object)};
	uint64_t ns = p->to_ns - p->from_ns;

	if (leave_out(x, p, kind.state, ns))
		return 0;
	node = enter(x, p, kind, p->from_ns, ns);
	if (node == ROW_NONE)
		return -ENOMEM;
	if (waker != ROW_NONE)
		return follow(x, waker, p->from_ns, p->to_ns, node, p->depth + 1);
	end_here(x, node, p, p->from_ns, ns);
	return 0;
}

/* ---- the path ---- */

static int step(struct explaining *x, const struct piece *p)
{
	struct explain_kind kind = {.state = p->s->state, .object = "", .site = wait_site(x->e->wall->an, p->s->stack)};

	if (++x->pieces > EXPLAIN_PIECES)
		x->e->cut = true;
	switch (p->s->state) {
	case WALL_RUNNING:
		return running(x, p);
	case WALL_RUNNABLE:
		return runnable(x, p);
	case WALL_GC:
	case WALL_SAFEPOINT:
		kind.object = pause_name(x, p);
		return leaf(x, p, kind, p->from_ns, p->to_ns - p->from_ns);
	case WALL_UNKNOWN:
		return leaf(x, p, kind, p->from_ns, p->to_ns - p->from_ns);
	default:
		return blocked(x, p);
	}
}

/* Of a thread that was not there, or is not known to have been: those who waited have no further reason. */
static int nobody(struct explaining *x, const struct piece *p)
{
	struct explain_kind kind = {.state = WALL_UNKNOWN, .object = "", .site = ROW_NONE};
	uint64_t ns = p->to_ns - p->from_ns;

	if (p->from_ns >= p->to_ns)
		return 0;
	if (!p->depth)
		return leaf(x, p, kind, p->from_ns, ns);
	end_here(x, p->parent, &(struct piece){.thread = x->chain[p->depth - 1]}, p->from_ns, ns);
	return 0;
}

/* Explains an interval by what a thread did in it. */
static int follow(struct explaining *x, uint32_t thread, uint64_t from_ns, uint64_t to_ns, uint32_t parent,
		  uint32_t depth)
{
	const struct timeline_life *life = &x->tl->lives[thread];
	struct wall_shares on_cpu;
	struct piece p = {.thread = thread,
			  .parent = parent,
			  .depth = depth,
			  .from_ns = from_ns,
			  .to_ns = to_ns,
			  .on_cpu = &on_cpu};
	int err = timeline_life(x->tl, thread) ?: summed(x, &p);

	x->chain[depth] = thread;
	for (size_t i = err ? 0 : timeline_segment_at(life, from_ns); !err && i < life->segments.count; i++) {
		const struct wall_segment *s = &life->segments.at[i];

		if (s->start_ns >= to_ns)
			break;
		p.s = NULL;
		p.from_ns = from_ns;
		p.to_ns = s->start_ns > from_ns ? s->start_ns : from_ns;
		err = nobody(x, &p);
		p.s = s;
		p.from_ns = p.to_ns;
		from_ns = p.to_ns = s->end_ns < to_ns ? s->end_ns : to_ns;
		err = err ?: step(x, &p);
	}
	p.s = NULL;
	p.from_ns = from_ns;
	p.to_ns = to_ns;
	return err ?: nobody(x, &p);
}

/* Between two threads of the span, nobody was seen in it. */
static int between(struct explaining *x, const struct span_leg *from, const struct span_leg *to, uint64_t from_ns,
		   uint64_t to_ns)
{
	struct explain_kind kind = {.state = WALL_UNKNOWN, .site = ROW_NONE, .object = ""};
	struct piece p = {.thread = to->thread, .from_ns = from_ns, .to_ns = to_ns};

	if (from_ns >= to_ns)
		return 0;
	if (from)
		kind.object =
			text_of(x, "between %s and %s", pool_of(x, from->thread) ?: "", pool_of(x, to->thread) ?: "");
	return leaf(x, &p, kind, from_ns, to_ns - from_ns);
}

static int follow_path(struct explaining *x, const struct stretch *s)
{
	const struct span_leg *last = NULL, *leg;
	uint64_t at_ns = s->from_ns;
	int err = 0;

	for (size_t i = 0; i < s->path->legs.count && !err; i++) {
		leg = &s->path->legs.at[i];
		err = between(x, last, leg, at_ns, leg->from_ns)
			      ?: follow(x, leg->thread, leg->from_ns, leg->to_ns, 0, 0);
		at_ns = leg->to_ns;
		last = leg;
	}
	return err ?: last ? between(x, NULL, last, at_ns, s->to_ns) : 0;
}

int explain_new(struct explain **out, struct timeline *tl, const struct stretch *s, bool idle)
{
	struct explain *e = calloc(1, sizeof(*e));
	struct explaining x = {.e = e, .tl = tl, .idle = idle};
	int err = -ENOMEM;

	*out = e;
	if (!e)
		return err;
	e->wall = tl->wall;
	e->stretch = *s;
	if (!VEC_PUSH(&e->nodes,
		      (struct explain_node){.who = "", .pool = "", .object = "", .ended_by = "", .site = ROW_NONE}))
		err = (s->path ? follow_path(&x, s) : follow(&x, s->thread, s->from_ns, s->to_ns, 0, 0))
			      ?: explain_finish(&x);
	e->pieces = x.pieces;
	strpool_free(&x.keys);
	u64map_free(&x.node_of);
	u64map_free(&x.hit_of);
	free(x.hits.at);
	if (err) {
		explain_free(e);
		*out = NULL;
	}
	return err;
}

void explain_free(struct explain *e)
{
	if (!e)
		return;
	free(e->nodes.at);
	free(e->parts.at);
	strpool_free(&e->texts);
	free(e);
}
