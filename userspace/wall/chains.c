// SPDX-License-Identifier: Apache-2.0
/*
 * Who woke whom, from where, and why the waker came only then: the waker's own wait that ended while the first thread
 * waited, and so on, until a thread that ran all the time, an interrupt, or nobody who is known. view.c calls it.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <views/event_views.h>

#include "view.h"

/* A line that is written piece by piece; what does not fit is left out. */
struct line {
	char text[1024];
	size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *l, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(l->text + l->used, sizeof(l->text) - l->used, format, args);
	va_end(args);
	if (n > 0)
		l->used += (size_t)n < sizeof(l->text) - l->used ? (size_t)n : sizeof(l->text) - l->used - 1;
}

static void add_site(const struct analysis *an, struct line *l, uint32_t stack)
{
	uint32_t site = wait_site(an, stack);

	if (stack != ROW_NONE)
		add(l, " in %.*s", wait_site_length(an, site), events_site_name(an, site));
}

/* "[parked] in a.B.c" */
static void add_wait(const struct analysis *an, struct line *l, const struct jvm_event_row *r)
{
	uint32_t stack = table_row_of(&an->a->nodes, r->node);

	add(l, "[%s]", wall_key(wall_state_of(an, r)));
	add_site(an, l, stack);
}

/* " <- pool-1-thread-* in d.E.f", " <- [not ended], held by main"; *waker is its row, ROW_NONE: no thread. */
static int add_waker(struct wall_view *v, struct line *l, const struct jvm_event_row *r, uint32_t *waker)
{
	const struct analysis *an = v->wall->an;
	const struct jvm_event_row *said = wall_waited_for(v->wall, r);
	uint32_t stack = table_row_of(&an->a->nodes, said->other_node);
	const char *name;

	*waker = table_row_of(&an->a->threads, said->other);
	name = *waker == ROW_NONE ? "" : thread_pattern(&v->texts, analysis_thread_name(an, *waker));
	if (!name)
		return -ENOMEM;
	if (*waker == ROW_NONE || event_is_open(said))
		add(l, " <- %s%s%s", wall_ended_by(v->wall, said), *name ? ", held by " : "", name);
	else
		add(l, " <- %s", name);
	add_site(an, l, stack);
	return 0;
}

/* The row with this text, made if there is none, plus one; 0: no memory. */
static uint32_t row_of_line(struct wall_view *v, struct u64map *of, wall_chain_list *list, const struct line *l)
{
	uint32_t id = strpool_add(&v->texts, l->text, l->used);
	uint32_t *at = id == STRPOOL_FAILED ? NULL : u64map_put(of, id);
	struct wall_chain fresh = {.text = at ? strpool_get(&v->texts, id) : ""};

	if (!at || (!*at && VEC_PUSH(list, fresh)))
		return 0;
	if (!*at)
		*at = (uint32_t)list->count;
	return *at;
}

static void count(struct wall_chain *c, uint64_t ns)
{
	c->count++;
	c->ns = add_saturating(c->ns, ns);
	if (ns > c->max_ns)
		c->max_ns = ns;
}

/* ---- texts that were written before ---- */

/* What a text begins with: its kind. */
enum { OF_WAKE = 1, OF_CHAIN = 2 };

/* The number of a sequence of ids that is one longer; 0: no memory. Equal sequences have equal numbers. */
static uint32_t extend(struct wall_view *v, uint32_t sequence, uint32_t id)
{
	uint32_t *at = sequence ? u64map_put(&v->sequences, (uint64_t)sequence << 32 | id) : NULL;

	if (at && !*at)
		*at = (uint32_t)v->sequences.count + OF_CHAIN;
	return at ? *at : 0;
}

/* All that add_wait() writes depends on. */
static uint32_t extend_wait(struct wall_view *v, uint32_t sequence, const struct jvm_event_row *r)
{
	return extend(v, extend(v, sequence, wall_state_of(v->wall->an, r)), r->node);
}

/* The same for add_waker(). */
static uint32_t extend_waker(struct wall_view *v, uint32_t sequence, const struct jvm_event_row *r)
{
	const struct jvm_event_row *said = wall_waited_for(v->wall, r);

	sequence = extend(v, extend(v, sequence, said->other), said->other_node);
	return extend(v, extend(v, extend(v, sequence, r->text), r->kind), r->flags);
}

static uint32_t waker_of(const struct wall_view *v, const struct jvm_event_row *r)
{
	return table_row_of(&v->wall->an->a->threads, wall_waited_for(v->wall, r)->other);
}

