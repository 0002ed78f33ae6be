// SPDX-License-Identifier: Apache-2.0
#include "view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <views/event_views.h>
#include <util/compare.h>

/* ---- sums ---- */

static void drop_idle(struct wall_sums *s)
{
	s->life_ns -= s->ns[WALL_IDLE] < s->life_ns ? s->ns[WALL_IDLE] : s->life_ns;
	s->ns[WALL_IDLE] = s->summed_ns[WALL_IDLE] = 0;
}

static struct wall_sums sums_of(const struct wall_thread *t, bool idle)
{
	struct wall_sums s = {.threads = 1, .unknown = !t->known, .life_ns = t->life_ns, .excess_ns = t->excess_ns};

	memcpy(s.ns, t->ns, sizeof(s.ns));
	memcpy(s.summed_ns, t->summed_ns, sizeof(s.summed_ns));
	if (!idle)
		drop_idle(&s);
	return s;
}

static void add_sums(struct wall_sums *to, const struct wall_sums *s)
{
	to->threads += s->threads;
	to->unknown += s->unknown;
	to->life_ns = add_saturating(to->life_ns, s->life_ns);
	to->excess_ns = add_saturating(to->excess_ns, s->excess_ns);
	for (int i = 0; i < WALL_STATES; i++) {
		to->ns[i] = add_saturating(to->ns[i], s->ns[i]);
		to->summed_ns[i] = add_saturating(to->summed_ns[i], s->summed_ns[i]);
	}
}

static uint64_t busy_ns(const struct wall_sums *s)
{
	return s->life_ns - s->ns[WALL_IDLE];
}

static int add_group(struct wall_view *v, const struct wall_thread *t, const struct wall_sums *sums)
{
	const uint64_t kind = t->vthread ? 1ULL << 31 : 0;
	const struct analyzer *a = v->wall->an->a;
	const struct thread_row *row = table_row(&a->threads, t->thread);
	size_t process = table_find(&a->processes, row->process);
	const char *name = thread_pattern(&v->texts, analysis_thread_name(v->wall->an, t->thread));
	struct wall_group fresh = {.thread = t->thread, .name = name, .virtual = t->vthread};
	uint32_t id = name ? strpool_add(&v->texts, name, strlen(name)) : STRPOOL_FAILED;
	uint32_t *at;

	fresh.process = (uint32_t)(process == TABLE_NONE ? a->processes.count : process);
	at = id == STRPOOL_FAILED ? NULL : u64map_put(&v->group_of, (uint64_t)fresh.process << 32 | kind | id);
	if (!at || (!*at && VEC_PUSH(&v->groups, fresh)))
		return -ENOMEM;
	if (!*at)
		*at = (uint32_t)v->groups.count;
	add_sums(&v->groups.at[*at - 1].sums, sums);
	return 0;
}

static int compare_groups(const void *x, const void *y)
{
	const struct wall_group *p = x, *q = y;
	int c = compare_u64(p->process, q->process);

	if (!c)
		c = compare_u64(p->virtual, q->virtual);
	if (!c)
		c = compare_u64(busy_ns(&q->sums), busy_ns(&p->sums));
	if (!c)
		c = compare_u64(q->sums.life_ns, p->sums.life_ns);
	return c ? c : strcmp(p->name, q->name);
}

static uint64_t active_ns(const struct wall_sums *s)
{
	return add_saturating(s->ns[WALL_RUNNING], s->ns[WALL_RUNNABLE]);
}

/* Most processes of a machine only wait. */
static int compare_processes(const void *x, const void *y)
{
	const struct wall_process *p = x, *q = y;
	int c = compare_u64(active_ns(&q->sums), active_ns(&p->sums));

	if (!c)
		c = compare_u64(q->sums.life_ns, p->sums.life_ns);
	return c ? c : compare_u64(p->process, q->process);
}

