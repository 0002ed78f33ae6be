// SPDX-License-Identifier: Apache-2.0
/* JVM events in the JSON report. report.c calls it. */
#include "events.h"

static void json_unit(struct json *j, const char *key, enum kind_unit unit, uint64_t value)
{
	char name[48];

	snprintf(name, sizeof(name), "%s%s", key, unit == UNIT_NS ? "_s" : unit == UNIT_BYTES ? "_bytes" : "");
	if (unit == UNIT_NS)
		json_seconds(j, name, value);
	else
		json_number(j, name, value);
}

static void json_error(struct json *j, double variance, uint64_t weight)
{
	json_decimal(j, "error", event_error(variance, weight));
}

static bool of(const struct views *v, uint32_t process, enum braid_event_type type)
{
	return events_recorded_of(v->an, process, type);
}

static void json_thread(struct json *j, const struct views *v, const char *key, uint32_t row)
{
	const struct thread_row *t = row == ROW_NONE ? NULL : table_row(&v->an->a->threads, row);

	json_open(j, key, '{');
	json_number(j, "pid", t ? analysis_process(v->an, t->process)->pid : 0);
	json_number(j, "tid", t ? t->tid : 0);
	json_string(j, "name", analysis_thread_name(v->an, row));
	json_close(j, '}');
}

static void json_sum(struct json *j, const struct views *v, const struct kind_view *k, const struct event_sum *s,
		     enum event_by by)
{
	json_open(j, NULL, '{');
	json_string(j, "name", s->name);
	if (by == BY_SITE || by == BY_CALLER)
		json_number(j, "line", s->line);
	if (by == BY_THREAD)
		json_thread(j, v, "thread", s->thread);
	json_number(j, "count", s->count);
	json_unit(j, "weight", k->k->unit, s->weight);
	json_unit(j, "max", k->k->unit, s->max);
	if (k->k->weight == WEIGHT_ESTIMATE)
		json_error(j, s->variance, s->weight);
	if (by == BY_STACK)
		json_stack(j, v, s->stack);
	if (k->k->lasting)
		json_seconds(j, "age_s", s->duration_ns / s->count);
	if (k->k->ages)
		json_decimal(j, "collections", (double)s->survived / (double)s->count);
	if (k->k->thrown && s->caught)
		json_decimal(j, "frames_left", (double)s->left / (double)s->caught);
	if (k->k->tables && k->k->value_is.title && k->k->value_is.unit != UNIT_COUNT) {
		json_unit(j, k->k->value_is.title, k->k->value_is.unit, s->value);
		json_unit(j, "most", k->k->value_is.unit, s->value_max);
	}
	json_close(j, '}');
}

static void json_kind(struct json *j, const struct views *v, const struct kind_view *k, unsigned top)
{
	json_open(j, jvm_event_name(k->kind), '{');
	json_number(j, "count", k->count);
	json_unit(j, "weight", k->k->unit, k->weight);
	json_unit(j, "max", k->k->unit, k->max);
	if (k->k->unit == UNIT_NS) {
		json_seconds(j, "mean_s", k->count ? k->weight / k->count : 0);
		json_seconds_if(j, k->p99 || !k->summed, "p99_s", k->p99);
	}
	if (k->k->weight == WEIGHT_ESTIMATE)
		json_error(j, k->variance, k->weight);
	if (k->kind == BRAID_JVM_OFFCPU) {
		json_number(j, "idle", k->idle);
		json_seconds(j, "idle_s", k->idle_ns);
		json_number(j, "blocker_not_read", k->unread);
		json_seconds(j, "blocker_not_read_s", k->unread_ns);
	}
	if (k->summed) {
		json_number(j, "added_up", k->summed);
		json_seconds(j, "added_up_s", k->summed_ns);
	}
	json_number(j, "counted", k->counted);
	if (k->k->unit == UNIT_NS)
		json_seconds(j, "counted_s", k->counted_ns);
	for (enum event_by by = 0; by < BYS; by++) {
		char key[16];

		if (!k->by[by].sums.count)
			continue;
		snprintf(key, sizeof(key), "by_%s", event_by_names[by]);
		json_open(j, key, '[');
		for (size_t i = 0; i < k->by[by].sums.count && i < top; i++)
			json_sum(j, v, k, &k->by[by].sums.at[i], by);
		json_close(j, ']');
	}
	json_close(j, '}');
}

