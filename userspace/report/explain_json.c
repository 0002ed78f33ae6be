// SPDX-License-Identifier: Apache-2.0
/* The critical path as JSON. `braid explain --json` calls it. */

#include <analyze/events.h>
#include <analyze/spans.h>

#include "explain.h"
#include "info.h"
#include <util/json.h>

static void json_kind(struct json *j, const struct explain *e, const struct explain_node *n)
{
	json_string(j, "who", n->who);
	json_string(j, "state", wall_key(n->state));
	json_string(j, "object", n->object);
	if (n->site == ROW_NONE)
		json_null(j, "site");
	else
		json_string(j, "site", events_site_name(e->wall->an, n->site));
	json_bool(j, "only_counted", n->sum == EXPLAIN_COUNTED);
	json_bool(j, "added_up", n->sum == EXPLAIN_ADDED_UP);
	json_bool(j, "share", n->shared);
}

static void json_longest(struct json *j, const struct explain *e, const struct explain_longest *l)
{
	json_open(j, "longest", '{');
	json_seconds(j, "time_s", l->ns);
	json_seconds(j, "at_s", analysis_since(e->wall->an, l->at_ns));
	json_string(j, "thread", wall_thread_name(e->wall, l->thread));
	json_close(j, '}');
}

/* Of a share of times, neither is known. */
static void json_times(struct json *j, const struct explain *e, const struct explain_node *n, uint64_t count,
		       const struct explain_longest *longest)
{
	bool known = count && !n->shared;

	json_number_if(j, known, "count", count);
	if (known)
		json_longest(j, e, longest);
}

static void json_part(struct json *j, const struct explain *e, const struct explain_part *p)
{
	json_kind(j, e, &e->nodes.at[p->node]);
	json_number(j, "node", p->node);
	if (p->wait != p->node) {
		json_open(j, "for", '{');
		json_kind(j, e, &e->nodes.at[p->wait]);
		json_close(j, '}');
	}
	json_seconds(j, "time_s", p->ns);
	json_times(j, e, &e->nodes.at[p->node], p->count, &p->longest);
}

static void json_node(struct json *j, const struct explain *e, const struct explain_node *n)
{
	json_number(j, "parent", n->parent);
	json_kind(j, e, n);
	json_string(j, "ended_by", n->ended_by);
	json_seconds(j, "self_s", n->self_ns);
	json_seconds(j, "total_s", n->total_ns);
	json_times(j, e, n, n->count, &n->longest);
}

static void json_legs(struct json *j, const char *key, const struct explain *e, const struct span_leg *legs,
		      size_t count)
{
	json_open(j, key, '[');
	for (size_t i = 0; i < count; i++) {
		json_open(j, NULL, '{');
		json_string(j, "thread", wall_thread_name(e->wall, legs[i].thread));
		json_number(j, e->wall->threads.at[legs[i].thread].vthread ? "virtual" : "tid",
			    wall_thread_number(e->wall, legs[i].thread));
		json_seconds(j, "from_s", analysis_since(e->wall->an, legs[i].from_ns));
		json_seconds(j, "to_s", analysis_since(e->wall->an, legs[i].to_ns));
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_path(struct json *j, const struct explain *e)
{
	const struct span_path *p = e->stretch.path;

	if (!p)
		return;
	json_legs(j, "threads", e, p->seen.at, p->seen.count);
	json_legs(j, "path", e, p->legs.at, p->legs.count);
	json_bool(j, "order_known", !p->guesses);
}

static void json_stretch(struct json *j, const struct explain *e)
{
	const struct analysis *an = e->wall->an;
	const struct wall_thread *t = &e->wall->threads.at[e->stretch.thread];
	const struct thread_row *row = table_row(&an->a->threads, t->thread);
	char span[SPANS_ID_TEXT];

	json_number(j, "pid", analysis_process(an, row->process)->pid);
	json_container(j, an, row->process);
	json_number(j, t->vthread ? "virtual" : "tid", wall_thread_number(e->wall, e->stretch.thread));
	json_string(j, "thread", wall_thread_name(e->wall, e->stretch.thread));
	json_seconds(j, "from_s", analysis_since(an, e->stretch.from_ns));
	json_seconds(j, "to_s", analysis_since(an, e->stretch.to_ns));
	json_seconds(j, "time_s", explain_ns(e));
	if (e->left_out_ns)
		json_seconds(j, "idle_left_out_s", e->left_out_ns);
	if (e->stretch.span) {
		json_string(j, "span", spans_id_text(span, e->stretch.span->span_id));
		json_attributes(j, an->a, e->stretch.span->attributes);
		json_path(j, e);
	}
}

void explain_json(FILE *out, const struct explain *e, unsigned top)
{
	struct json j = {.out = out};

	json_open(&j, NULL, '{');
	json_stretch(&j, e);
	json_longest(&j, e, &e->longest);
	json_bool(&j, "cut", e->cut);
	json_open(&j, "parts", '[');
	for (size_t i = 0; i < e->parts.count && i < top; i++) {
		json_open(&j, NULL, '{');
		json_part(&j, e, &e->parts.at[i]);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_open(&j, "nodes", '[');
	for (size_t i = 0; i < e->nodes.count; i++) {
		json_open(&j, NULL, '{');
		json_node(&j, e, &e->nodes.at[i]);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
	putc('\n', out);
}

static void json_change(struct json *j, const struct explain_diff *d, const struct explain_change *c)
{
	const struct explain *e = c->after ? d->after : d->before;
	const struct explain_part *p = c->after ? c->after : c->before;

	json_kind(j, e, &e->nodes.at[p->node]);
	if (p->wait != p->node) {
		json_open(j, "for", '{');
		json_kind(j, e, &e->nodes.at[p->wait]);
		json_close(j, '}');
	}
	json_seconds(j, "against_s", c->before ? c->before->ns : 0);
	json_seconds(j, "time_s", c->after ? c->after->ns : 0);
}

void explain_diff_json(FILE *out, const struct explain_diff *d, unsigned top)
{
	struct json j = {.out = out};

	json_open(&j, NULL, '{');
	json_stretch(&j, d->after);
	json_open(&j, "against", '{');
	json_stretch(&j, d->before);
	json_number_if(&j, d->typical_of, "typical_of", d->typical_of);
	json_close(&j, '}');
	json_open(&j, "changes", '[');
	for (size_t i = 0; i < d->changes.count && i < top; i++) {
		json_open(&j, NULL, '{');
		json_change(&j, d, &d->changes.at[i]);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
	putc('\n', out);
}
