// SPDX-License-Identifier: Apache-2.0
/* Lanes of threads: the segments of their lives, see wall/wall.h. */
#include <stdlib.h>

#include "lanes.h"

/* A segment's third number: the state, and bits. The fourth is the number of its detail. */
#define SEGMENT_IDLE 0x20U
#define SEGMENT_WOKEN 0x40U /* the thread was woken at its end */

struct threads {
	struct lanes lanes;
	struct details details;
	struct lane *lane;
};

static int measure(void *ctx, const struct wall_thread *t, const struct wall_segment *s)
{
	struct threads *k = ctx;
	const struct page *p = k->lanes.page;

	(void)t;
	return s->state == WALL_UNKNOWN ? 0
					: lanes_measure(&k->lanes, s->idle ? WALL_IDLE : s->state,
							lanes_time(p, s->start_ns), lanes_time(p, s->end_ns));
}

static int keep(void *ctx, const struct wall_thread *t, const struct wall_segment *s)
{
	struct threads *k = ctx;
	const struct page *p = k->lanes.page;
	uint32_t code = s->state | (s->idle ? SEGMENT_IDLE : 0), detail;
	bool kept;
	int err;

	(void)t;
	if (s->state == WALL_UNKNOWN)
		return 0;
	err = lanes_keep(&k->lanes, k->lane, lanes_time(p, s->start_ns), lanes_time(p, s->end_ns), &kept);
	if (!kept || err)
		return err;
	if (s->row && s->row->other && s->state != WALL_RUNNABLE && s->end_ns == wall_woken_ns(s->row))
		code |= SEGMENT_WOKEN;
	err = details_of(&k->details, s, &detail);
	return err ?: pack_put(&k->lane->segments, code) ?: pack_put(&k->lane->segments, detail);
}

/* The threads whose lives are least idle, if there are too many. */
struct candidate {
	const struct wall_thread *t;
	uint32_t number; /* in w->threads */
	uint64_t busy_ns;
};

static int compare(const void *x, const void *y)
{
	const struct candidate *p = x, *q = y;

	if (p->busy_ns != q->busy_ns)
		return p->busy_ns > q->busy_ns ? -1 : 1;
	return p->number < q->number ? -1 : p->number > q->number;
}

static int measure_all(struct threads *k, const struct wall *w, uint64_t *left_out)
{
	VEC(struct candidate) list = {0};
	int err = 0;

	for (size_t i = 0; i < w->threads.count && !err; i++) {
		const struct wall_thread *t = &w->threads.at[i];

		if (t->life_ns)
			err = VEC_PUSH(&list, (struct candidate){t, (uint32_t)i, t->life_ns - t->ns[WALL_IDLE]});
	}
	VEC_SORT(&list, compare);
	*left_out = list.count > PAGE_LANES_MAX ? list.count - PAGE_LANES_MAX : 0;
	for (size_t i = 0; i < list.count && i < PAGE_LANES_MAX && !err; i++)
		err = lanes_begin(&k->lanes, list.at[i].number) ?: wall_each(w, list.at[i].t, measure, k)
								   ?: lanes_end(&k->lanes);
	free(list.at);
	return err;
}

/* Where the time of a thread went: states and ns, those that are not 0. */
static void write_sums(struct json *j, const struct wall_thread *t)
{
	json_open(j, "ns", '[');
	for (unsigned s = 0; s < WALL_STATES; s++)
		if (t->ns[s]) {
			json_number(j, NULL, s);
			json_number(j, NULL, t->ns[s]);
		}
	json_close(j, ']');
}

static int write_lane(struct threads *k, const struct wall *w, const struct lane *lane)
{
	const struct wall_thread *t = &w->threads.at[lane->id];
	struct page *p = k->lanes.page;
	uint32_t number;
	int err = page_thread(p, t->thread, &number);

	if (err)
		return err;
	json_open(&p->j, NULL, '{');
	json_number(&p->j, "thread", number);
	json_number(&p->j, "start_us", lanes_time(p, t->start_ns) / 1000);
	json_number(&p->j, "end_us", lanes_time(p, t->end_ns) / 1000);
	write_sums(&p->j, t);
	err = lanes_write(&k->lanes, lane);
	json_close(&p->j, '}');
	return err;
}

int html_thread_lanes(struct page *p, const struct wall *w)
{
	struct threads k = {.lanes = {.page = p, .budget.most = PAGE_SEGMENTS_MAX}, .details = {.page = p, .wall = w}};
	uint64_t left_out;
	int err = measure_all(&k, w, &left_out);

	lanes_fit(&k.lanes, PAGE_BIN_BYTES);
	json_open(&p->j, "threads", '[');
	for (size_t i = 0; i < k.lanes.list.count && !err; i++) {
		k.lane = &k.lanes.list.at[i];
		err = wall_each(w, &w->threads.at[k.lane->id], keep, &k) ?: write_lane(&k, w, k.lane);
	}
	json_close(&p->j, ']');
	json_number(&p->j, "threads_left_out", left_out);
	err = err ?: details_write(&k.details);
	details_free(&k.details);
	lanes_free(&k.lanes);
	return err;
}
