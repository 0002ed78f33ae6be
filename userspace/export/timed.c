// SPDX-License-Identifier: Apache-2.0
#include "timed.h"

#include <analyze/hits.h>
#include <analyze/vthreads.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <util/utf8.h>

/* ---- stacks ---- */

static int add_stack(struct profile *p, bool *has, uint32_t stack, uint32_t xframe)
{
	const struct stack_sum sum = {.thread = ROW_NONE, .stack = stack, .xframe = xframe, .weight = 1};

	if (stack != ROW_NONE) {
		if (has[stack])
			return 0;
		has[stack] = true;
	}
	return profile_add(p, &sum);
}

static int add_profile(struct profile *p, bool *has, const struct profile *of)
{
	const struct stack_sum *s;
	struct stack_sums_cursor c;
	int err = 0;

	for (stack_sums_begin(&c, &of->sums); !err && (s = stack_sums_next(&c));)
		err = add_stack(p, has, s->stack, s->xframe);
	return err;
}

/* Each stack once, as a profile. */
static int all_stacks(const struct analysis *an, struct profile *p)
{
	bool *has = calloc(an->a->nodes.count + 1, sizeof(*has));
	int err = has ? add_profile(p, has, &an->samples) : -ENOMEM;

	for (size_t i = 0; i < an->a->hits.count && !err; i++)
		err = add_profile(p, has, &an->hits[i]);
	for (size_t i = 0; i < events_count(an) && !err; i++) {
		struct event e;

		if (events_get_summed(an, i, &e) && (e.stack != ROW_NONE || e.xframe == XFRAME_DAMAGED))
			err = add_stack(p, has, e.stack, e.xframe);
	}
	free(has);
	return err ?: profile_finish(p, an);
}

int timed_open(struct timed_source *s, struct trace_reader *reader, const struct analysis *an,
	       const struct timed_options *options)
{
	static const struct tree_options frames = {.labels = TREE_FRAMES};
	struct profile p = {0};
	int err = 0;

	*s = (struct timed_source){.reader = reader, .an = an, .options = options};
	if (!options->own_stacks)
		err = all_stacks(an, &p) ?: tree_new(&s->tree, an, &p, &frames);
	profile_free(&p);
	stream_begin(&s->stream, reader, an);
	return err;
}

void timed_close(struct timed_source *s)
{
	tree_free(s->tree);
	*s = (struct timed_source){0};
}

uint32_t timed_node(const struct timed_source *s, const struct timed *t)
{
	const struct stack_sum sum = {.stack = t->stack, .xframe = t->xframe};

	return tree_node_of(s->tree, &sum);
}

/* ---- which of them ---- */

static bool selected(const struct timed_options *o, const struct timed *t)
{
	if (o->samples)
		return !t->event && !t->hit;
	if (o->kind)
		return t->event && t->event->kind == o->kind;
	return !o->hit || (!t->event && hits_named(t->name, o->hit));
}

int timed_next(struct timed_source *s, struct timed *t)
{
	int more;

	while ((more = stream_next(&s->stream, t)) == 1)
		if (selected(s->options, t)) {
			s->count++;
			return 1;
		}
	return more;
}

/* ---- what they are ---- */

bool timed_is_interval(const struct timed *t)
{
	return t->event && !t->event->summed && t->event->k->weight == WEIGHT_DURATION && t->duration_ns;
}

const char *timed_category(const struct timed *t)
{
	return t->event ? jvm_event_name(t->event->kind) : t->name;
}

/* Above all thread ids of Linux, which end at 2^22. */
#define KIND_TID 0x10000000U
#define GROUP_TID 0x20000000U

struct timed_track timed_track(const struct analysis *an, const struct timed *t)
{
	const struct thread_row *row = t->thread == ROW_NONE ? NULL : table_row(&an->a->threads, t->thread);
	struct timed_track track = {.process = row ? row->process : t->process};

	track.pid = analysis_process(an, track.process)->pid;
	track.name = analysis_thread_name(an, t->thread);
	if (row) {
		track.real = !row->virtual;
		track.tid = row->virtual ? GROUP_TID + t->thread : row->tid;
		track.id = t->thread;
	} else {
		track.tid = KIND_TID + (t->event ? t->event->kind : 0);
		track.name = t->event ? t->event->k->title : track.name;
		track.id = 1ULL << 63 | (uint64_t)track.process << 16 | (track.tid - KIND_TID);
	}
	return track;
}

const char *timed_process_name(const struct analysis *an, const struct timed_track *track, char to[PROCESS_LABEL_MAX])
{
	return track->process ? analysis_label(an, track->process, to) : "machine";
}

/* ---- what is known of them ---- */

#define VALUES_MAX 8192 /* longer than what a recorder stores */

static void virtual_fields(const struct analyzer *a, uint32_t id, const struct field_sink *sink, void *ctx)
{
	const struct vthread_row *v = vthreads_get(a, id);

	if (!v)
		return;
	sink->number(ctx, "virtual_thread", v->number, FIELD_NUMBER);
	if (v->name)
		sink->text(ctx, "virtual_thread_name", strpool_get(&a->strings, v->name));
}

void timed_fields(const struct analysis *an, const struct timed *t, const struct field_sink *sink, void *ctx)
{
	char values[VALUES_MAX];

	sink->number(ctx, "weight", t->weight, t->event ? field_form_of(t->event->k->unit) : FIELD_NUMBER);
	if (t->event && t->event->summed)
		sink->number(ctx, "events", t->count, FIELD_NUMBER);
	if (t->event)
		event_fields(an, t->event, sink, ctx);
	if (t->cpu != TRACE_NO_CPU)
		sink->number(ctx, "cpu", t->cpu, FIELD_NUMBER);
	if (t->text.len && utf8_printable(values, sizeof(values), t->text.str, t->text.len))
		sink->text(ctx, "values", values);
	virtual_fields(an->a, t->vthread, sink, ctx);
}
