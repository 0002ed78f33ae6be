// SPDX-License-Identifier: Apache-2.0
/* One moment of a recording as JSON: `braid at --json`. */

#include <analyze/spans.h>
#include <util/json.h>

#include "at.h"
#include "info.h"

static void json_thread(struct json *j, const char *key, const struct at_view *v, uint32_t thread)
{
	const struct thread_row *t = thread == ROW_NONE ? NULL : table_row(&v->an->a->threads, thread);

	if (!t) {
		json_null(j, key);
		return;
	}
	json_open(j, key, '{');
	json_number(j, "pid", analysis_process(v->an, t->process)->pid);
	json_container(j, v->an, t->process);
	json_number_if(j, t->tid, "tid", t->tid);
	json_string(j, "name", analysis_thread_name(v->an, thread));
	json_close(j, '}');
}

static void json_frame(void *ctx, const struct analysis *an, const struct xframe *x)
{
	json_string(ctx, NULL, analysis_sym_name(an, x->sym));
}

static void json_frames(struct json *j, const char *key, const struct at_view *v, uint32_t stack)
{
	if (stack == ROW_NONE) {
		json_null(j, key);
		return;
	}
	json_open(j, key, '[');
	analysis_each_frame(v->an, stack, json_frame, j);
	json_close(j, ']');
}

static void json_sample(struct json *j, const struct at_view *v, const struct sample *s)
{
	json_seconds_if(j, s, "sampled_s", s ? analysis_since(v->an, s->time_ns) : 0);
	json_frames(j, "sampled_stack", v, table_row_of(&v->an->a->nodes, s ? s->node : 0));
}

static void json_interval(struct json *j, const struct at_view *v, uint64_t start_ns, uint64_t end_ns, bool ended)
{
	json_seconds(j, "start_s", analysis_since(v->an, start_ns));
	json_seconds_if(j, ended, "end_s", analysis_since(v->an, end_ns));
}

static void json_cpus(struct json *j, const struct at_view *v)
{
	json_open(j, "cpus", '[');
	for (size_t i = 0; i < v->cpus.count; i++) {
		const struct at_cpu *c = &v->cpus.at[i];

		json_open(j, NULL, '{');
		json_number(j, "cpu", c->cpu);
		json_thread(j, "thread", v, c->thread);
		if (c->end_ns)
			json_interval(j, v, c->start_ns, c->end_ns, true);
		json_sample(j, v, c->sample);
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* The lock or the monitor, and who had it or notified. */
static void json_waited(struct json *j, const struct at_view *v, const struct jvm_event_row *r)
{
	if (!r)
		return;
	json_open(j, r->kind == BRAID_JVM_LOCK ? "lock" : "wait", '{');
	json_string(j, "class", strpool_get(&v->an->a->strings, r->name));
	json_thread(j, r->kind == BRAID_JVM_LOCK ? "owner" : "waker", v, table_row_of(&v->an->a->threads, r->other));
	json_frames(j, "stack", v, table_row_of(&v->an->a->nodes, r->other_node));
	json_close(j, '}');
}

static void json_one(struct json *j, const struct at_view *v, const struct at_thread *t)
{
	const struct thread_row *row = table_row(&v->an->a->threads, t->thread);
	const char *object = strpool_get(&v->an->a->strings, t->segment.object);

	json_open(j, NULL, '{');
	json_number(j, "pid", analysis_process(v->an, row->process)->pid);
	json_container(j, v->an, row->process);
	json_number(j, t->vthread ? "virtual" : "tid", at_thread_number(v, t));
	json_string(j, "name", at_thread_name(v, t));
	json_string(j, "state", wall_key(t->segment.state));
	json_bool(j, "idle", t->segment.idle);
	json_interval(j, v, t->segment.start_ns, t->segment.end_ns, true);
	if (t->segment.state == WALL_RUNNING) {
		json_number_if(j, t->cpu != UINT32_MAX, "cpu", t->cpu);
		json_sample(j, v, t->sample);
	} else {
		if (*object)
			json_string(j, "object", object);
		json_waited(j, v, t->waited);
		if (*t->parked_owner)
			json_string(j, "owner_when_parked", t->parked_owner);
		json_thread(j, t->segment.row && event_is_open(t->segment.row) ? "owner" : "woken_by", v, t->waker);
		json_frames(j, "stack", v, t->segment.stack);
	}
	json_close(j, '}');
}

static void json_event(struct json *j, const struct at_view *v, const struct event *e)
{
	const char *detail = strpool_get(&v->an->a->strings, e->row->detail);

	json_open(j, NULL, '{');
	json_string(j, "kind", jvm_event_name(e->kind));
	json_string(j, "name", e->name);
	if (*detail)
		json_string(j, "detail", detail);
	json_number(j, "pid", analysis_process(v->an, e->row->process)->pid);
	json_thread(j, "thread", v, e->thread);
	json_interval(j, v, e->start_ns, event_end_ns(e->row), event_end_ns(e->row) > v->at_ns);
	json_close(j, '}');
}

static void json_spans(struct json *j, const struct at_view *v)
{
	char text[SPANS_ID_TEXT];

	json_open(j, "spans", '[');
	for (size_t i = 0; i < v->spans.count; i++) {
		const struct span_sum *s = &v->spans.at[i];

		json_open(j, NULL, '{');
		json_string(j, "span", spans_id_text(text, s->row->span_id));
		json_interval(j, v, s->first_ns, s->last_ns, true);
		json_thread(j, "thread", v, s->thread);
		json_attributes(j, v->an->a, s->row->attributes);
		json_close(j, '}');
	}
	json_close(j, ']');
}

void at_json(FILE *out, const struct at_view *v)
{
	struct json j = {.out = out};

	json_open(&j, NULL, '{');
	json_seconds(&j, "at_s", analysis_since(v->an, v->at_ns));
	json_cpus(&j, v);
	json_bool(&j, "threads_recorded", v->lives);
	json_open(&j, "threads", '[');
	for (size_t i = 0; i < v->threads.count; i++)
		json_one(&j, v, &v->threads.at[i]);
	json_close(&j, ']');
	json_open(&j, "events", '[');
	for (size_t i = 0; i < v->events.count; i++)
		json_event(&j, v, &v->events.at[i]);
	json_close(&j, ']');
	json_spans(&j, v);
	json_close(&j, '}');
	putc('\n', out);
}