static int add_process(struct wall_view *v, size_t group)
{
	const struct analyzer *a = v->wall->an->a;
	struct wall_process p = {.process = v->groups.at[group].process, .first = group, .name = "[unknown]"};
	const struct process_row *row = p.process < a->processes.count ? table_row(&a->processes, p.process) : NULL;

	if (row) {
		p.id = a->processes.ids[p.process];
		p.pid = row->pid;
	}
	if (row && row->comm)
		p.name = strpool_get(&a->strings, row->comm);
	return VEC_PUSH(&v->processes, p);
}

static int view_processes(struct wall_view *v)
{
	VEC_SORT(&v->groups, compare_groups);
	for (size_t i = 0; i < v->groups.count; i++) {
		struct wall_process *last = v->processes.count ? &v->processes.at[v->processes.count - 1] : NULL;

		if ((!last || last->process != v->groups.at[i].process) && add_process(v, i))
			return -ENOMEM;
		last = &v->processes.at[v->processes.count - 1];
		last->count++;
		add_sums(v->groups.at[i].virtual ? &last->virtual : &last->sums, &v->groups.at[i].sums);
	}
	VEC_SORT(&v->processes, compare_processes);
	return 0;
}

/* ---- what was waited for ---- */

/* A number for a pair of numbers, from 1; 0 without memory. */
static uint32_t key_put(struct u64map *map, uint32_t *count, uint64_t pair)
{
	uint32_t *at = u64map_put(map, pair);

	if (at && !*at)
		*at = ++*count;
	return at ? *at : 0;
}

/* What was waited for, with a number for it: for a futex of the VM it is the VM's function. NULL without memory. */
static const char *object_of(struct wall_view *v, const struct wall_segment *s, uint32_t *id)
{
	const struct analysis *an = v->wall->an;
	const struct place *p = place_of(an, s->stack);

	*id = s->object;
	if (s->object || s->state != WALL_FUTEX || !p || !p->vm || p->code == ROW_NONE || p->code == p->java)
		return strpool_get(&an->a->strings, s->object);
	*id = strpool_add(&v->texts, events_site_name(an, p->code), (size_t)wait_site_length(an, p->code));
	if (*id == STRPOOL_FAILED)
		return NULL;
	*id |= 0x80000000U;
	return strpool_get(&v->texts, *id & ~0x80000000U);
}

/* `count` times off the CPU, or parts of such, of which the longest took `max_ns`. */
static int add_wait(struct wall_view *v, const struct wall_segment *s, uint64_t count_of, uint64_t ns, uint64_t max_ns)
{
	const struct analysis *an = v->wall->an;
	struct wall_wait fresh = {.state = s->state, .site = wait_site(an, s->stack)};
	uint32_t count = (uint32_t)v->key_of.count, object, key, site = 0, *at;
	struct wall_wait *w;

	fresh.object = object_of(v, s, &object);
	if (!fresh.object)
		return -ENOMEM;
	if (fresh.site != ROW_NONE)
		site = an->syms.at[an->xframes.at[fresh.site].sym].name + 1;
	key = key_put(&v->key_of, &count, (uint64_t)s->state << 32 | object);
	at = key ? u64map_put(&v->wait_of, (uint64_t)key << 32 | site) : NULL;
	if (!at || (!*at && VEC_PUSH(&v->waits, fresh)))
		return -ENOMEM;
	if (!*at)
		*at = (uint32_t)v->waits.count;
	w = &v->waits.at[*at - 1];
	w->count = add_saturating(w->count, count_of);
	w->ns = add_saturating(w->ns, ns);
	if (max_ns > w->max_ns)
		w->max_ns = max_ns;
	return 0;
}

static int compare_waits(const void *x, const void *y, void *ctx)
{
	const struct wall_wait *p = x, *q = y;
	const struct analysis *an = ctx;
	int c = compare_u64(q->ns, p->ns);

	if (!c)
		c = compare_u64(q->count, p->count);
	if (!c)
		c = compare_u64(p->state, q->state);
	if (!c)
		c = strcmp(p->object, q->object);
	return c ? c : strcmp(events_site_name(an, p->site), events_site_name(an, q->site));
}

