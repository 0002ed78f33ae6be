// SPDX-License-Identifier: Apache-2.0
#include "spans.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <analyze/spans.h>
#include <analyze/vthreads.h>

#include "info.h"

/* A virtual thread without a name has that of its group. */
static const char *thread_of(const struct span_view *v, const struct span_sum *s)
{
	const struct vthread_row *t = vthreads_get(v->an->a, s->vthread);
	const char *name = t ? strpool_get(&v->an->a->strings, t->name) : "";

	return *name ? name : analysis_thread_name(v->an, s->thread);
}

static void text_span(FILE *out, const struct span_view *v, const struct span_sum *s)
{
	char off[QUANTITY_TEXT], lasted[QUANTITY_TEXT], began[QUANTITY_TEXT];

	fprintf(out, "    %7" PRIu64 "  %10s  %10s  %10s  %016" PRIx64 "%016" PRIx64 "  %016" PRIx64 "  %7u  %s",
		s->samples, duration_cell(off, 10, s->offcpu_ns), duration_cell(lasted, 10, s->last_ns - s->first_ns),
		duration_cell(began, 10, analysis_since(v->an, s->first_ns)), s->row->trace_hi, s->row->trace_lo,
		s->row->span_id, s->pid, thread_of(v, s));
	text_container(out, v->an, s->row->process);
	if (s->others)
		fputs(" and others", out);
	text_attributes(out, v->an->a, s->row->attributes);
	putc('\n', out);
}

static void text_table(FILE *out, const struct span_view *v, unsigned top)
{
	fprintf(out, "    %7s  %10s  %10s  %10s  %-32s  %-16s  %7s  %s\n", "samples", "off CPU", "lasted", "began",
		"trace", "span", "pid", "thread");
	for (size_t i = 0; i < v->sums.count && i < top; i++)
		text_span(out, v, &v->sums.at[i]);
}

void spans_text(FILE *out, struct span_view *v, const enum span_order *order, unsigned top)
{
	char time[QUANTITY_TEXT];

	if (filter_is_set(v->an->filter)) {
		fputs("filter: ", out);
		filter_text(out, v->an);
		putc('\n', out);
	}
	fprintf(out, "Spans (%zu with samples or events; %" PRIu64 " of %" PRIu64 " samples are in spans)\n",
		v->sums.count, v->samples, v->an->samples.quality.total);
	if (order)
		span_view_sort(v, *order);
	text_table(out, v, top);
	if (!order && v->offcpu_ns) {
		span_view_sort(v, SPANS_BY_OFFCPU);
		fputs("\nSpans by time off the CPU\n", out);
		text_table(out, v, top);
	}
	if (v->counted_ns)
		fprintf(out, "    off CPU lacks %s in times that were only counted, in spans and outside\n",
			duration_text(time, v->counted_ns));
	if (v->lost)
		fprintf(out, "    lost: the spans of %" PRIu64 " samples and times off the CPU\n", v->lost);
	fputs("    lasted: from the first to the last time that something was seen of it\n", out);
}

static void json_span(struct json *j, const struct span_view *v, const struct span_sum *s)
{
	char id[SPANS_ID_TEXT];

	json_open(j, NULL, '{');
	json_string(j, "trace", spans_trace_text(id, s->row->trace_hi, s->row->trace_lo));
	json_string(j, "span", spans_id_text(id, s->row->span_id));
	json_number(j, "pid", s->pid);
	json_container(j, v->an, s->row->process);
	json_string(j, "thread", thread_of(v, s));
	json_bool(j, "other_threads", s->others);
	json_attributes(j, v->an->a, s->row->attributes);
	json_number(j, "samples", s->samples);
	json_number(j, "events", s->events);
	json_seconds(j, "offcpu_s", s->offcpu_ns);
	json_seconds(j, "first_s", analysis_since(v->an, s->first_ns));
	json_seconds(j, "last_s", analysis_since(v->an, s->last_ns));
	json_seconds(j, "lasted_s", s->last_ns - s->first_ns);
	json_close(j, '}');
}

void spans_json(FILE *out, struct span_view *v, const enum span_order *order, unsigned top)
{
	static const char *const keys[] = {[SPANS_BY_SAMPLES] = "by_samples",
					   [SPANS_BY_OFFCPU] = "by_offcpu",
					   [SPANS_BY_DURATION] = "by_duration"};
	struct json j = {.out = out};

	json_open(&j, NULL, '{');
	filter_json(&j, "filter", v->an);
	json_number(&j, "samples", v->an->samples.quality.total);
	json_number(&j, "samples_in_spans", v->samples);
	json_number(&j, "spans", v->sums.count);
	json_number(&j, "spans_lost", v->lost);
	json_seconds(&j, "offcpu_counted_s", v->counted_ns);
	if (order)
		span_view_sort(v, *order);
	json_open(&j, keys[order ? *order : SPANS_BY_SAMPLES], '[');
	for (size_t i = 0; i < v->sums.count && i < top; i++)
		json_span(&j, v, &v->sums.at[i]);
	json_close(&j, ']');
	json_close(&j, '}');
	putc('\n', out);
}