static void json_blockers(struct json *j, const struct views *v, unsigned top)
{
	const struct event_views *e = v->events;

	json_open(j, "blockers", '[');
	for (size_t i = 0; i < e->blockers.count && i < top; i++) {
		const struct blocker_view *b = &e->blockers.at[i];

		json_open(j, NULL, '{');
		json_thread(j, v, "blocked", b->blocked);
		json_string(j, "class", b->monitor);
		if (b->owner == ROW_NONE)
			json_null(j, "owner");
		else
			json_thread(j, v, "owner", b->owner);
		if (b->site == ROW_NONE)
			json_null(j, "site");
		else
			json_string(j, "site", events_site_name(v->an, b->site));
		json_number(j, "count", b->count);
		json_seconds(j, "time_s", b->ns);
		json_seconds(j, "max_s", b->max_ns);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_lives(struct json *j, const struct views *v, unsigned top)
{
	const struct event_views *e = v->events;

	json_open(j, "lives", '[');
	for (size_t i = 0; i < e->lives.count && i < top; i++) {
		const struct life_view *l = &e->lives.at[i];
		const struct thread_row *t = table_row(&v->an->a->threads, l->thread);
		bool waits = events_blocked_recorded(v->an);

		json_open(j, NULL, '{');
		json_thread(j, v, "thread", l->thread);
		json_seconds_if(j, l->started_ns, "start_s", analysis_since(v->an, l->started_ns));
		json_seconds_if(j, l->ended_ns, "end_s", analysis_since(v->an, l->ended_ns));
		json_seconds_if(j, l->ended_ns, "cpu_s", l->cpu_ns);
		json_number_if(j, l->samples || events_recorded(v->an, BRAID_EVENT_TYPE_CPU), "samples", l->samples);
		json_seconds_if(j, of(v, t->process, BRAID_EVENT_TYPE_LOCK), "lock_s", l->lock_ns);
		json_seconds_if(j, of(v, t->process, BRAID_EVENT_TYPE_WAIT), "wait_s", l->waited_ns);
		json_seconds_if(j, waits, "blocked_s", l->blocked_ns);
		json_number_if(j, of(v, t->process, BRAID_EVENT_TYPE_ALLOC), "allocated_bytes", l->allocated);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_compiles(struct json *j, const struct views *v, unsigned top)
{
	const struct event_views *e = v->events;

	json_open(j, "levels", '[');
	for (unsigned l = 0; l < COMPILE_LEVELS; l++) {
		if (!e->levels[l].count)
			continue;
		json_open(j, NULL, '{');
		json_number(j, "level", l);
		json_number(j, "count", e->levels[l].count);
		json_number_if(j, e->levels[l].timed, "failed", e->levels[l].failed);
		json_seconds_if(j, e->levels[l].timed, "time_s", e->levels[l].ns);
		json_number(j, "bytes", e->levels[l].bytes);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_open(j, "longest_compiles", '[');
	for (size_t i = 0; i < e->compiles.count && i < top; i++) {
		const struct compile_view *c = &e->compiles.at[i];

		json_open(j, NULL, '{');
		json_number(j, "pid", c->pid);
		json_string(j, "method", c->method);
		json_number(j, "level", c->flags & BRAID_COMPILE_LEVEL);
		json_bool(j, "osr", c->flags & BRAID_COMPILE_OSR);
		json_bool(j, "failed", c->flags & BRAID_COMPILE_FAILED);
		json_seconds(j, "at_s", analysis_since(v->an, c->at_ns));
		json_seconds_if(j, c->duration_ns, "time_s", c->duration_ns);
		json_number(j, "bytes", c->bytes);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_open(j, "recompiled", '[');
	for (size_t i = 0; i < e->storms.count && i < top; i++) {
		json_open(j, NULL, '{');
		json_number(j, "pid", analysis_process(v->an, e->storms.at[i].process)->pid);
		json_string(j, "method", e->storms.at[i].method);
		json_number(j, "count", e->storms.at[i].count);
		json_number(j, "deopts", e->storms.at[i].deopts);
		json_seconds_if(j, e->storms.at[i].ns, "time_s", e->storms.at[i].ns);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_heaps(struct json *j, const struct event_views *e)
{
	json_open(j, "code_cache", '[');
	for (size_t i = 0; i < e->heaps.count; i++) {
		const struct code_heap_view *h = &e->heaps.at[i];

		json_open(j, NULL, '{');
		json_number(j, "pid", h->pid);
		json_string(j, "heap", h->heap);
		json_number(j, "first_bytes", h->first);
		json_number(j, "last_bytes", h->last);
		json_number(j, "max_bytes", h->max);
		json_number(j, "reserved_bytes", h->reserved);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_binds(struct json *j, const struct event_views *e, unsigned top)
{
	json_open(j, "native_binds", '[');
	for (size_t i = 0; i < e->binds.count && i < top; i++) {
		json_open(j, NULL, '{');
		json_number(j, "pid", e->binds.at[i].pid);
		json_string(j, "method", e->binds.at[i].method);
		json_string(j, "symbol", e->binds.at[i].symbol);
		json_number(j, "address", e->binds.at[i].address);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_starts(struct json *j, const struct views *v)
{
	const struct event_views *e = v->events;

	json_open(j, "starts", '[');
	for (size_t i = 0; i < e->starts.count; i++) {
		const struct start_view *s = &e->starts.at[i];

		json_open(j, NULL, '{');
		json_number(j, "pid", s->pid);
		json_string(j, "phase", s->phase);
		json_seconds(j, "at_s", s->at_ns);
		json_number_if(j, of(v, s->process, BRAID_EVENT_TYPE_CLASS), "classes", s->loaded);
		json_number_if(j, of(v, s->process, BRAID_EVENT_TYPE_JIT), "compiled", s->compiled);
		json_number_if(j, of(v, s->process, BRAID_EVENT_TYPE_THREAD), "threads", s->threads);
		json_number_if(j, of(v, s->process, BRAID_EVENT_TYPE_EXCEPTION), "exceptions", s->exceptions);
		json_seconds_if(j, of(v, s->process, BRAID_EVENT_TYPE_GC), "gc_s", s->paused_ns);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_open(j, "class_seconds", '[');
	for (size_t i = 0; i < e->classes.count; i++) {
		json_open(j, NULL, '{');
		json_number(j, "second", e->classes.at[i].second);
		json_number(j, "loaded", e->classes.at[i].loaded);
		json_number(j, "unloaded", e->classes.at[i].unloaded);
		json_close(j, '}');
	}
	json_close(j, ']');
}

void json_events(struct json *j, const struct views *v, unsigned top)
{
	const struct event_views *e = v->events;

	json_open(j, "events", '{');
	for (int kind = 0; kind < BRAID_JVM_EVENTS; kind++)
		if (e->kinds[kind].k && (e->kinds[kind].count || e->kinds[kind].idle || e->kinds[kind].counted))
			json_kind(j, v, &e->kinds[kind], top);
	json_close(j, '}');
	json_blockers(j, v, top);
	json_timed(j, v, top);
	json_writes(j, v, top);
	json_sites(j, v, top);
	json_leaks(j, v, top);
	json_jni(j, v, top);
	json_histograms(j, v, top);
	json_lives(j, v, top);
	json_compiles(j, v, top);
	json_heaps(j, e);
	json_binds(j, e, top);
	json_starts(j, v);
}