/* The same for add_links(). */
static uint32_t extend_links(struct wall_view *v, uint32_t sequence, const struct jvm_event_row *r)
{
	for (int depth = 0; r && depth < WALL_CHAIN_MAX; depth++) {
		uint32_t waker = waker_of(v, r);

		sequence = extend_waker(v, sequence, r);
		r = wall_wait_before(v->wall, waker, r);
		sequence = extend(v, sequence, r != NULL);
		if (r)
			sequence = extend_wait(v, sequence, r);
	}
	return sequence;
}

/* Equal links behind each other are one: how many threads stood in a queue makes no difference. */
static void add_link(struct line *l, struct line *last, const struct line *link)
{
	static const char again[] = " [and so on]";

	if (strcmp(last->text, link->text) != 0) {
		add(l, "%s", link->text);
		*last = *link;
	} else if (l->used < strlen(again) || strcmp(l->text + l->used - strlen(again), again) != 0) {
		add(l, "%s", again);
	}
}

/* The wakers of `r`, each with its own wait that ended meanwhile. */
static int add_links(struct wall_view *v, struct line *l, const struct jvm_event_row *r)
{
	struct line last = {.used = 0};
	uint32_t waker;
	int err = 0;

	for (int depth = 0; r && depth < WALL_CHAIN_MAX && !err; depth++) {
		struct line link = {.used = 0};

		bool open = event_is_open(wall_waited_for(v->wall, r));

		err = add_waker(v, &link, r, &waker);
		r = wall_wait_before(v->wall, waker, r);
		if (r) {
			add(&link, open ? ", which is " : ", after ");
			add_wait(v->wall->an, &link, r);
		} else if (waker != ROW_NONE) {
			add(&link, " [running]");
		}
		add_link(l, &last, &link);
	}
	return err;
}

/* "http-* [parked] in a.B.c", and behind it the waker, or the chain of wakers. Its row plus one; 0: no memory. */
static uint32_t write_line(struct wall_view *v, const struct wall_thread *t, const struct jvm_event_row *r, int kind)
{
	const char *name = thread_pattern(&v->texts, analysis_thread_name(v->wall->an, t->thread));
	struct line l = {.used = 0};
	uint32_t waker;

	if (!name)
		return 0;
	add(&l, "%s ", name);
	add_wait(v->wall->an, &l, r);
	if (kind == OF_WAKE)
		return add_waker(v, &l, r, &waker) ? 0 : row_of_line(v, &v->wake_of, &v->wakes, &l);
	return add_links(v, &l, r) ? 0 : row_of_line(v, &v->chain_of, &v->chains, &l);
}

/* Finds or writes the text of the segment's wait. Its row plus one; 0: no memory. */
static uint32_t find_line(struct wall_view *v, const struct wall_thread *t, const struct jvm_event_row *r, int kind)
{
	uint32_t sequence = extend_wait(v, extend(v, (uint32_t)kind, t->thread), r), *at;

	sequence = kind == OF_WAKE ? extend_waker(v, sequence, r) : extend_links(v, sequence, r);
	at = sequence ? u64map_put(&v->line_of, sequence) : NULL;
	if (at && !*at)
		*at = write_line(v, t, r, kind);
	return at ? *at : 0;
}

int wall_view_wakes(struct wall_view *v, const struct wall_thread *t, const struct wall_segment *s)
{
	const struct jvm_event_row *r = s->row;
	const struct analysis *an = v->wall->an;
	uint64_t start_ns = r->time_ns, ns = wall_woken_ns(r) - r->time_ns;
	uint32_t line;

	if (!analysis_clip(an, &start_ns, &ns))
		return 0;
	line = find_line(v, t, r, OF_WAKE);
	if (!line)
		return -ENOMEM;
	count(&v->wakes.at[line - 1], ns);
	if (!wall_wait_before(v->wall, waker_of(v, r), r))
		return 0;
	line = find_line(v, t, r, OF_CHAIN);
	if (!line)
		return -ENOMEM;
	count(&v->chains.at[line - 1], ns);
	return 0;
}

static int compare_chains(const void *x, const void *y)
{
	const struct wall_chain *p = x, *q = y;

	if (p->ns != q->ns)
		return p->ns > q->ns ? -1 : 1;
	if (p->count != q->count)
		return p->count > q->count ? -1 : 1;
	return strcmp(p->text, q->text);
}

void wall_chains_sort(struct wall_view *v)
{
	VEC_SORT(&v->wakes, compare_chains);
	VEC_SORT(&v->chains, compare_chains);
}