/* ---- life ---- */

struct filling {
	struct wall_view *v;
	bool idle;
};

static void count_segment(struct wall_count *of, const struct wall_segment *s)
{
	uint64_t ns = s->end_ns - s->start_ns;

	of->count++;
	if (ns > of->max_ns)
		of->max_ns = ns;
}

static int add_segment(void *ctx, const struct wall_thread *t, const struct wall_segment *s)
{
	const struct filling *f = ctx;
	struct wall_view *v = f->v;
	int err = 0;

	if (!s->row || (s->idle && !f->idle))
		return 0;
	count_segment(&(t->vthread ? v->of_virtual : v->of)[s->idle ? WALL_IDLE : s->state], s);
	if (s->idle || !wall_is_blocked(s->state) || (t->vthread && !event_is_unmounted(s->row)))
		return 0;
	err = add_wait(v, s, s->first, s->end_ns - s->start_ns, s->end_ns - s->start_ns);
	return err || t->vthread || !s->first ? err : wall_view_wakes(v, t, s);
}

/* A sum of times off the CPU. The longest one includes the time in which the thread could run again. */
static int add_part(void *ctx, const struct wall_thread *t, const struct wall_part *p)
{
	const struct filling *f = ctx;
	struct wall_count *of = &(t->vthread ? f->v->of_virtual : f->v->of)[p->state];
	uint64_t max_ns;

	if (!p->row || (p->state == WALL_IDLE && !f->idle))
		return 0;
	max_ns = p->row->duration_ns;
	of->count = add_saturating(of->count, p->row->value);
	if (max_ns > of->max_ns)
		of->max_ns = max_ns;
	if (!wall_is_blocked(p->state))
		return 0;
	return add_wait(f->v, &(struct wall_segment){.state = p->state, .stack = p->stack}, p->row->value, p->ns,
			max_ns);
}

static int add_life(void *ctx, const struct wall_thread *t)
{
	struct filling *f = ctx;
	struct wall_sums sums = sums_of(t, f->idle);

	if (!sums.life_ns)
		return 0;
	add_sums(t->vthread ? &f->v->virtual : &f->v->all, &sums);
	return add_group(f->v, t, &sums) ?: wall_each(f->v->wall, t, add_segment, f)
			?: wall_each_part(f->v->wall, t, add_part, f);
}

static int fill(struct wall_view *v, bool idle)
{
	const struct wall *w = v->wall;
	struct filling f = {v, idle};
	int err = 0;

	for (size_t i = 0; i < w->threads.count && !err; i++)
		err = add_life(&f, &w->threads.at[i]);
	err = err ?: wall_each_vthread(w, add_life, &f);
	return err ?: view_processes(v);
}

int wall_view_new(struct wall_view **out, const struct wall *wall, bool idle)
{
	struct wall_view *v = calloc(1, sizeof(*v));
	int err = v ? 0 : -ENOMEM;

	*out = v;
	if (err)
		return err;
	v->wall = wall;
	err = fill(v, idle);
	if (v->waits.count)
		qsort_r(v->waits.at, v->waits.count, sizeof(*v->waits.at), compare_waits, (void *)wall->an);
	wall_chains_sort(v);
	if (err) {
		wall_view_free(v);
		*out = NULL;
	}
	return err;
}

void wall_view_free(struct wall_view *v)
{
	if (!v)
		return;
	free(v->processes.at);
	free(v->groups.at);
	free(v->waits.at);
	free(v->wakes.at);
	free(v->chains.at);
	strpool_free(&v->texts);
	u64map_free(&v->group_of);
	u64map_free(&v->wait_of);
	u64map_free(&v->key_of);
	u64map_free(&v->wake_of);
	u64map_free(&v->chain_of);
	u64map_free(&v->sequences);
	u64map_free(&v->line_of);
	free(v);
}
