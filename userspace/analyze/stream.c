// SPDX-License-Identifier: Apache-2.0
#include "stream.h"

#include "spans.h"
#include "vthreads.h"

void stream_begin(struct stream *s, struct trace_reader *reader, const struct analysis *an)
{
	*s = (struct stream){.reader = reader, .an = an};
	trace_reader_rewind(reader);
	trace_reader_samples_between(reader, an->from_ns, an->to_ns);
}

/* The file may have grown since the analysis, which knows nothing of the events behind its last one. */
int stream_record(struct stream *s, struct trace_rec *rec, const struct jvm_event_row **row)
{
	int err = trace_reader_next(s->reader, rec);

	*row = NULL;
	if (err == 1 && rec->kind == TRACE_JVM_EVENT && analyzer_keeps(&rec->jvm_event) &&
	    s->row < s->an->a->events.count)
		*row = &s->an->a->events.at[s->row++];
	return err;
}

bool stream_sample(const struct analysis *an, const struct trace_sample *r, struct timed *t)
{
	const struct analyzer *a = an->a;
	const uint32_t *named = r->event ? table_get(&a->names, r->event) : NULL;

	*t = (struct timed){.time_ns = r->time_ns,
			    .thread = table_row_of(&a->threads, vthreads_thread(a, r)),
			    .carrier = table_row_of(&a->threads, r->thread),
			    .vthread = vthreads_get(a, r->vthread) ? r->vthread : 0,
			    .stack = table_row_of(&a->nodes, r->node),
			    .xframe = r->node ? XFRAME_DAMAGED : XFRAME_NO_STACK,
			    .span = spans_of_sample(a, r),
			    .cpu = r->cpu,
			    .count = r->weight,
			    .weight = r->weight,
			    .hit = r->event != 0,
			    .name = named ? strpool_get(&a->strings, *named) : analyzer_info(a, "record.event"),
			    .text = r->text};
	if (t->thread != ROW_NONE)
		t->process = ((const struct thread_row *)table_row(&a->threads, t->thread))->process;
	return t->weight && analysis_selects_thread(an, t->thread) && analysis_selects_time(an, t->time_ns) &&
	       analysis_selects_span(an, t->span) && analysis_selects_stack(an, t->stack);
}

static void take_event(const struct stream *s, struct timed *t)
{
	const struct event *e = &s->event;

	*t = (struct timed){.event = e,
			    .time_ns = e->start_ns,
			    .duration_ns = e->duration_ns,
			    .process = e->row->process,
			    .thread = e->thread,
			    .carrier = table_row_of(&s->an->a->threads, e->row->thread),
			    .vthread = vthreads_get(s->an->a, e->row->vthread) ? e->row->vthread : 0,
			    .stack = e->stack,
			    .xframe = e->xframe,
			    .span = e->row->span,
			    .cpu = TRACE_NO_CPU,
			    .count = e->count,
			    .weight = e->weight,
			    .name = e->name};
}

static int next_derived(struct stream *s, struct timed *t)
{
	for (; s->row < events_count(s->an); s->row++)
		if (events_get(s->an, s->row, &s->event)) {
			take_event(s, t);
			s->row++;
			return 1;
		}
	return 0;
}

int stream_next(struct stream *s, struct timed *t)
{
	const struct jvm_event_row *row;
	struct trace_rec rec;
	int err;

	while (!s->ended && (err = stream_record(s, &rec, &row)) != 0) {
		if (err < 0)
			return err;
		if (rec.kind == TRACE_SAMPLE && stream_sample(s->an, &rec.sample, t))
			return 1;
		if (row && events_get_summed(s->an, s->row - 1, &s->event)) {
			take_event(s, t);
			return 1;
		}
	}
	if (!s->ended)
		s->row = s->an->a->events.count;
	s->ended = true;
	return next_derived(s, t);
}
