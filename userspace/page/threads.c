// SPDX-License-Identifier: Apache-2.0
/* Lanes of threads, and of virtual threads: the segments of their lives, see wall/wall.h. */
#include <stdlib.h>

#include <util/compare.h>

#include "lanes.h"

/* A segment's third number: the state, and bits. The fourth is the number of its detail. */
#define SEGMENT_IDLE 0x20U
#define SEGMENT_WOKEN 0x40U /* the thread was woken at its end */

struct threads {
	struct lanes lanes;
	struct details *details;
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
	if (s->row && s->row->other && !event_is_open(s->row) && s->state != WALL_RUNNABLE &&
	    s->end_ns == wall_woken_ns(s->row))
		code |= SEGMENT_WOKEN;
	err = details_of(k->details, s, &detail);
	return err ?: pack_put(&k->lane->segments, code) ?: pack_put(&k->lane->segments, detail);
}

/* ---- which threads ---- */

struct candidate {
	uint32_t id; /* index in w->threads, or of a virtual thread */
	uint64_t busy_ns;
};

/* Those whose lives are least idle, if there are too many. */
struct candidates {
	VEC(struct candidate) list;
};

static int compare(const void *x, const void *y)
{
	const struct candidate *p = x, *q = y;

	return compare_u64(q->busy_ns, p->busy_ns) ?: compare_u64(p->id, q->id);
}

static uint64_t busy_ns(const struct wall_thread *t)
{
	return t->life_ns - t->ns[WALL_IDLE];
}

static int add_vthread(void *ctx, const struct wall_thread *t)
{
	struct candidates *c = ctx;

	return VEC_PUSH(&c->list, (struct candidate){t->vthread, busy_ns(t)});
}

/* OS threads have a copy, too, so that both are asked alike. */
static bool get_thread(const struct wall *w, bool virtual, uint32_t id, struct wall_thread *t)
{
	if (virtual)
		return wall_vthread(w, id, t);
	*t = w->threads.at[id];
	return true;
}

/* Measures the first `most` of them; *left_out: the others. */
static int measure_all(struct threads *k, const struct wall *w, bool virtual, size_t most, uint64_t *left_out)
{
	struct candidates c = {0};
	struct wall_thread t;
	int err = 0;

	for (size_t i = 0; i < w->an->a->threads.count && !virtual && !err; i++)
		if (w->threads.at[i].life_ns)
			err = VEC_PUSH(&c.list, (struct candidate){(uint32_t)i, busy_ns(&w->threads.at[i])});
	if (virtual)
		err = wall_each_vthread(w, add_vthread, &c);
	VEC_SORT(&c.list, compare);
	*left_out = c.list.count > most ? c.list.count - most : 0;
	for (size_t i = 0; i < c.list.count && i < most && !err; i++)
		if (get_thread(w, virtual, c.list.at[i].id, &t))
			err = lanes_begin(&k->lanes, c.list.at[i].id) ?: wall_each(w, &t, measure, k) ?: lanes_end(&k->lanes);
	free(c.list.at);
	return err;
}

/* ---- output ---- */

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

static int write_lane(struct threads *k, const struct wall *w, const struct lane *lane, const struct wall_thread *t)
{
	struct page *p = k->lanes.page;
	uint32_t number;
	int err = page_thread(p, t->thread, &number);

	if (err)
		return err;
	json_open(&p->j, NULL, '{');
	json_number(&p->j, "thread", number);
	if (t->vthread) {
		json_number(&p->j, "vthread", t->vthread);
		json_string(&p->j, "name", wall_name(w, t));
		json_number(&p->j, "number", wall_number(w, t));
	}
	json_number(&p->j, "start_us", lanes_time(p, t->start_ns) / 1000);
	json_number(&p->j, "end_us", lanes_time(p, t->end_ns) / 1000);
	write_sums(&p->j, t);
	err = lanes_write(&k->lanes, lane);
	json_close(&p->j, '}');
	return err;
}

/*
 * A list of lanes: the members `name` and `left_name`. `part`: of what a page may have of segments, one of so many
 * parts.
 */
static int write_lanes(struct details *d, bool virtual, size_t most, unsigned part, const char *name,
		       const char *left_name)
{
	struct page *p = d->page;
	struct threads k = {.lanes = {.page = p, .budget.most = PAGE_SEGMENTS_MAX / part}, .details = d};
	struct wall_thread t;
	uint64_t left_out;
	int err = measure_all(&k, d->wall, virtual, most, &left_out);

	lanes_fit(&k.lanes, PAGE_BIN_BYTES / part);
	json_open(&p->j, name, '[');
	for (size_t i = 0; i < k.lanes.list.count && !err; i++) {
		k.lane = &k.lanes.list.at[i];
		if (get_thread(d->wall, virtual, k.lane->id, &t))
			err = wall_each(d->wall, &t, keep, &k) ?: write_lane(&k, d->wall, k.lane, &t);
	}
	json_close(&p->j, ']');
	json_number(&p->j, left_name, left_out);
	lanes_free(&k.lanes);
	return err;
}

int html_thread_lanes(struct page *p, const struct wall *w)
{
	struct details d = {.page = p, .wall = w};
	int err = write_lanes(&d, false, PAGE_LANES_MAX, 1, "threads", "threads_left_out");

	if (w->vthread_count)
		err = err ?: write_lanes(&d, true, PAGE_VLANES_MAX, 4, "vthreads", "vthreads_left_out");
	err = err ?: details_write(&d);
	details_free(&d);
	return err;
}
