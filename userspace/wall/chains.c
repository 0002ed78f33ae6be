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

#include <analyze/event_views.h>

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

static uint32_t row_of_id(const struct table *t, uint32_t id)
{
	size_t row = id ? table_find(t, id) : TABLE_NONE;

	return row == TABLE_NONE ? ROW_NONE : (uint32_t)row;
}

/* "[parked] in a.B.c" */
static void add_wait(const struct analysis *an, struct line *l, const struct jvm_event_row *r)
{
	uint32_t stack = row_of_id(&an->a->nodes, r->node);

	add(l, "[%s]", wall_key(wall_state_of(an, r)));
	add_site(an, l, stack);
}

/* " <- pool-1-thread-* in d.E.f"; *waker is its row, ROW_NONE: no thread. */
static int add_waker(struct wall_view *v, struct line *l, const struct jvm_event_row *r, uint32_t *waker)
{
	const struct analysis *an = v->wall->an;
	uint32_t stack = row_of_id(&an->a->nodes, r->other_node);
	const char *name;

	*waker = row_of_id(&an->a->threads, r->other);
	if (*waker == ROW_NONE) {
		add(l, " <- %s", wall_ended_by(v->wall, r));
		return 0;
	}
	name = thread_pattern(&v->texts, analysis_thread_name(an, *waker));
	if (!name)
		return -ENOMEM;
	add(l, " <- %s", name);
	add_site(an, l, stack);
	return 0;
}

static int count_line(struct wall_view *v, struct u64map *of, wall_chain_list *list, const struct line *l, uint64_t ns)
{
	uint32_t id = strpool_add(&v->texts, l->text, l->used);
	uint32_t *at = id == STRPOOL_FAILED ? NULL : u64map_put(of, id);
	struct wall_chain fresh = {.text = at ? strpool_get(&v->texts, id) : ""};
	struct wall_chain *c;

	if (!at || (!*at && VEC_PUSH(list, fresh)))
		return -ENOMEM;
	if (!*at)
		*at = (uint32_t)list->count;
	c = &list->at[*at - 1];
	c->count++;
	c->ns = add_saturating(c->ns, ns);
	if (ns > c->max_ns)
		c->max_ns = ns;
	return 0;
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

		err = add_waker(v, &link, r, &waker);
		r = wall_wait_before(v->wall, waker, r);
		if (r) {
			add(&link, ", after ");
			add_wait(v->wall->an, &link, r);
		} else if (waker != ROW_NONE) {
			add(&link, " [running]");
		}
		add_link(l, &last, &link);
	}
	return err;
}

int wall_view_wakes(struct wall_view *v, const struct wall_thread *t, const struct wall_segment *s)
{
	const struct jvm_event_row *r = s->row;
	const struct analysis *an = v->wall->an;
	const char *name = thread_pattern(&v->texts, analysis_thread_name(an, t->thread));
	uint64_t start_ns = r->time_ns, ns = wall_woken_ns(r) - r->time_ns;
	struct line wake = {.used = 0}, chain;
	uint32_t waker;
	int err;

	if (!name)
		return -ENOMEM;
	if (!analysis_clip(an, &start_ns, &ns))
		return 0;
	add(&wake, "%s ", name);
	add_wait(an, &wake, r);
	chain = wake;
	err = add_waker(v, &wake, r, &waker) ?: count_line(v, &v->wake_of, &v->wakes, &wake, ns);
	if (err || !wall_wait_before(v->wall, waker, r))
		return err;
	return add_links(v, &chain, r) ?: count_line(v, &v->chain_of, &v->chains, &chain, ns);
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
	if (v->wakes.count)
		qsort(v->wakes.at, v->wakes.count, sizeof(*v->wakes.at), compare_chains);
	if (v->chains.count)
		qsort(v->chains.at, v->chains.count, sizeof(*v->chains.at), compare_chains);
}
