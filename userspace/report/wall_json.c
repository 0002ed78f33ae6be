// SPDX-License-Identifier: Apache-2.0
/* Where the time of threads went, as JSON. `braid report --wall --json` calls it. */
#include <string.h>

#include <analyze/events.h>
#include <analyze/vthreads.h>

#include "info.h"
#include <util/json.h>
#include "wall.h"

static void json_states(struct json *j, const char *key, const uint64_t *ns)
{
	json_open(j, key, '{');
	for (int s = 0; s < WALL_STATES; s++)
		if (ns[s])
			json_seconds(j, wall_key((enum wall_state)s), ns[s]);
	json_close(j, '}');
}

static void json_times(struct json *j, uint64_t life_ns, uint64_t excess_ns, const uint64_t *ns,
		       const uint64_t *summed_ns)
{
	json_seconds(j, "life_s", life_ns);
	json_seconds(j, "excess_s", excess_ns);
	json_states(j, "states_s", ns);
	json_states(j, "only_counted_s", summed_ns);
}

static void json_sums(struct json *j, const struct wall_sums *s)
{
	json_number(j, "threads", s->threads);
	json_number(j, "without_life", s->unknown);
	json_times(j, s->life_ns, s->excess_ns, s->ns, s->summed_ns);
}

static void json_thread(struct json *j, const struct analysis *an, const struct wall_thread *t)
{
	const struct thread_row *row = table_row(&an->a->threads, t->thread);

	json_open(j, NULL, '{');
	json_number(j, "pid", analysis_process(an, row->process)->pid);
	if (t->vthread) {
		const struct vthread_row *vthread = vthreads_get(an->a, t->vthread);

		json_number(j, "virtual", vthread->number);
		json_string(j, "name", strpool_get(&an->a->strings, vthread->name));
		json_string(j, "group", analysis_thread_name(an, t->thread));
	} else {
		json_number(j, "tid", row->tid);
		json_string(j, "name", analysis_thread_name(an, t->thread));
	}
	json_bool(j, "java", t->java);
	json_bool(j, "known", t->known);
	json_seconds(j, "start_s", analysis_since(an, t->start_ns));
	json_seconds(j, "end_s", analysis_since(an, t->end_ns));
	json_times(j, t->life_ns, t->excess_ns, t->ns, t->summed_ns);
	json_close(j, '}');
}

struct lives {
	struct json *j;
	const struct analysis *an;
};

static int json_virtual(void *ctx, const struct wall_thread *t)
{
	const struct lives *l = ctx;

	json_thread(l->j, l->an, t);
	return 0;
}

static void json_processes(struct json *j, const struct wall_view *v)
{
	json_open(j, "processes", '[');
	for (size_t i = 0; i < v->processes.count; i++) {
		const struct wall_process *p = &v->processes.at[i];

		json_open(j, NULL, '{');
		json_number(j, "pid", p->pid);
		json_string(j, "name", p->name);
		json_cgroup(j, v->wall->an, p->id);
		json_sums(j, &p->sums);
		json_open(j, "groups", '[');
		for (size_t g = p->first; g < p->first + p->count; g++) {
			json_open(j, NULL, '{');
			json_string(j, "name", v->groups.at[g].name);
			json_bool(j, "virtual", v->groups.at[g].virtual);
			json_sums(j, &v->groups.at[g].sums);
			json_close(j, '}');
		}
		json_close(j, ']');
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_waits(struct json *j, const struct wall_view *v, unsigned top)
{
	json_open(j, "waits", '[');
	for (size_t i = 0; i < v->waits.count && i < top; i++) {
		const struct wall_wait *w = &v->waits.at[i];

		json_open(j, NULL, '{');
		json_string(j, "state", wall_key(w->state));
		json_string(j, "object", w->object);
		json_string(j, "site", events_site_name(v->wall->an, w->site));
		json_number(j, "count", w->count);
		json_seconds(j, "time_s", w->ns);
		json_seconds(j, "max_s", w->max_ns);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_chains(struct json *j, const char *key, const wall_chain_list *list, unsigned top)
{
	json_open(j, key, '[');
	for (size_t i = 0; i < list->count && i < top; i++) {
		json_open(j, NULL, '{');
		json_string(j, "text", list->at[i].text);
		json_number(j, "count", list->at[i].count);
		json_seconds(j, "time_s", list->at[i].ns);
		json_seconds(j, "max_s", list->at[i].max_ns);
		json_close(j, '}');
	}
	json_close(j, ']');
}

void wall_json(FILE *out, const struct wall_view *v, unsigned top)
{
	struct json j = {.out = out};

	json_open(&j, NULL, '{');
	json_sums(&j, &v->all);
	json_processes(&j, v);
	json_open(&j, "lives", '[');
	for (size_t i = 0; i < v->wall->threads.count; i++)
		if (v->wall->threads.at[i].life_ns)
			json_thread(&j, v->wall->an, &v->wall->threads.at[i]);
	json_close(&j, ']');
	json_open(&j, "virtual", '{');
	json_sums(&j, &v->virtual);
	json_close(&j, '}');
	json_open(&j, "virtual_lives", '[');
	(void)wall_each_vthread(v->wall, json_virtual, &(struct lives){&j, v->wall->an});
	json_close(&j, ']');
	json_waits(&j, v, top);
	json_chains(&j, "wakers", &v->wakes, top);
	json_chains(&j, "chains", &v->chains, top);
	json_close(&j, '}');
	putc('\n', out);
}
