// SPDX-License-Identifier: Apache-2.0
/* When the Java threads of a JVM stood still. wall.c cuts the pauses out of the times off the CPU. */
#include <stdlib.h>

#include <analyze/events.h>
#include <util/search.h>

#include "wall.h"

static int wall_pauses_compare(const void *x, const void *y)
{
	const struct wall_pause *p = x, *q = y;

	if (p->process != q->process)
		return p->process < q->process ? -1 : 1;
	if (p->start_ns != q->start_ns)
		return p->start_ns < q->start_ns ? -1 : 1;
	return (p->end_ns > q->end_ns) - (p->end_ns < q->end_ns);
}

/* Cuts what overlaps, so that the ends have the order of the starts. */
static void separate(struct wall_pauses *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->list.count; i++) {
		struct wall_pause one = p->list.at[i];

		if (n && p->list.at[n - 1].process == one.process && p->list.at[n - 1].end_ns > one.start_ns)
			one.start_ns = p->list.at[n - 1].end_ns;
		if (one.start_ns < one.end_ns)
			p->list.at[n++] = one;
	}
	p->list.count = n;
}

struct wall_pauses *wall_pauses_new(const struct analysis *an, uint32_t kind)
{
	struct wall_pauses *p = calloc(1, sizeof(*p));

	for (size_t i = 0; p && i < an->a->events.count; i++) {
		const struct jvm_event_row *r = &an->a->events.at[i];
		struct wall_pause one = {r->process, r->time_ns, event_end_ns(r), r};

		if (r->kind == kind && VEC_PUSH(&p->list, one)) {
			wall_pauses_free(p);
			return NULL;
		}
	}
	if (p)
		VEC_SORT(&p->list, wall_pauses_compare);
	if (p)
		separate(p);
	return p;
}

void wall_pauses_free(struct wall_pauses *p)
{
	if (p)
		free(p->list.at);
	free(p);
}

const struct wall_pause *wall_pauses_after(const struct wall_pauses *p, uint32_t process, uint64_t time_ns)
{
	const struct wall_pause *at = p->list.at;
	size_t low = SEARCH(i, 0, p->list.count,
			    at[i].process < process || (at[i].process == process && at[i].end_ns <= time_ns));

	return low < p->list.count && at[low].process == process ? &at[low] : NULL;
}

const struct wall_pause *wall_pauses_next(const struct wall_pauses *p, const struct wall_pause *pause)
{
	const struct wall_pause *next = pause + 1;

	return next < p->list.at + p->list.count && next->process == pause->process ? next : NULL;
}
